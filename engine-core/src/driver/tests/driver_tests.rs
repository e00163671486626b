//! Runs of the driver over a scripted host.

use std::sync::Arc;

use futures::executor::block_on;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::{ProviderErrorKind, ProviderHost};
use crate::resource_state::ResourceState;
use crate::state::{Session, Snapshot};
use crate::value::Value;

use crate::driver::tests::testing::{Outcome, Recorder, ScriptedHost, Wanted, run, run_as, wanted};
use crate::driver::{Engine, ProgramEnd};

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn names(resources: &[Arc<ResourceState>]) -> Vec<String> {
    resources
        .iter()
        .filter(|resource| resource.urn.provider_package().is_none() && !resource.urn.is_root_stack())
        .map(|resource| {
            format!("{}={}{}", resource.urn.name(), resource.id, if resource.delete { " (delete)" } else { "" })
        })
        .collect()
}

fn chain(zone: &str) -> Vec<Wanted> {
    vec![wanted("a", zone), Wanted { from: Some("a"), ..wanted("b", "fixed") }]
}

#[test]
fn a_resource_is_created_kept_updated_and_deleted() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(first.steps, ["create proj-dev", "create a"]);
    assert_eq!(first.calls, ["a.configure", "a.check", "a.create"]);
    assert_eq!(names(&first.resources), ["a=id-1"]);

    let second = up(&host, first.resources, &[wanted("a", "x")]);
    assert_eq!(second.steps, ["same proj-dev", "same a"]);
    assert_eq!(second.calls, ["a.configure", "a.check", "a.diff"]);

    let mut changed = wanted("a", "x");
    changed.inputs.insert("size".to_owned(), Value::Number(2.0));
    let third = up(&host, second.resources, &[changed]);
    assert_eq!(third.steps, ["same proj-dev", "update a"]);
    assert_eq!(third.report.summary.changes, [("same", 1), ("update", 1)].into());

    let fourth = up(&host, third.resources, &[]);
    assert_eq!(fourth.steps, ["same proj-dev", "delete a"]);
    assert_eq!(fourth.calls, ["a.configure", "a.delete"]);
    assert_eq!(names(&fourth.resources), Vec::<String>::new());
}

#[test]
fn a_replacement_is_made_before_the_old_object_goes() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &chain("x"));
    let second = up(&host, first.resources, &chain("y"));
    assert_eq!(
        second.steps,
        [
            "same proj-dev",
            "create-replacement a",
            "replace a",
            "create-replacement b",
            "replace b",
            "delete-replaced b",
            "delete-replaced a"
        ]
    );
    assert_eq!(names(&second.resources), ["a=id-3", "b=id-4"]);
}

#[test]
fn delete_before_replace_takes_dependents_first() {
    let host = Arc::new(ScriptedHost { delete_first: true, ..ScriptedHost::default() });
    let first = up(&host, Vec::new(), &chain("x"));
    let second = up(&host, first.resources, &chain("y"));
    assert_eq!(
        second.steps,
        [
            "same proj-dev",
            "delete-replaced b",
            "delete-replaced a",
            "replace a",
            "create-replacement a",
            "replace b",
            "create-replacement b"
        ]
    );
    assert_eq!(second.report.summary.changes, [("replace", 2), ("same", 1)].into());
    assert_eq!(names(&second.resources), ["a=id-3", "b=id-4"]);
}

#[test]
fn a_failed_delete_of_the_old_object_is_tried_again() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    host.fail("a", "delete", ProviderErrorKind::Raised);
    let second = up(&host, first.resources, &[wanted("a", "y")]);
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert_eq!(names(&second.resources), ["a=id-2", "a=id-1 (delete)"]);
    let healed = Arc::default();
    let third = up(&healed, second.resources, &[wanted("a", "y")]);
    assert_eq!(third.steps, ["same proj-dev", "same a", "delete-replaced a"]);
    assert_eq!(names(&third.resources), ["a=id-2"]);
}

#[test]
fn a_failed_create_keeps_what_was_done_and_begins_nothing_more() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("b", "create", ProviderErrorKind::Raised);
    let first = up(&host, Vec::new(), &[wanted("a", "x"), wanted("b", "x"), wanted("c", "x")]);
    assert_eq!(first.steps, ["create proj-dev", "create a", "create b", "create b failed"]);
    assert!(first.messages.contains("create of b refused"), "{}", first.messages);
    assert_eq!(names(&first.resources), ["a=id-1"]);
    assert!(first.report.error.is_some_and(|error| error.contains("::b")));
}

