use insta::assert_snapshot;
use maloko_core::event::{Outcome, Summary};

use super::story::summary as ended;
use crate::display::paint::Paint;
use crate::display::summary::totals;

fn text(summary: &Summary) -> String {
    totals(Paint::new(false), summary, true).join("\n")
}

#[test]
fn an_update_counts_what_was_done() {
    let changes = [("create", 3), ("update", 1), ("replace", 2), ("delete", 12_345), ("same", 2)];
    assert_snapshot!(text(&ended(Outcome::Succeeded, changes)), @r"
    Resources:
        + 3 created
        ~ 1 updated
        +- 2 replaced
        - 12,345 deleted
        2 unchanged

    Duration: 1.3s
    ");
}

#[test]
fn a_preview_counts_what_is_to_be_done() {
    let changes = [("create", 3), ("read", 1), ("same", 2)];
    assert_snapshot!(text(&Summary { is_preview: true, ..ended(Outcome::Succeeded, changes) }), @r"
    Resources:
        + 3 to create
        > 1 to read
        2 unchanged

    Duration: 1.3s
    ");
}

#[test]
fn what_stays_or_goes_without_a_call_has_counts_of_its_own() {
    let changes = [("delete", 3), ("delete-with", 2), ("remove-pending-replace", 1), ("retain", 1)];
    assert_snapshot!(text(&ended(Outcome::Succeeded, changes)), @r"
    Resources:
        - 3 deleted
        - 2 deleted with owner
        - 1 forgotten
        < 1 retained

    Duration: 1.3s
    ");
}

#[test]
fn where_nothing_was_done_there_is_nothing_to_count() {
    assert_snapshot!(text(&ended(Outcome::Succeeded, [])), @"Duration: 1.3s");
}

#[test]
fn a_failure_or_a_cancellation_is_said_last() {
    let cancelled = ended(Outcome::Cancelled, [("create", 1)]);
    assert_snapshot!(text(&cancelled), @r"
    Resources:
        + 1 created

    Duration: 1.3s
    The operation was cancelled. What was done is kept; the next run goes on from there.
    ");
    let failed = Summary { is_preview: true, ..ended(Outcome::Failed, []) };
    assert_snapshot!(text(&failed), @r"
    Duration: 1.3s
    The preview failed.
    ");
}
