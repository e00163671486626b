//! `plugin ls`.

use std::time::SystemTime;

use indicatif::HumanBytes;
use jiff::Timestamp;
use maloko_plugins::{PluginEntry, installed_plugins};
use semver::Version;
use serde_json::{Map, Value, json};

use super::needed;
use crate::arguments::PluginList;
use crate::commands::{pretty, table, text};
use crate::context::Context;
use crate::failure::{Failure, Result};

/// A line of the list.
struct ListedPlugin {
    kind: String,
    name: String,
    version: String,
    entry: Option<PluginEntry>,
}

/// Runs `plugin ls`.
pub(super) async fn run(context: &Context, arguments: &PluginList) -> Result<()> {
    let folder = super::folder(&super::settings(context))?;
    let entries = installed_plugins(&folder).map_err(|error| Failure::new(error.to_string()))?;
    let entries: Vec<PluginEntry> = entries.into_iter().filter(|entry| entry.is_whole).collect();
    let listed = if arguments.project { of_project(context, &entries).await? } else { all(entries) };
    if arguments.format.json() {
        context.console.line(&pretty(&Value::Array(listed.iter().map(as_json).collect())));
        return Ok(());
    }
    let mut shown = table(&["NAME", "KIND", "VERSION", "SIZE", "INSTALLED", "LAST USED"]);
    let mut total = 0;
    for ListedPlugin { kind, name, version, entry } in &listed {
        let size = entry.as_ref().map(PluginEntry::size);
        total += size.unwrap_or_default();
        let day = |time: Option<SystemTime>| {
            time.and_then(timestamp)
                .map_or_else(|| "n/a".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
        };
        let installed = match entry {
            Some(entry) => day(entry.installed),
            None => "not installed".to_owned(),
        };
        shown.add_row([
            name.clone(),
            kind.clone(),
            version.clone(),
            size.map_or_else(|| "n/a".to_owned(), |size| HumanBytes(size).to_string()),
            installed,
            day(entry.as_ref().and_then(|entry| entry.last_used)),
        ]);
    }
    context.console.print(&text(&shown));
    context.console.line(&format!("\nTOTAL plugin cache size: {}", HumanBytes(total)));
    Ok(())
}

fn all(entries: Vec<PluginEntry>) -> Vec<ListedPlugin> {
    let listed = |entry: PluginEntry| ListedPlugin {
        kind: entry.kind.clone(),
        name: entry.name.clone(),
        version: entry.version.to_string(),
        entry: Some(entry),
    };
    entries.into_iter().map(listed).collect()
}

async fn of_project(context: &Context, entries: &[PluginEntry]) -> Result<Vec<ListedPlugin>> {
    let needs = needed::of_project(context, &context.project()?).await?;
    let listed = needs.iter().map(|need| {
        let (name, version) = need.package.plugin();
        let version = version.trim_start_matches('v');
        let fits = |found: &Version| match Version::parse(version) {
            Ok(wanted) => found.cmp_precedence(&wanted).is_eq(),
            Err(_) => version.is_empty(),
        };
        let is_it = |entry: &&PluginEntry| entry.kind == "resource" && entry.name == name && fits(&entry.version);
        ListedPlugin {
            kind: "resource".to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            entry: entries.iter().rfind(is_it).cloned(),
        }
    });
    Ok(listed.collect())
}

/// Pulumi's members.
fn as_json(listed: &ListedPlugin) -> Value {
    let mut members = Map::new();
    members.insert("name".to_owned(), json!(listed.name));
    members.insert("kind".to_owned(), json!(listed.kind));
    members.insert("version".to_owned(), json!(listed.version));
    if let Some(entry) = &listed.entry {
        members.insert("size".to_owned(), json!(entry.size()));
        // Pulumi's automation API wants a time there also for a plugin that was never used.
        let last_used = entry.last_used.or(entry.installed);
        for (name, time) in [("installTime", entry.installed), ("lastUsedTime", last_used)] {
            if let Some(time) = time.and_then(timestamp) {
                members.insert(name.to_owned(), json!(time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()));
            }
        }
    }
    Value::Object(members)
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}