#[test]
fn an_object_that_did_not_start_is_kept_and_updated_next_time() {
    let host: Arc<ScriptedHost> = Arc::default();
    let reasons = vec!["no power".to_owned()];
    let kind = ProviderErrorKind::NotInitialized {
        id: "id-9".into(),
        properties: crate::PropertyMap::new(),
        reasons,
        inputs: None,
        read_first: false,
    };
    host.fail("a", "create", kind);
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(names(&first.resources), ["a=id-9"]);
    assert!(first.messages.contains("no power"));
    let second = up(&Arc::default(), first.resources, &[wanted("a", "x")]);
    assert_eq!(second.report.summary.outcome, Ended::Succeeded);
    assert!(second.resources.iter().all(|resource| resource.init_errors.is_empty()));
}

#[test]
fn reasons_are_kept_without_the_secrets_in_them() {
    let host: Arc<ScriptedHost> = Arc::default();
    let reasons = vec!["token hush-hush-1 of hush-hush-2".to_owned()];
    let properties = [("made".to_owned(), Value::secret("hush-hush-2".into()))].into();
    host.fail(
        "a",
        "create",
        ProviderErrorKind::NotInitialized { id: "id-9".into(), properties, reasons, inputs: None, read_first: false },
    );
    let mut resource = wanted("a", "x");
    resource.inputs.insert("token".to_owned(), Value::secret("hush-hush-1".into()));
    let run = up(&host, Vec::new(), &[resource]);
    assert_eq!(run.resource("a").init_errors, ["token [secret] of [secret]"]);
}

#[test]
fn an_object_whose_outputs_cannot_be_kept_is_kept_and_updated_next_time() {
    let host: Arc<ScriptedHost> = Arc::default();
    let properties = crate::PropertyMap::from([("size".to_owned(), 3.0.into())]);
    host.fail("a", "create", ProviderErrorKind::UnusableOutputs { id: "id-9".into(), properties });
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(first.report.summary.outcome, Ended::Failed);
    assert_eq!(names(&first.resources), ["a=id-9"]);
    assert!(first.messages.contains("is kept in the state with its id 'id-9'"), "{}", first.messages);
    let second = up(&host, first.resources, &[wanted("a", "x")]);
    assert_eq!(second.steps, ["same proj-dev", "update a"]);
    assert_eq!(names(&second.resources), ["a=id-9"]);
}

#[test]
fn failed_checks_are_all_told_and_stop_the_run() {
    let host: Arc<ScriptedHost> = Arc::default();
    let mut bad = wanted("a", "x");
    bad.inputs.insert("bad".to_owned(), true.into());
    let outcome = up(&host, Vec::new(), &[bad]);
    assert_eq!(outcome.steps, ["create proj-dev"]);
    assert!(outcome.messages.contains("property bad is not valid: must not be set"), "{}", outcome.messages);
}

#[test]
fn two_resources_of_one_urn_are_refused() {
    let outcome = up(&Arc::default(), Vec::new(), &[wanted("a", "x"), wanted("a", "y")]);
    assert!(outcome.messages.contains("Duplicate resource URN"), "{}", outcome.messages);
    assert_eq!(names(&outcome.resources), ["a=id-1"]);
}

#[test]
fn a_protected_resource_stays_and_so_does_what_it_needs() {
    let host = Arc::default();
    let program = [wanted("a", "x"), Wanted { from: Some("a"), protect: true, ..wanted("b", "x") }, wanted("c", "x")];
    let first = up(&host, Vec::new(), &program);
    let second = up(&host, first.resources, &[]);
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert!(second.messages.contains("protected"));
    let mut left = names(&second.resources);
    left.sort();
    assert_eq!(left, ["a=id-1", "b=id-2"]);
}

#[test]
fn a_preview_changes_nothing_and_keeps_stable_outputs_known() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &chain("x"));
    let mut changed = chain("x");
    changed[0].inputs.insert("size".to_owned(), Value::Number(2.0));
    let preview = run(&host, OperationKind::Update, true, first.resources.clone(), &changed);
    // `arn` is stable, so that `b`, which takes it, is known not to change.
    assert_eq!(preview.steps, ["same proj-dev", "update a", "same b"]);
    assert_eq!(preview.calls, ["a.configure", "a.check", "a.diff", "b.check", "b.diff"]);
}

