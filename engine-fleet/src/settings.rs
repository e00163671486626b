//! What a fleet says beside its stacks and waves: where it runs, limits, retries, schedules.

use std::collections::BTreeMap;

use maloko_core::message::suggestions::instead;
use maloko_core::state::check_scheme;

use crate::document::Field;
use crate::fault::Result;
use crate::plan::{Engine, Keep, Limits, Retry, Schedule};
use crate::select::Selector;
use crate::stacks::DeclaredStack;

const HEARTBEAT: f64 = 10.0;
const DEADLINE: f64 = 86_400.0;
const RETRY: Retry = Retry { provider: 5, first_wait: 2.0, longest_wait: 300.0 };
/// The name of an address, and the port of those that name none.
const SCHEME: &str = "temporal://";
const PORT: u16 = 7233;
/// Of `MALOKO_GENERATIONS`, too.
const MIN_GENERATIONS: u64 = 3;
const NAMESPACE: &str = "default";

/// The fleet's name.
pub(crate) fn name<'a>(root: &Field<'a>) -> Result<&'a str> {
    let field = root.required("name", "name: tenants")?;
    let name = field.text()?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        return Err(field.fault(format!("'{name}' can be no fleet's name; it may have letters, digits, '-' and '_'")));
    }
    Ok(name)
}

/// Where Temporal is.
pub(crate) fn engine(root: &Field<'_>) -> Result<Option<Engine>> {
    let Some(field) = root.member("engine")? else { return Ok(None) };
    let text = field.text()?;
    let bad = || {
        field
            .fault(format!("'{text}' is no address of an engine; write one, such as temporal://127.0.0.1:7233/default"))
    };
    let rest = text.strip_prefix(SCHEME).ok_or_else(bad)?;
    let (address, namespace) = rest.split_once('/').unwrap_or((rest, ""));
    let namespace = namespace.trim_end_matches('/');
    // Of an address of IPv6 the colons stand between brackets.
    let port = address.rsplit_once(':').filter(|(_, after)| !after.contains(']')).map(|(_, port)| port);
    if address.is_empty() || namespace.contains('/') || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(bad());
    }
    Ok(Some(Engine {
        address: if port.is_some() { address.to_owned() } else { format!("{address}:{PORT}") },
        namespace: if namespace.is_empty() { NAMESPACE.to_owned() } else { namespace.to_owned() },
    }))
}

/// Whose the key of the secrets is: `fleet` or `stack`.
pub(crate) fn key(root: &Field<'_>) -> Result<String> {
    let word = root.member("key")?.map(|key| key.word(&["fleet", "stack"])).transpose()?;
    Ok(word.unwrap_or("stack").to_owned())
}

/// Where state is kept.
pub(crate) fn backend(root: &Field<'_>) -> Result<Option<String>> {
    let Some(field) = root.member("backend")? else { return Ok(None) };
    let url = field.text()?;
    check_scheme(url).map_err(|why| field.fault(String::from(why)))?;
    Ok(Some(url.to_owned()))
}

/// `limits`. A label that no stack has is a mistake: the limit would be none.
pub(crate) fn limits(root: &Field<'_>, stacks: &[DeclaredStack]) -> Result<Limits> {
    let Some(limits) = root.member("limits")? else { return Ok(Limits::default()) };
    limits.knows(&["at_a_time", "each", "starts_per_second"])?;
    Ok(Limits {
        at_a_time: limits.member("at_a_time")?.map(|number| number.number()).transpose()?,
        each: by_label(&limits, "each", stacks, Field::number)?,
        starts_per_second: by_label(&limits, "starts_per_second", stacks, Field::rate)?,
    })
}

fn by_label<'a, T>(
    limits: &Field<'a>,
    name: &str,
    stacks: &[DeclaredStack],
    read: impl Fn(&Field<'a>) -> Result<T>,
) -> Result<BTreeMap<String, T>> {
    let Some(field) = limits.member(name)? else { return Ok(BTreeMap::new()) };
    let one = |(label, field): (&str, Field<'a>)| {
        if !stacks.iter().any(|stack| stack.labels.contains_key(label)) {
            let labels: std::collections::BTreeSet<&str> =
                stacks.iter().flat_map(|stack| stack.labels.keys()).map(String::as_str).collect();
            let instead = instead(label, labels.iter().copied(), "the labels are");
            return Err(field.fault(format!("no stack has the label '{label}'; {instead}")));
        }
        Ok((label.to_owned(), read(&field)?))
    };
    field.members()?.map(one).collect()
}

