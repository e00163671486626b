//! Steps in a line.

use maloko_core::event::{Op, StepMetadata};

use super::story::{resource, step, with_outputs};
use crate::display::step_line;

#[test]
fn a_line_says_what_a_step_does_and_to_which_properties() {
    let label = |color: &str| Some(with_outputs(resource("a", "1", [("color", color.into())]), []));
    let line = |op, old, new| step_line(&step(op, old, new)).unwrap_or_default();
    assert_eq!(line(Op::Update, label("red"), label("blue")), "update Label a [~color]");
    assert_eq!(line(Op::Replace, label("red"), label("blue")), "replace Label a [~color]");
    assert_eq!(line(Op::Create, None, label("blue")), "create Label a");
    assert_eq!(line(Op::Delete, label("red"), None), "delete Label a");
    for told_with_another in [Op::CreateReplacement, Op::DeleteReplaced, Op::Same, Op::Read] {
        assert_eq!(line(told_with_another, label("red"), label("red")), "");
    }
    let found =
        |note, new| step_line(&StepMetadata { note, ..step(Op::Refresh, label("red"), new) }).unwrap_or_default();
    assert_eq!(found("update", label("blue")), "Label a changed [~color]");
    assert_eq!(found("delete", None), "Label a gone");
    assert_eq!(found("same", label("red")), "");
}
