//! The stacks of a plan.

use super::words::{cell, joined, lines, table};
use crate::plan::Plan;

/// A table of the stacks, in the order in which they can come.
#[must_use]
pub fn text(plan: &Plan, columns: usize) -> String {
    let mut shown = table();
    shown.set_header(["STACK", "LABELS", "QUEUE", "NEEDS", "WAVE"]);
    shown.add_rows(plan.stacks.iter().map(|stack| {
        let labels: Vec<String> = stack.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let wave = plan.waves.get(stack.wave).map(|wave| format!("{} {}", stack.wave + 1, wave.name));
        [stack.id.clone(), labels.join(" "), stack.queue.clone(), stack.needs.join(" "), wave.unwrap_or_default()]
            .map(|text| cell(&text))
    }));
    joined(&lines(&shown, "", columns))
}
