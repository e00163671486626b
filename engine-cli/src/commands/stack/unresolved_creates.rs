//! Unresolved creates as `stack` lists them.

use std::sync::Arc;

use maloko_core::invisible::one_line;
use maloko_core::state::{PendingKind, Snapshot, UnknownOutcome, UnresolvedCreate};
use serde_json::{Value as Json, json};

use crate::plain;
use crate::plain::{count, readable_time};

/// What can be done about a create whose outcome is unknown.
const UNCLEAR: [&str; 3] = [
    "`maloko up` looks for each with its provider's 'find', where there is one, and creates it again otherwise.",
    "An object that you found yourself is taken over by `maloko refresh --import-pending-creates URN ID`; the",
    "records are forgotten by `maloko refresh --clear-pending-creates`.",
];
/// What can be done about one that a plugin was asked for.
const UNCLEAR_BY_PLUGINS: [&str; 3] = [
    "Plugins cannot look for these objects, and `maloko up` creates them again: look for them before.",
    UNCLEAR[1],
    UNCLEAR[2],
];
/// What can be done about a create that raised.
const RAISED: [&str; 3] = [
    "`maloko up` tries those again that the program still has. An object that there is all the same is taken over",
    "by `maloko refresh --import-pending-creates URN ID`; the records are forgotten by",
    "`maloko refresh --clear-pending-creates`.",
];

/// What runs left open, in lines: unresolved creates, and other calls that were interrupted. While a run has the stack, what
/// nobody has ended yet may be what it is about.
pub(super) fn lines(snapshot: &Snapshot, show_secrets: bool, is_in_use: bool) -> Vec<String> {
    let all = snapshot.all_unresolved_creates();
    let (under_way, left): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|unresolved| is_in_use && unresolved.unknown_outcome == UnknownOutcome::Died);
    let (raised, unclear): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|unresolved| unresolved.unknown_outcome == UnknownOutcome::Raised);
    let mut lines = Vec::new();
    if !unclear.is_empty() {
        let number = count(unclear.len(), "unresolved create");
        let heading = format!("{number}, whose object may exist");
        let advice =
            if unclear.iter().all(|unresolved| unresolved.is_by_plugin()) { &UNCLEAR_BY_PLUGINS } else { &UNCLEAR };
        lines.extend(section(&heading, &unclear, show_secrets, advice));
    }
    if !raised.is_empty() {
        let story = if raised.iter().any(|unresolved| unresolved.is_by_plugin()) {
            "failed, which by Pulumi's rules made nothing"
        } else {
            "raised, which by the SDK's rules made nothing"
        };
        let heading = format!("{} {story}", count(raised.len(), "create"));
        lines.extend(section(&heading, &raised, show_secrets, &RAISED));
    }
    let creating = under_way.iter().map(|unresolved| (unresolved.urn().to_string(), PendingKind::Creating.name()));
    let open: Vec<_> = creating.chain(others(snapshot)).collect();
    if !open.is_empty() {
        let state = if is_in_use { "under way, or interrupted before" } else { "interrupted" };
        lines.push(format!("\n{} {state}:", count(open.len(), "operation")));
        lines.extend(open.into_iter().map(|(urn, kind)| format!("    {} while {kind}", one_line(&urn))));
    }
    lines
}

/// Creates under a heading, and what can be done about them.
fn section(
    heading: &str,
    unresolved_creates: &[Arc<UnresolvedCreate>],
    show_secrets: bool,
    advice: &[&str],
) -> Vec<String> {
    let facts = unresolved_creates.iter().flat_map(|unresolved| facts(unresolved, show_secrets));
    let advice = advice.iter().map(|line| format!("    {line}"));
    std::iter::once(format!("\n{heading}:")).chain(facts).chain(advice).collect()
}

/// What is known of a create, in lines.
fn facts(unresolved: &UnresolvedCreate, show_secrets: bool) -> Vec<String> {
    let fact = |what: &str, text: &str| (!text.is_empty()).then(|| format!("        {what}: {text}"));
    let fact_in_a_line = |what: &str, text: &str| fact(what, &one_line(text));
    let since = if unresolved.since.is_empty() { String::new() } else { readable_time(&unresolved.since) };
    let facts = [
        Some(format!("    {}", one_line(unresolved.urn().as_str()))),
        fact("What happened", unresolved.unknown_outcome.story()),
        fact("Begun", &since),
        fact("Attempts", &unresolved.attempts.to_string()).filter(|_| unresolved.attempts > 1),
        fact("Error", &unresolved.error.replace('\n', "\n            ")),
        fact_in_a_line("ID", &unresolved.resource.id),
        fact("Returned", &returned(unresolved, show_secrets).unwrap_or_default()),
        fact_in_a_line("Operation key", &unresolved.key),
    ];
    facts.into_iter().flatten().collect()
}

/// The same as JSON: members of the document that `stack --json` prints.
pub(super) fn json(snapshot: &Snapshot, show_secrets: bool) -> (Json, Json) {
    let unresolved_creates = snapshot.all_unresolved_creates();
    let unresolved_creates = unresolved_creates.iter().map(|unresolved| {
        json!({
            "urn": unresolved.urn().as_str(),
            "type": unresolved.resource.kind,
            "id": (!unresolved.resource.id.is_empty()).then_some(&unresolved.resource.id),
            "doubt": unresolved.unknown_outcome.name(),
            "since": unresolved.since,
            "attempts": unresolved.attempts,
            "error": unresolved.error,
            "returned": returned(unresolved, show_secrets),
            "operationKey": unresolved.key,
        })
    });
    let others = others(snapshot).map(|(urn, kind)| json!({ "urn": urn, "operation": kind }));
    (unresolved_creates.collect(), others.collect())
}

fn returned(unresolved: &UnresolvedCreate, show_secrets: bool) -> Option<String> {
    match &unresolved.returned {
        maloko_core::Value::Null => None,
        returned => Some(plain::to_text(returned, show_secrets)),
    }
}

fn others(snapshot: &Snapshot) -> impl Iterator<Item = (String, &'static str)> + '_ {
    let others = snapshot.pending.iter().filter(|pending| pending.kind != PendingKind::Creating);
    others.map(|pending| (pending.resource.urn.to_string(), pending.kind.name()))
}
