//! Suspect creates as `stack` lists them.

use std::sync::Arc;

use maloko_core::state::{Doubt, PendingKind, Snapshot, Suspect};
use serde_json::{Value as Json, json};

use super::super::count;
use super::readable;
use crate::plain;

/// What can be done about a create whose outcome is unknown.
const UNCLEAR: [&str; 3] = [
    "`maloko up` looks for each with its provider's 'find', where there is one, and creates it again otherwise.",
    "An object that you found yourself is taken over by `maloko refresh --import-pending-creates URN ID`; the",
    "records are forgotten by `maloko refresh --clear-pending-creates`.",
];
/// What can be done about a create that raised.
const RAISED: [&str; 3] = [
    "`maloko up` tries those again that the program still has. An object that there is all the same is taken over",
    "by `maloko refresh --import-pending-creates URN ID`; the records are forgotten by",
    "`maloko refresh --clear-pending-creates`.",
];

/// What runs left open, in lines: suspect creates, and other calls that were interrupted. While a run has the stack, what
/// nobody has ended yet may be what it is about.
pub(super) fn lines(snapshot: &Snapshot, show_secrets: bool, is_in_use: bool) -> Vec<String> {
    let all = snapshot.all_suspects();
    let (under_way, left): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|suspect| is_in_use && suspect.doubt == Doubt::Died);
    let (raised, unclear): (Vec<_>, Vec<_>) = left.into_iter().partition(|suspect| suspect.doubt == Doubt::Raised);
    let mut lines = Vec::new();
    if !unclear.is_empty() {
        let number = count(unclear.len(), "suspect create");
        let heading = format!("{number}, of which nobody knows whether the object exists");
        lines.extend(section(&heading, &unclear, show_secrets, &UNCLEAR));
    }
    if !raised.is_empty() {
        let heading = format!("{} raised, which by the SDK's rules made nothing", count(raised.len(), "create"));
        lines.extend(section(&heading, &raised, show_secrets, &RAISED));
    }
    let creating = under_way.iter().map(|suspect| (suspect.urn().to_string(), PendingKind::Creating.name()));
    let open: Vec<_> = creating.chain(others(snapshot)).collect();
    if !open.is_empty() {
        let state = if is_in_use { "under way, or interrupted before" } else { "interrupted" };
        lines.push(format!("\n{} {state}:", count(open.len(), "operation")));
        lines.extend(open.into_iter().map(|(urn, kind)| format!("    {urn} while {kind}")));
    }
    lines
}

/// Creates under a heading, and what can be done about them.
fn section(heading: &str, suspects: &[Arc<Suspect>], show_secrets: bool, advice: &[&str]) -> Vec<String> {
    let facts = suspects.iter().flat_map(|suspect| facts(suspect, show_secrets));
    let advice = advice.iter().map(|line| format!("    {line}"));
    std::iter::once(format!("\n{heading}:")).chain(facts).chain(advice).collect()
}

/// What is known of a create, in lines.
fn facts(suspect: &Suspect, show_secrets: bool) -> Vec<String> {
    let fact = |what: &str, text: &str| (!text.is_empty()).then(|| format!("        {what}: {text}"));
    let since = if suspect.since.is_empty() { String::new() } else { readable(&suspect.since) };
    let facts = [
        Some(format!("    {}", suspect.urn())),
        fact("What happened", suspect.doubt.story()),
        fact("Begun", &since),
        fact("Attempts", &suspect.attempts.to_string()).filter(|_| suspect.attempts > 1),
        fact("Error", &suspect.error.replace('\n', "\n            ")),
        fact("ID", &suspect.row.id),
        fact("Returned", &returned(suspect, show_secrets).unwrap_or_default()),
        fact("Operation key", &suspect.key),
    ];
    facts.into_iter().flatten().collect()
}

/// The same as JSON: members of the document that `stack --json` prints.
pub(super) fn json(snapshot: &Snapshot, show_secrets: bool) -> (Json, Json) {
    let suspects = snapshot.all_suspects();
    let suspects = suspects.iter().map(|suspect| {
        json!({
            "urn": suspect.urn().as_str(),
            "type": suspect.row.kind,
            "id": (!suspect.row.id.is_empty()).then_some(&suspect.row.id),
            "doubt": suspect.doubt.name(),
            "since": suspect.since,
            "attempts": suspect.attempts,
            "error": suspect.error,
            "returned": returned(suspect, show_secrets),
            "operationKey": suspect.key,
        })
    });
    let others = others(snapshot).map(|(urn, kind)| json!({ "urn": urn, "operation": kind }));
    (suspects.collect(), others.collect())
}

/// How many objects there may be that no resource stands for. A create that raised made none, by the SDKs' contract.
pub(super) fn uncertain(snapshot: &Snapshot) -> usize {
    snapshot.all_suspects().iter().filter(|suspect| suspect.doubt != Doubt::Raised).count()
}

fn returned(suspect: &Suspect, show_secrets: bool) -> Option<String> {
    match &suspect.returned {
        maloko_core::Value::Null => None,
        returned => Some(plain::to_text(returned, show_secrets)),
    }
}

fn others(snapshot: &Snapshot) -> impl Iterator<Item = (String, &'static str)> + '_ {
    let others = snapshot.pending.iter().filter(|pending| pending.kind != PendingKind::Creating);
    others.map(|pending| (pending.row.urn.to_string(), pending.kind.name()))
}
