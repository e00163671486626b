//! `stack history`: what was done to a stack.

use std::collections::BTreeMap;

use jiff::{SpanRound, Timestamp, Unit};
use maloko_core::invisible::one_line;
use maloko_core::state::{Crypter, HistoryEntry};
use serde_json::{Value as Json, json};

use super::super::pretty;
use crate::arguments::StackHistory;
use crate::context::Context;
use crate::failure::Result;
use crate::history::{OF_RUN, numbers};
use crate::plain::HIDDEN;
use crate::workplace::Workplace;

/// What stands in place of a secret that the present key cannot decrypt.
const UNREADABLE: &str = "[secret, encrypted with another key]";

pub(super) async fn run(context: &Context, arguments: &StackHistory) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    workplace.require(&stack).await?;
    let stored = workplace.backend.history(&stack, 0).await?;
    let entries = stored.iter().map(HistoryEntry::decode).collect::<maloko_core::Result<Vec<_>>>()?;
    let size = if arguments.page_size == 0 { usize::MAX } else { arguments.page_size as usize };
    let skipped = size.saturating_mul(arguments.page as usize - 1);
    let crypter = if arguments.show_secrets {
        let mut settings = workplace.settings(&stack)?;
        let crypter = workplace.crypter(&stack, &mut settings).await?;
        crypter.verify()?;
        Some(crypter)
    } else {
        None
    };
    let mut shown = Vec::new();
    let mut numbered: Vec<_> = numbers(&entries).into_iter().zip(entries).collect();
    if let Some(run) = &arguments.run {
        numbered.retain(|(_, entry)| entry.environment.get(OF_RUN) == Some(run));
    }
    let total = numbered.len();
    for (number, mut entry) in numbered.into_iter().skip(skipped).take(size) {
        entry.version = number;
        shown.push(if arguments.format.json() {
            as_json(&entry, crypter.as_ref())
        } else {
            Json::String(as_text(&entry, crypter.as_ref(), &when(context, &entry, arguments.full_dates)))
        });
    }
    let console = &context.console;
    if arguments.format.json() {
        console.line(&pretty(&Json::Array(shown)));
    } else if shown.is_empty() {
        console.line(&match (total, &arguments.run) {
            (0, Some(run)) => format!("The stack's history has nothing of the run '{run}'"),
            (0, None) => "Stack has never been updated".to_owned(),
            _ => format!("No stack updates found on page '{}'", arguments.page),
        });
    } else {
        let texts: Vec<&str> = shown.iter().filter_map(Json::as_str).collect();
        console.line(&texts.join("\n\n"));
    }
    Ok(())
}

pub(super) fn when(context: &Context, entry: &HistoryEntry, full_dates: bool) -> String {
    let Ok(start) = Timestamp::from_second(entry.start_time) else { return "at an unknown time".to_owned() };
    if full_dates {
        return start.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    }
    let now = context.environment.clock.now();
    // The largest unit alone is how people say how long ago something was.
    [Unit::Hour, Unit::Minute, Unit::Second]
        .into_iter()
        .find_map(|unit| {
            let span = now.since(start).ok()?.round(SpanRound::new().largest(unit).smallest(unit)).ok()?;
            let (number, name) = match unit {
                Unit::Hour if span.get_hours() >= 48 => (i64::from(span.get_hours() / 24), "day"),
                Unit::Hour => (i64::from(span.get_hours()), "hour"),
                Unit::Minute => (span.get_minutes(), "minute"),
                _ => (span.get_seconds().max(0), "second"),
            };
            (number > 0 || unit == Unit::Second)
                .then(|| format!("{number} {name}{} ago", if number == 1 { "" } else { "s" }))
        })
        .unwrap_or_default()
}

pub(super) fn as_text(entry: &HistoryEntry, crypter: Option<&Crypter>, when: &str) -> String {
    let mut lines = vec![
        format!("Version: {}", entry.version),
        format!("UpdateKind: {}", entry.kind),
        format!("Status: {}", entry.result),
    ];
    if !entry.message.is_empty() {
        lines.push(format!("Message: {}", entry.message));
    }
    if !entry.resource_changes.is_empty() {
        let changes: Vec<String> = entry.resource_changes.iter().map(|(op, number)| format!("{number} {op}")).collect();
        lines.push(format!("Resource changes: {}", changes.join(", ")));
    }
    let took = entry.end_time.saturating_sub(entry.start_time).max(0);
    lines.push(format!("Updated {when} and took {took}s"));
    lines.extend(entry.environment.iter().map(|(key, text)| format!("    {key}: {text}")));
    for (key, value) in &entry.config {
        let (plain, _) = revealed(value, crypter);
        let text = plain.as_str().map_or_else(|| plain.to_string(), str::to_owned);
        lines.push(format!("    config {key}: {text}"));
    }
    // A text in it that has lines of its own would be taken for others of these.
    lines.iter().map(|line| one_line(line)).collect::<Vec<_>>().join("\n")
}

fn as_json(entry: &HistoryEntry, crypter: Option<&Crypter>) -> Json {
    let time =
        |seconds: i64| Timestamp::from_second(seconds).map(|time| time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string());
    let config: BTreeMap<&String, Json> = entry
        .config
        .iter()
        .map(|(key, value)| {
            let (plain, secret) = revealed(value, crypter);
            let shown = crypter.is_some() || !secret;
            let text = plain.as_str().map_or_else(|| plain.to_string(), str::to_owned);
            let mut member = serde_json::Map::new();
            if shown {
                member.insert("value".into(), Json::String(text));
                if plain.is_object() || plain.is_array() {
                    member.insert("objectValue".into(), plain);
                }
            }
            member.insert("secret".into(), Json::Bool(secret));
            (key, Json::Object(member))
        })
        .collect();
    json!({
        "kind": entry.kind,
        "startTime": time(entry.start_time).ok(),
        "message": entry.message,
        "environment": entry.environment,
        "config": config,
        "result": entry.result,
        "endTime": time(entry.end_time).ok(),
        "version": entry.version,
        "resourceChanges": entry.resource_changes,
    })
}

/// A value of the configuration with its secrets decrypted or hidden, and whether it had any.
fn revealed(value: &Json, crypter: Option<&Crypter>) -> (Json, bool) {
    match value {
        Json::Object(members) => {
            if let (1, Some(ciphertext)) = (members.len(), members.get("secure").and_then(Json::as_str)) {
                let text = match crypter {
                    None => HIDDEN.to_owned(),
                    Some(crypter) => crypter.decrypt(ciphertext).map_or(UNREADABLE.to_owned(), |text| text.to_string()),
                };
                return (Json::String(text), true);
            }
            let revealed: Vec<_> = members.iter().map(|(key, value)| (key, revealed(value, crypter))).collect();
            let secret = revealed.iter().any(|(_, (_, secret))| *secret);
            (Json::Object(revealed.into_iter().map(|(key, (value, _))| (key.clone(), value)).collect()), secret)
        }
        Json::Array(items) => {
            let revealed: Vec<_> = items.iter().map(|item| revealed(item, crypter)).collect();
            let secret = revealed.iter().any(|(_, secret)| *secret);
            (Json::Array(revealed.into_iter().map(|(value, _)| value).collect()), secret)
        }
        other => (other.clone(), false),
    }
}
