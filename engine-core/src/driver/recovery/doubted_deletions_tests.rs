//! Deletions whose end an earlier run did not learn.

use std::sync::Arc;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::state::{PendingKind, Snapshot};

use crate::driver::tests::scripted::lock;
use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run_from, wanted};

fn operation(kind: OperationKind) -> Operation {
    Operation::new(kind, "proj", "dev")
}

fn program() -> [Wanted; 2] {
    [wanted("a", "x"), Wanted { from: Some("a"), ..wanted("b", "x") }]
}

/// A state in which the deletion of `a` has no end: its process died. `b`, which refers to it, is gone.
fn in_doubt(host: &Arc<ScriptedHost>) -> Snapshot {
    let first = run_from(host, operation(OperationKind::Update), Snapshot::default(), &program());
    host.fail("a", "delete", ProviderErrorKind::Died);
    let broken = run_from(host, operation(OperationKind::Destroy), first.last, &[]);
    lock(&host.faults).clear();
    assert_eq!(doubted(&broken), ["a"], "{}", broken.messages);
    broken.last
}

fn doubted(outcome: &Outcome) -> Vec<&str> {
    assert!(outcome.pending.iter().all(|(kind, _)| *kind == PendingKind::Deleting));
    outcome.pending.iter().map(|(_, name)| name.as_str()).collect()
}

fn calls_of<'a>(outcome: &'a Outcome, name: &str) -> Vec<&'a str> {
    outcome.calls.iter().filter_map(|call| call.strip_prefix(name)?.strip_prefix('.')).collect()
}

#[test]
fn an_object_whose_deletion_is_in_doubt_is_read_before_anything_refers_to_it() {
    let host: Arc<ScriptedHost> = Arc::default();
    let state = in_doubt(&host);
    for dry_run in [true, false] {
        let operation = || Operation { dry_run, ..operation(OperationKind::Update) };
        let found = run_from(&host, operation(), state.clone(), &program());
        assert_eq!(found.report.summary.changes, [("create", 1), ("same", 2)].into(), "{}", found.messages);
        assert!(calls_of(&found, "a").contains(&"read") && !calls_of(&found, "a").contains(&"delete"));
        let told = "interrupted while deleting this object ('id-1'); its provider says that it is still there";
        assert!(found.messages.contains(told), "{}", found.messages);
        assert_eq!(doubted(&found).len(), 0, "{}", found.messages);

        lock(&host.world).insert("a".to_owned(), None);
        let gone = run_from(&host, operation(), state.clone(), &program());
        assert_eq!(gone.report.summary.changes, [("create", 2), ("same", 1)].into(), "{}", gone.messages);
        assert!(!gone.messages.contains("still there"), "{}", gone.messages);
        let place = |call: &str| gone.calls.iter().position(|made| made == call);
        assert!(place("a.read") < place("b.check"), "{:?}", gone.calls);
        assert_eq!(doubted(&gone).len(), 0, "{}", gone.messages);
        lock(&host.world).clear();
    }
}

#[test]
fn what_is_gone_already_is_not_deleted_once_more() {
    let host: Arc<ScriptedHost> = Arc::default();
    let state = in_doubt(&host);
    lock(&host.world).insert("a".to_owned(), None);
    for kind in [OperationKind::Update, OperationKind::Destroy] {
        let done = run_from(&host, operation(kind), state.clone(), &[]);
        assert_eq!(done.report.summary.outcome, Ended::Succeeded, "{}", done.messages);
        assert!(!calls_of(&done, "a").contains(&"delete"), "{:?}", done.calls);
        assert_eq!(doubted(&done).len(), 0);
    }
}

#[test]
fn the_doubt_stays_until_somebody_can_be_asked_or_the_object_answers() {
    let host: Arc<ScriptedHost> = Arc::new(ScriptedHost { without_read: true, ..ScriptedHost::default() });
    let state = in_doubt(&host);
    let again = run_from(&host, operation(OperationKind::Update), state.clone(), &program());
    assert_eq!(doubted(&again), ["a"]);
    let told = "interrupted while deleting, and no provider was asked whether the object is still there: a (id 'id-1')";
    assert!(again.messages.contains(told), "{}", again.messages);
    let left_out = Operation { excludes: vec!["**::a".to_owned()], ..operation(OperationKind::Update) };
    assert_eq!(doubted(&run_from(&Arc::default(), left_out, state.clone(), &program()[..1])), ["a"]);
    let deleted = run_from(&host, operation(OperationKind::Destroy), again.last.clone(), &[]);
    assert_eq!(doubted(&deleted).len(), 0, "{}", deleted.messages);
    let refreshed = run_from(&Arc::default(), operation(OperationKind::Refresh), again.last, &program());
    assert_eq!(doubted(&refreshed).len(), 0, "{}", refreshed.messages);
}
