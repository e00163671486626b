//! What a step comes to, in a line: for who looks at many stacks and reads no output.

use maloko_core::event::{Op, StepMetadata};

use super::diff::changed_keys;
use super::drift;
use super::words::{TypeNames, result, words};

/// `update Note plain [~content]`, and of what a refresh finds `Note plain changed [~content]`. `None` for a step that changes
/// nothing, and for one that another one tells of.
#[must_use]
pub(crate) fn step_line(step: &StepMetadata) -> Option<String> {
    let op = result(step);
    let is_told_with_another = matches!(op, Op::CreateReplacement | Op::DeleteReplaced | Op::DiscardReplaced);
    let changes_nothing = matches!(op, Op::Same | Op::Read | Op::ReadReplacement | Op::Refresh | Op::Discard);
    if is_told_with_another || changes_nothing || step.urn.is_default_provider() {
        return None;
    }
    let title = TypeNames::default().title(&step.urn);
    let line = match drift::word(op).filter(|_| step.op == Op::Refresh) {
        Some(found) => format!("{title} {found}"),
        None => format!("{} {title}", words(op).plan),
    };
    let keys = if op == Op::Delete { String::new() } else { changed_keys(step) };
    Some(if keys.is_empty() { line } else { format!("{line} [{keys}]") })
}