/// `retry`.
pub(crate) fn retry(root: &Field<'_>) -> Result<Retry> {
    let Some(retry) = root.member("retry")? else { return Ok(RETRY) };
    retry.knows(&["provider", "first_wait", "longest_wait"])?;
    let wait = |name: &str| retry.member(name)?.map(|wait| wait.duration()).transpose();
    Ok(Retry {
        provider: retry.member("provider")?.map_or(Ok(RETRY.provider), |number| number.number())?,
        first_wait: wait("first_wait")?.unwrap_or(RETRY.first_wait),
        longest_wait: wait("longest_wait")?.unwrap_or(RETRY.longest_wait),
    })
}

/// `keep`.
pub(crate) fn keep(root: &Field<'_>) -> Result<Keep> {
    let Some(keep) = root.member("keep")? else { return Ok(Keep::default()) };
    keep.knows(&["history", "generations"])?;
    let number = |name: &str| keep.member(name)?.map(|number| number.number()).transpose();
    let (history, generations) = (number("history")?, number("generations")?);
    match keep.member("generations")? {
        Some(field) if generations.is_some_and(|number| number < MIN_GENERATIONS) => {
            Err(field.fault(format!("fewer than {MIN_GENERATIONS} former states would not do after a failure")))
        }
        _ => Ok(Keep { history, generations }),
    }
}

/// How long a worker may be silent, in seconds.
pub(crate) fn heartbeat(root: &Field<'_>) -> Result<f64> {
    positive(root, "heartbeat", HEARTBEAT)
}

/// How long a run may take, in seconds.
pub(crate) fn deadline(root: &Field<'_>) -> Result<f64> {
    positive(root, "deadline", DEADLINE)
}

fn positive(field: &Field<'_>, name: &str, otherwise: f64) -> Result<f64> {
    let Some(field) = field.member(name)? else { return Ok(otherwise) };
    let seconds = field.duration()?;
    if seconds <= 0.0 {
        return Err(field.fault("it must be longer than nothing; write one, such as 10s"));
    }
    Ok(seconds)
}

/// What runs begin by themselves, by name.
pub(crate) fn schedules(root: &Field<'_>) -> Result<BTreeMap<String, Schedule>> {
    let Some(schedules) = root.member("schedules")? else { return Ok(BTreeMap::new()) };
    schedules.members()?.map(|(name, field)| Ok((name.to_owned(), schedule(&field)?))).collect()
}

fn schedule(field: &Field<'_>) -> Result<Schedule> {
    field.knows(&["every", "jitter", "verb", "select"])?;
    field.required("every", "every: 6h")?;
    let (verb, preview_only) = verb(&field.required("verb", "verb: refresh --preview-only")?)?;
    let select = field.member("select")?.map_or(Ok(Vec::new()), |select| select.one_or_more())?;
    let read = |item: &Field<'_>| {
        let text = item.text()?;
        Selector::read(text).map(|_| text.to_owned()).map_err(|what| item.fault(what))
    };
    Ok(Schedule {
        every: positive(field, "every", 0.0)?,
        jitter: field.member("jitter")?.map_or(Ok(0.0), |jitter| jitter.duration())?,
        verb: verb.to_owned(),
        preview_only,
        select: select.iter().map(read).collect::<Result<_>>()?,
    })
}

/// What a schedule does, and whether it only shows what would be done.
fn verb(field: &Field<'_>) -> Result<(&'static str, bool)> {
    let words: Vec<&str> = field.text()?.split_whitespace().collect();
    match words.as_slice() {
        ["up"] => Ok(("up", false)),
        ["preview"] => Ok(("preview", false)),
        ["refresh"] => Ok(("refresh", false)),
        ["destroy"] => Ok(("destroy", false)),
        ["drift"] | ["refresh", "--preview-only"] => Ok(("refresh", true)),
        other => Err(field.fault(format!(
            "'{}' is nothing that a schedule does; write up, preview, refresh, refresh --preview-only or destroy",
            other.join(" ")
        ))),
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
