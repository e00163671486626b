//! A run of the past in lines, for `stack history show`.

use maloko_core::invisible::one_line;

use super::data::PageData;
use super::slowest::{self, seconds};

/// So many steps are listed.
const LISTED: usize = 200;

/// What a run did, where that is kept: its steps with their changes, its errors, what took long.
pub(crate) fn text(data: &PageData) -> Vec<String> {
    let Some(run) = &data.run else { return Vec::new() };
    let mut lines = Vec::new();
    if !run.steps.is_empty() {
        lines.push("Resources:".to_owned());
    }
    for step in run.steps.iter().take(LISTED) {
        let Some(resource) = data.resources.get(step.resource) else { continue };
        let failed = if step.status == "failed" { " failed" } else { "" };
        let took = step.ended.map(|ended| format!(" ({})", seconds(ended - step.began))).unwrap_or_default();
        lines.push(format!("    {}{failed} {} {}{took}", step.op, one_line(&resource.kind), one_line(&resource.name)));
        if let Some(other) = step.because.as_ref().and_then(|cause| data.resources.get(cause.resource)) {
            lines.push(format!("        because {} is replaced", one_line(&other.name)));
        }
        let changed: Vec<String> = step.changes.iter().map(|change| one_line(&change.path)).collect();
        if step.op != "create" && step.op != "delete" && !changed.is_empty() {
            lines.push(format!("        changed: {}", changed.join(", ")));
        }
    }
    if run.steps.len() > LISTED {
        lines.push(format!("    and {} more", run.steps.len() - LISTED));
    }
    for error in run.diagnostics.iter().filter(|said| said.severity == "error") {
        let first = error.message.lines().next().unwrap_or_default();
        lines.push(format!("Error: {}", one_line(first)));
    }
    lines.extend(slowest::lines(&data.resources, run));
    lines
}
