//! `stack ls`: the stacks, with what their store knows of each without reading its state. Only what it does not know is read.

use futures::StreamExt;
use maloko_core::message::Message;
use maloko_core::state::{ListedStack, ORGANIZATION, Snapshot, StackName, Summary, Wanted, has_ended};
use serde_json::json;

use super::super::{pretty, table, text};
use crate::arguments::StackList;
use crate::context::Context;
use crate::failure::Result;
use crate::workplace::Workplace;
use crate::workplace::tags;

/// States that are read at a time.
const AT_ONCE: usize = 16;

/// A stack as it is shown.
struct Row {
    name: StackName,
    shown: std::result::Result<Shown, Message>,
    busy: bool,
}

/// What is shown of a state.
struct Shown {
    /// When it was last written; `None` when nothing was done to the stack yet.
    updated: Option<String>,
    resources: u64,
}

pub(super) async fn run(context: &Context, arguments: &StackList) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let selected = workplace.selected().unwrap_or_default();
    let listed = listed(&workplace, arguments).await?;
    let rows: Vec<Row> =
        futures::stream::iter(listed.into_iter().map(|stack| row(&workplace, stack))).buffered(AT_ONCE).collect().await;
    if arguments.format.json() {
        let entries: Vec<_> = rows.iter().map(|row| as_json(&workplace, row, selected.as_ref())).collect();
        context.console.line(&pretty(&json!(entries)));
        return Ok(());
    }
    let mut table = table(&["NAME", "LAST UPDATE", "RESOURCE COUNT"]);
    for Row { name, shown, busy } in &rows {
        let mark = if selected.as_ref() == Some(name) { "*" } else { "" };
        let when = match shown {
            Err(_) => "cannot be read".to_owned(),
            Ok(_) if *busy => "in progress".to_owned(),
            Ok(Shown { updated: Some(when), .. }) => crate::plain::readable_time(when),
            Ok(_) => "n/a".to_owned(),
        };
        let resources = shown.as_ref().map_or_else(|_| "n/a".to_owned(), |shown| shown.resources.to_string());
        table.add_row([format!("{}{mark}", workplace.shown(name)), when, resources]);
    }
    context.console.print(&text(&table));
    Ok(())
}

/// The stacks that are asked for.
async fn listed(workplace: &Workplace<'_>, arguments: &StackList) -> Result<Vec<ListedStack>> {
    if arguments.organization.as_ref().is_some_and(|name| name != ORGANIZATION) {
        return Ok(Vec::new());
    }
    let project = arguments.project.as_ref().unwrap_or(&workplace.project.name);
    let wanted = Wanted {
        project: (!arguments.all).then(|| project.clone()),
        prefix: arguments.prefix.clone().unwrap_or_default(),
        tags: arguments.tag.is_some(),
    };
    let stacks = workplace.backend.survey(&wanted).await?;
    let Some(tag) = &arguments.tag else { return Ok(stacks) };
    let mut tagged = Vec::new();
    for stack in stacks {
        if tags::has(&tags::decode(workplace, &stack.name, stack.tags.as_deref())?, tag) {
            tagged.push(stack);
        }
    }
    Ok(tagged)
}

async fn row(workplace: &Workplace<'_>, stack: ListedStack) -> Row {
    let ListedStack { name, summary, locked, .. } = stack;
    let shown = match summary.filter(|_| !locked) {
        Some(Summary { resources, updated }) => Ok(Shown { resources, updated: updated.map(|time| time.to_string()) }),
        // One stack that cannot be read must not hide the others.
        None => read(workplace, &name).await.inspect_err(|problem| workplace.context.console.warn(problem)),
    };
    let busy = locked && !workplace.backend.holders(&name).await.unwrap_or_default().iter().all(has_ended);
    Row { name, shown, busy }
}

async fn read(workplace: &Workplace<'_>, stack: &StackName) -> std::result::Result<Shown, Message> {
    let snapshot = workplace.read(stack).await.map_err(|failure| failure.message)?;
    Ok(Shown { updated: last_update(&snapshot), resources: resource_count(&snapshot) })
}

/// When the state was last written.
pub(super) fn last_update(snapshot: &Snapshot) -> Option<String> {
    let time = snapshot.other.get("manifest")?.get("time")?.as_str()?;
    (!time.starts_with("0001-")).then(|| time.to_owned())
}

/// How many resources there are, those that wait for their deletion included.
pub(super) fn resource_count(snapshot: &Snapshot) -> u64 {
    snapshot.resources.len() as u64
}

fn as_json(workplace: &Workplace<'_>, row: &Row, selected: Option<&StackName>) -> serde_json::Value {
    let Row { name, shown, busy } = row;
    let mut entry = json!({
        "name": workplace.shown(name),
        "current": selected == Some(name),
        "updateInProgress": busy,
        "resourceCount": shown.as_ref().ok().map(|shown| shown.resources),
    });
    // A stack to which nothing was done has no such member, as in Pulumi.
    if let Some(time) = shown.as_ref().ok().and_then(|shown| shown.updated.as_ref()) {
        entry["lastUpdate"] = json!(in_json(time));
    }
    if let Err(problem) = shown {
        entry["error"] = json!(problem);
    }
    entry
}

/// A time as JSON for scripts has it, to the millisecond; what is no time is shown as it is.
pub(super) fn in_json(time: &str) -> String {
    match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        Err(_) => time.to_owned(),
    }
}
