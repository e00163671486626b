//! What a refresh finds, in an operation that goes on to do something about it.

use maloko_core::event::Op;
use maloko_core::operation::OperationKind;

use super::paint::Paint;

/// Does a step find something out for the operation, which itself is of another kind?
#[must_use]
pub(super) fn is_drift(operation: OperationKind, step: Op) -> bool {
    step == Op::Refresh && operation != OperationKind::Refresh
}

/// In a word what was found; `found` is what a refresh itself would do about it in the state.
#[must_use]
pub(super) fn word(found: Op) -> Option<&'static str> {
    match found {
        Op::Update => Some("changed"),
        Op::Delete => Some("gone"),
        _ => None,
    }
}

/// The heading of what was found.
#[must_use]
pub(super) fn heading(paint: Paint, any: bool) -> String {
    paint.bold(if any {
        "Drift found by refreshing, changed since the last run and not by it:"
    } else {
        "Drift found by refreshing: none"
    })
}

/// The heading of what is done, below.
#[must_use]
pub(super) fn heading_of_the_rest(paint: Paint, is_preview: bool) -> String {
    paint.bold(if is_preview { "Plan:" } else { "Update:" })
}
