use std::sync::Arc;

use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::resource_state::ResourceState;

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run, run_as, wanted};

fn counted(outcome: &Outcome) -> (u64, u64, u64) {
    let progress = &outcome.progress;
    assert_eq!(progress.done, outcome.report.summary.changes.values().sum::<u64>(), "done is what the summary counts");
    assert!(progress.slowest.is_empty(), "no call goes on");
    (progress.done, progress.total, progress.failed)
}

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

#[test]
fn an_update_knows_what_was_registered_and_what_it_deletes() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), wanted("b", "x")]);
    assert_eq!(counted(&first), (3, 3, 0));
    // One is replaced, which is a step in the eyes of a user, and one goes.
    let second = up(&host, first.resources, &[wanted("a", "y")]);
    assert_eq!(counted(&second), (3, 3, 0));
}

#[test]
fn a_refresh_and_a_destroy_know_the_state() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), wanted("b", "x")]);
    let refreshed = run(&host, OperationKind::Refresh, false, first.resources, &[]);
    assert_eq!(counted(&refreshed), (3, 3, 0));
    let destroyed = run(&host, OperationKind::Destroy, false, refreshed.resources, &[]);
    assert_eq!(counted(&destroyed), (3, 3, 0));
}

#[test]
fn what_failed_is_counted_and_is_not_done() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let operation = Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_as(&host, operation, Vec::new(), &[wanted("a", "x"), wanted("b", "x")]);
    assert_eq!(counted(&outcome), (2, 3, 1));
}
