//! `stack` without a verb, and `stack output`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use maloko_core::invisible::one_line;
use maloko_core::state::{Snapshot, StackName, has_ended};
use maloko_core::{PropertyMap, ResourceState, Urn};
use serde_json::json;

use super::super::{pretty, table, text};
use super::list::{in_json, last_update, resource_count};
use super::unresolved_creates;
use crate::arguments::{StackOutput, StackShow};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::plain;
use crate::shell::{is_variable, quoted};
use crate::workplace::Workplace;

/// Reads a stack; with `show_secrets` they are decrypted.
async fn read(workplace: &Workplace<'_>, stack: &StackName, show_secrets: bool) -> Result<Snapshot> {
    let mut snapshot = workplace.read(stack).await?;
    if show_secrets && let Some(crypter) = workplace.crypter_of_state(stack, &snapshot)? {
        snapshot.unseal(&crypter)?;
    }
    Ok(snapshot)
}

fn outputs(snapshot: &Snapshot) -> Arc<PropertyMap> {
    snapshot
        .resources
        .iter()
        .find(|resource| resource.urn.is_root_stack())
        .map(|resource| resource.outputs_or_empty())
        .unwrap_or_default()
}

pub(super) async fn stack(context: &Context, arguments: &StackShow) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    if arguments.show_name {
        workplace.require(&stack).await?;
        context.console.line(stack.stack());
        return Ok(());
    }
    let snapshot = read(&workplace, &stack, arguments.show_secrets).await?;
    if arguments.format.json() {
        let (unresolved_creates, interrupted) = unresolved_creates::json(&snapshot, arguments.show_secrets);
        let document = json!({
            "name": workplace.shown(&stack),
            "backend": workplace.backend.url(),
            "lastUpdate": last_update(&snapshot).map(|time| in_json(&time)),
            "resourceCount": resource_count(&snapshot),
            "secretsProvider": shown_key(&snapshot),
            "outputs": plain::object_to_json(&outputs(&snapshot), arguments.show_secrets),
            "suspects": unresolved_creates,
            "interrupted": interrupted,
            "waiting": waiting_json(&snapshot),
        });
        context.console.line(&pretty(&document));
        return Ok(());
    }
    let mut shown = vec![format!("Current stack is {}:", workplace.shown(&stack))];
    shown.push(format!("    State: {} ({})", workplace.backend.url(), workplace.place.origin.name()));
    shown.push(format!("    Secrets provider: {}", shown_key(&snapshot)));
    let holders = workplace.backend.holders(&stack).await?;
    let is_in_use = holders.iter().any(|holder| !has_ended(holder));
    for holder in holders {
        shown.push(match (has_ended(&holder), holder.maloko) {
            (false, _) => format!("    In use by {holder}"),
            (true, true) => format!("    Left locked by {holder}, which has ended; the next run takes the stack over"),
            (true, false) => format!("    Left locked by {holder}, which has ended; `pulumi cancel` removes its lock"),
        });
    }
    match last_update(&snapshot) {
        Some(when) => shown.push(format!("    Last updated: {}", plain::readable_time(&when))),
        None => shown.push("    Not updated yet".to_owned()),
    }
    shown.push(format!("Current stack resources ({}):", resource_count(&snapshot)));
    shown.extend(tree(&snapshot, arguments));
    if snapshot.resources.is_empty() {
        shown.push("    No resources currently in this stack".to_owned());
    }
    let outputs = outputs(&snapshot);
    if !outputs.is_empty() {
        shown.push(format!("\nCurrent stack outputs ({}):", outputs.len()));
        shown.extend(output_table(&outputs, arguments.show_secrets));
    }
    shown.extend(waiting(&snapshot));
    shown.extend(unresolved_creates::lines(&snapshot, arguments.show_secrets, is_in_use));
    context.console.line(&shown.join("\n"));
    Ok(())
}

/// What the secrets of a state are encrypted with. One that names nothing gets a passphrase with its first secret.
fn shown_key(snapshot: &Snapshot) -> String {
    let key = snapshot.shown_key();
    if key.is_empty() { "passphrase".to_owned() } else { key }
}