#[test]
fn destroy_goes_from_dependents_to_what_they_need_with_todays_objects() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &chain("x"));
    let destroyed = run(&host, OperationKind::Destroy, false, first.resources.clone(), &chain("x"));
    assert_eq!(destroyed.steps, ["delete b", "delete a", "delete proj-dev"]);
    assert_eq!(destroyed.calls, ["b.configure", "b.delete", "a.delete"]);
    assert!(destroyed.resources.is_empty());

    // Without the program the stored references lead to the objects.
    let without = run(&host, OperationKind::Destroy, false, first.resources, &[]);
    assert!(without.resources.is_empty());
}

#[test]
fn a_refresh_stores_what_read_says() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &chain("x"));
    let refreshed = run(&host, OperationKind::Refresh, false, first.resources, &chain("x"));
    assert!(refreshed.calls.contains(&"a.read".to_owned()) && refreshed.calls.contains(&"b.read".to_owned()));
    assert_eq!(refreshed.report.summary.outcome, Ended::Succeeded);
    assert_eq!(names(&refreshed.resources), ["a=id-1", "b=id-2"]);
}

#[test]
fn equal_references_share_one_configured_object() {
    let host = Arc::default();
    let program: Vec<Wanted> =
        ["a", "b", "c"].into_iter().zip([1, 1, 2]).map(|(n, object)| Wanted { object, ..wanted(n, "x") }).collect();
    let first = up(&host, Vec::new(), &program);
    let configured: Vec<_> = first.calls.iter().filter(|call| call.ends_with("configure")).collect();
    assert_eq!(configured, ["a.configure", "c.configure"]);
}

fn targeting(kind: OperationKind, targets: &[&str], dependents: bool) -> Operation {
    let urn = |name: &&str| format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}");
    Operation {
        targets: targets.iter().map(urn).collect(),
        target_dependents: dependents,
        ..Operation::new(kind, "proj", "dev")
    }
}

#[test]
fn only_targets_change_and_new_ones_beside_them_are_left_out() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &chain("x"));
    let mut program = chain("x");
    program.push(wanted("c", "x"));
    for resource in &mut program {
        resource.inputs.insert("size".to_owned(), Value::Number(2.0));
    }
    let second = run_as(&host, targeting(OperationKind::Update, &["b"], false), first.resources, &program);
    assert_eq!(second.steps, ["same proj-dev", "same a", "update b", "same c"]);
    assert_eq!(second.report.summary.changes, [("same", 3), ("update", 1)].into());
    assert_eq!(names(&second.resources), ["a=id-1", "b=id-2"]);
}

#[test]
fn a_target_is_not_deleted_before_what_depends_on_it() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &chain("x"));
    let refused = run_as(&host, targeting(OperationKind::Destroy, &["a"], false), first.resources.clone(), &chain("x"));
    assert_eq!(refused.report.summary.outcome, Ended::Failed);
    assert!(refused.messages.contains("--target-dependents"), "{}", refused.messages);
    assert_eq!(names(&refused.resources), ["a=id-1", "b=id-2"]);
    let done = run_as(&host, targeting(OperationKind::Destroy, &["a"], true), first.resources, &chain("x"));
    assert_eq!(done.steps, ["same proj-dev", "delete b", "delete a"]);
}

#[test]
fn an_unknown_target_is_refused_by_name() {
    let host = Arc::default();
    let outcome = run_as(&host, targeting(OperationKind::Update, &["nobody"], false), Vec::new(), &[]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert!(outcome.messages.contains("::nobody"), "{}", outcome.messages);
}

#[test]
fn with_continue_on_error_only_dependents_are_left_out() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let operation = Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let mut program = chain("x");
    program.push(wanted("c", "x"));
    let outcome = run_as(&host, operation, Vec::new(), &program);
    assert_eq!(outcome.steps, ["create proj-dev", "create a", "create a failed", "create c"]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
}

#[test]
fn a_run_whose_program_ends_while_it_is_told_to_stop_was_cancelled() {
    let (host, recorder): (Arc<ScriptedHost>, Arc<Recorder>) = Default::default();
    let operation = Operation::new(OperationKind::Update, "proj", "dev");
    let session = Session::read_only(Snapshot::default());
    let engine = Engine::start(operation, session, host as Arc<dyn ProviderHost>, recorder as _);
    engine.hold();
    let report = block_on(engine.finish(ProgramEnd::default()));
    assert_eq!(report.map(|report| report.summary.outcome).ok(), Some(Ended::Cancelled));
}
