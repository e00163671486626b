//! Failures and what they leave behind (docs/rules 8).

use std::sync::Arc;

use futures::executor::block_on;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::{ProviderErrorKind, ProviderHost};
use crate::resource_state::ResourceState;
use crate::state::{PendingKind, PendingOperation, Session, Snapshot};
use crate::urn::Urn;

use crate::driver::tests::testing::{Outcome, Recorder, ScriptedHost, Wanted, run, run_as, wanted};
use crate::driver::{Engine, ProgramEnd};

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn going_on(
    host: &Arc<ScriptedHost>,
    kind: OperationKind,
    resources: Vec<Arc<ResourceState>>,
    program: &[Wanted],
) -> Outcome {
    run_as(host, Operation { continue_on_error: true, ..Operation::new(kind, "proj", "dev") }, resources, program)
}

fn from(name: &'static str, of: &'static str) -> Wanted {
    Wanted { from: Some(of), ..wanted(name, "x") }
}

fn left(outcome: &Outcome) -> Vec<String> {
    let resources = outcome
        .resources
        .iter()
        .filter(|resource| resource.urn.provider_package().is_none() && !resource.urn.is_root_stack());
    let mut names: Vec<_> = resources.map(|resource| resource.urn.name().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_update_that_fails_keeps_the_old_resource() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    host.fail("a", "update", ProviderErrorKind::Raised);
    let mut changed = wanted("a", "x");
    changed.inputs.insert("size".to_owned(), 2.0.into());
    let second = up(&host, first.resources.clone(), &[changed]);
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert_eq!(second.resource("a"), first.resource("a"));
    // Whether the object was changed is not known.
    assert!(second.report.summary.maybe_corrupt);
}

#[test]
fn nothing_is_deleted_after_a_failure() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("gone", "x")]);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let second = up(&host, first.resources, &[wanted("a", "x")]);
    assert_eq!(left(&second), ["gone"]);
    assert!(!second.calls.contains(&"gone.delete".to_owned()));
}

#[test]
fn what_depends_on_a_failed_resource_is_skipped_at_any_distance() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let child = Wanted { parent: Some("b"), ..wanted("child", "x") };
    let program = [wanted("a", "x"), from("b", "a"), from("c", "b"), child, wanted("d", "x")];
    let outcome = going_on(&host, OperationKind::Update, Vec::new(), &program);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert_eq!(left(&outcome), ["d"]);
}

#[test]
fn a_program_that_fails_deletes_nothing_and_keeps_what_was_made() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("gone", "x")]);
    let recorder = Arc::new(Recorder::default());
    let session = Session::read_only(Snapshot { resources: first.resources, ..Snapshot::default() });
    let operation = Operation::new(OperationKind::Update, "proj", "dev");
    let engine =
        Engine::start(operation, session, Arc::clone(&host) as Arc<dyn ProviderHost>, Arc::clone(&recorder) as _);
    let failed = ProgramEnd { error: Some("it raised".to_owned()), source: None };
    let report = block_on(engine.finish(failed));
    assert!(report.is_ok_and(|report| report.summary.outcome == Ended::Failed));
    assert!(recorder.messages().contains("it raised"));
    assert_eq!(engine.snapshot().resources.iter().filter(|resource| resource.urn.name() == "gone").count(), 1);
}

#[test]
fn what_a_failed_resource_needs_is_not_deleted() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), from("b", "a"), wanted("c", "x")]);
    host.fail("b", "update", ProviderErrorKind::Raised);
    let mut changed = wanted("b", "x");
    changed.inputs.insert("size".to_owned(), 2.0.into());
    changed.inputs.insert("from".to_owned(), "arn:id-1".into());
    let second = going_on(&host, OperationKind::Update, first.resources, &[changed]);
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert_eq!(left(&second), ["a", "b"]);
}

#[test]
fn a_failed_deletion_keeps_what_it_needs() {
    let host: Arc<ScriptedHost> = Arc::default();
    let program = [wanted("a", "x"), from("b", "a"), wanted("c", "x"), from("d", "c")];
    let first = up(&host, Vec::new(), &program);
    host.fail("b", "delete", ProviderErrorKind::Raised);
    let going_on = going_on(&host, OperationKind::Destroy, first.resources.clone(), &[]);
    assert_eq!(left(&going_on), ["a", "b"]);
    let ended = run(&host, OperationKind::Destroy, false, first.resources, &[]);
    assert_eq!(ended.report.summary.outcome, Ended::Failed);
    assert!(left(&ended).contains(&"c".to_owned()));
}

#[test]
fn a_create_without_an_end_stays_until_it_is_cleared() {
    let pending = |name: &str, kind| PendingOperation {
        resource: Arc::new(ResourceState {
            urn: Urn::new("dev", "proj", "", "pulumi-python:dynamic:Thing", name),
            ..ResourceState::default()
        }),
        kind,
    };
    let host: Arc<ScriptedHost> = Arc::default();
    let run = |dry_run, refresh| {
        let all = vec![pending("made", PendingKind::Creating), pending("changed", PendingKind::Updating)];
        let session = Session::read_only(Snapshot { pending: all, ..Snapshot::default() });
        let recorder = Arc::new(Recorder::default());
        let operation = Operation { dry_run, refresh, ..Operation::new(OperationKind::Update, "proj", "dev") };
        let engine =
            Engine::start(operation, session, Arc::clone(&host) as Arc<dyn ProviderHost>, Arc::clone(&recorder) as _);
        assert!(block_on(engine.finish(ProgramEnd::default())).is_ok());
        let left: Vec<_> = engine.snapshot().pending.iter().map(|left| left.resource.urn.name().to_owned()).collect();
        (recorder.messages(), left)
    };
    let (told, left) = run(false, false);
    assert!(told.contains("interrupted while creating") && told.contains("interrupted while updating"), "{told}");
    assert_eq!(left, ["made"]);
    let shown = run(true, false).0;
    assert!(!shown.contains("interrupted while creating") && shown.contains("interrupted while updating"), "{shown}");
    assert!(!run(false, true).0.contains("interrupted while updating"));
}

#[test]
fn without_a_create_nothing_is_begun_and_the_class_is_named() {
    let host: Arc<ScriptedHost> = Arc::new(ScriptedHost { delete_first: true, ..ScriptedHost::default() });
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    for dry_run in [true, false] {
        let host = Arc::new(ScriptedHost { delete_first: true, without_create: true, ..ScriptedHost::default() });
        let replaced = run(&host, OperationKind::Update, dry_run, first.resources.clone(), &[wanted("a", "y")]);
        let made = run(&host, OperationKind::Update, dry_run, Vec::new(), &[wanted("b", "x")]);
        for outcome in [&replaced, &made] {
            assert_eq!(outcome.report.summary.outcome, Ended::Failed);
            assert!(outcome.messages.contains("provider tests:Provider1 has no `create`"), "{}", outcome.messages);
            assert!(outcome.last.unresolved_creates.is_empty() && outcome.last.pending.is_empty());
        }
        assert_eq!(left(&replaced), ["a"]);
        assert!(replaced.calls.iter().all(|call| !call.contains("delete") && !call.contains("create")));
    }
    let host = Arc::new(ScriptedHost { without_create: true, ..ScriptedHost::default() });
    let unchanged = up(&host, first.resources, &[wanted("a", "x")]);
    assert_eq!(unchanged.report.summary.outcome, Ended::Succeeded, "{}", unchanged.messages);
}