/// What is special about a resource.
fn marks(resource: &ResourceState) -> [(bool, &'static str); 4] {
    [
        (resource.protect, " [protected]"),
        (resource.taint, " [tainted]"),
        (resource.delete, " [to be deleted]"),
        (resource.waits_for_object(), " [deleted, to be made again]"),
    ]
}

/// What is left of replacements that did not come to their end, in lines.
fn waiting(snapshot: &Snapshot) -> Vec<String> {
    let of = |waits: fn(&ResourceState) -> bool| snapshot.resources.iter().filter(move |resource| waits(resource));
    let old =
        of(ResourceState::waits_for_deletion).map(|it| one_line(&format!("    {} (id '{}')", it.urn.name(), it.id)));
    let missing = of(ResourceState::waits_for_object).map(|it| one_line(&format!("    {}", it.urn.name())));
    let section = |lines: Vec<String>, what: &str, heading: &str| {
        let heading = format!("\n{} {heading}:", plain::count(lines.len(), what));
        (!lines.is_empty()).then_some(heading).into_iter().chain(lines)
    };
    let old = section(old.collect(), "replaced object", "to be deleted by the next `maloko up`");
    let missing = section(missing.collect(), "resource", "without an object, to be made by the next `maloko up`");
    old.chain(missing).collect()
}

/// The same as JSON.
fn waiting_json(snapshot: &Snapshot) -> serde_json::Value {
    let waiting = snapshot.resources.iter().filter_map(|resource| {
        let what = match resource {
            _ if resource.waits_for_deletion() => "deletion",
            _ if resource.waits_for_object() => "object",
            _ => return None,
        };
        Some(json!({ "urn": resource.urn.as_str(), "id": resource.id, "waitsFor": what }))
    });
    waiting.collect()
}

/// The resources, each indented below its parent.
fn tree(snapshot: &Snapshot, arguments: &StackShow) -> Vec<String> {
    let known: BTreeSet<&Urn> = snapshot.resources.iter().map(|resource| &resource.urn).collect();
    let mut children: BTreeMap<Option<&Urn>, Vec<&ResourceState>> = BTreeMap::new();
    for resource in &snapshot.resources {
        let parent = resource.parent.as_ref().filter(|parent| known.contains(parent) && **parent != resource.urn);
        children.entry(parent).or_default().push(resource);
    }
    let mut shown = Vec::new();
    let mut open: Vec<(&ResourceState, usize)> =
        children.remove(&None).into_iter().flatten().rev().map(|resource| (resource, 1)).collect();
    while let Some((resource, depth)) = open.pop() {
        let marks: String = marks(resource).into_iter().filter_map(|(set, mark)| set.then_some(mark)).collect();
        let title = one_line(&format!("{} {}", resource.kind, resource.urn.name()));
        shown.push(format!("{:indent$}{title}{marks}", "", indent = depth * 4));
        let mut detail = |what: &str, text: &str| {
            shown.push(format!("{:indent$}{what}: {}", "", one_line(text), indent = depth * 4 + 4));
        };
        if arguments.show_urns {
            detail("URN", resource.urn.as_str());
        }
        if arguments.show_ids && !resource.id.is_empty() {
            detail("ID", &resource.id);
        }
        let below = children.remove(&Some(&resource.urn)).unwrap_or_default();
        open.extend(below.into_iter().rev().map(|resource| (resource, depth + 1)));
    }
    shown
}

fn output_table(outputs: &PropertyMap, show_secrets: bool) -> Vec<String> {
    let mut table = table(&["OUTPUT", "VALUE"]);
    for (name, value) in outputs {
        table.add_row([one_line(name), plain::to_text(value, show_secrets)]);
    }
    text(&table).lines().map(|line| format!("    {line}")).collect()
}

pub(super) async fn output(context: &Context, arguments: &StackOutput) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    let snapshot = read(&workplace, &stack, arguments.show_secrets).await?;
    let outputs = outputs(&snapshot);
    let console = &context.console;
    if let Some(name) = &arguments.property_name {
        let Some(value) = outputs.get(name) else {
            return Err(Failure::new(format!(
                "current stack does not have output property '{name}'; stack '{}' has {}",
                workplace.shown(&stack),
                if outputs.is_empty() {
                    "none".to_owned()
                } else {
                    outputs.keys().cloned().collect::<Vec<_>>().join(", ")
                }
            )));
        };
        if arguments.format.json() {
            console.line(&pretty(&plain::to_json(value, arguments.show_secrets)));
        } else {
            console.data(&format!("{}\n", plain::to_text(value, arguments.show_secrets)));
        }
    } else if arguments.format.json() {
        console.line(&pretty(&plain::object_to_json(&outputs, arguments.show_secrets)));
    } else if arguments.shell {
        let (names, others): (Vec<_>, Vec<_>) = outputs.iter().partition(|(name, _)| is_variable(name));
        for (name, value) in names {
            console.data(&format!("{name}={}\n", quoted(&plain::to_text(value, arguments.show_secrets))));
        }
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(|(name, _)| format!("'{}'", one_line(name))).collect();
            console
                .warn(format!("a shell has no variables of these names, so they are left out: {}", others.join(", ")));
        }
    } else if outputs.is_empty() {
        console.line("Current stack outputs (0):\n    No output values currently in this stack");
    } else {
        console.print(&format!("Current stack outputs ({}):\n", outputs.len()));
        console.line(&output_table(&outputs, arguments.show_secrets).join("\n"));
    }
    Ok(())
}
