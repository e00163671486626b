//! Why a run took long, in lines for the terminal.

use maloko_core::invisible::one_line;

use super::data::{Activity, PathItem, Resource, Run};

/// A shorter run is explained by nobody (milliseconds).
pub(super) const LONG_RUN: f64 = 5_000.0;
/// So many calls are named.
const NAMED: usize = 3;
/// A shorter call or part is not (milliseconds).
const TOLD: f64 = 50.0;
/// So many parts of the critical path are named.
const PARTS: usize = 6;

/// The slowest calls and the critical path, in a line each.
pub(super) fn lines(resources: &[Resource], run: &Run) -> Vec<String> {
    let (activities, path) = (&run.activities, &run.critical_path);
    let mut calls: Vec<&Activity> = activities
        .iter()
        .filter(|it| it.kind == "call" && it.duration.is_some_and(|duration| duration >= TOLD))
        .collect();
    calls.sort_by(|a, b| b.duration.unwrap_or_default().total_cmp(&a.duration.unwrap_or_default()));
    let named = calls.iter().take(NAMED).map(|call| {
        let name = call.resource.and_then(|resource| resources.get(resource)).map(|it| format!(" of {}", it.name));
        format!("{}{} {}", call.name, name.unwrap_or_default(), seconds(call.duration.unwrap_or_default()))
    });
    let mut lines = Vec::new();
    let named: Vec<String> = named.collect();
    if !named.is_empty() {
        lines.push(one_line(&format!("Slowest calls: {}", named.join(", "))));
    }
    let mut parts: Vec<(&str, f64)> = Vec::new();
    let longest = longest(path);
    for item in &longest {
        match parts.last_mut() {
            // What lay between them was too short to be named.
            Some((text, duration)) if *text == item.text => *duration += item.duration,
            _ => parts.push((&item.text, item.duration)),
        }
    }
    let mut parts: Vec<String> =
        parts.into_iter().map(|(text, duration)| format!("{text} {}", seconds(duration))).collect();
    let others = path.iter().filter(|item| item.duration >= TOLD).count() - longest.len();
    if others > 0 {
        parts.push(format!("and {others} more"));
    }
    if !parts.is_empty() {
        lines.push(one_line(&format!("Critical path: {}", parts.join(", "))));
    }
    lines
}

/// The longest parts, in their order. Of parts that are as long as each other, the earlier ones.
fn longest(path: &[PathItem]) -> Vec<&PathItem> {
    let mut places: Vec<usize> = (0..path.len()).filter(|place| path[*place].duration >= TOLD).collect();
    places.sort_by(|a, b| path[*b].duration.total_cmp(&path[*a].duration));
    places.truncate(PARTS);
    places.sort_unstable();
    places.into_iter().map(|place| &path[place]).collect()
}

/// A time in seconds, to a tenth.
pub(crate) fn seconds(milliseconds: f64) -> String {
    format!("{:.1} s", milliseconds / 1000.0)
}

#[cfg(test)]
#[path = "slowest_tests.rs"]
mod tests;
