#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::resource_state::ResourceState;
use crate::state::PendingKind;
use crate::wire::WireTimeouts;

use crate::driver::tests::testing::{Hanging, Outcome, ScriptedHost, Wanted, run, run_as, wanted};

fn limited(resource: Wanted) -> Wanted {
    let options = |request: &mut crate::wire::RegisterResourceRequest| {
        let (create, update, delete) = ("1m30s".to_owned(), "250ms".to_owned(), "5s".to_owned());
        request.custom_timeouts = Some(WireTimeouts { create, update, delete, read: String::new() });
    };
    Wanted { options: Some(Arc::new(options)), ..resource }
}

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    let mut outcome = run(host, OperationKind::Update, false, resources, program);
    // What was given up may come to its end after the run.
    host.join();
    outcome.calls.extend(host.take_calls());
    outcome
}

fn going_on() -> Operation {
    Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") }
}

fn made(outcome: &Outcome) -> Vec<&str> {
    let things = outcome.resources.iter().filter(|resource| resource.kind.contains(":dynamic:"));
    things.map(|resource| resource.urn.name()).collect()
}

#[test]
fn a_call_within_its_limit_is_made_as_any_other() {
    let outcome = up(&Arc::default(), Vec::new(), &[limited(wanted("a", "x"))]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded);
    assert_eq!(outcome.calls, ["a.configure", "a.check", "a.create"]);
}

#[test]
fn a_call_that_takes_too_long_is_cancelled_and_stays_pending() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.hang("a", "create", Hanging::Async);
    let outcome = up(&host, Vec::new(), &[limited(wanted("a", "x")), wanted("b", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    let error = "create of 'a' took longer than the 90s that the option 'customTimeouts' gives it";
    assert!(outcome.messages.contains(error), "{}", outcome.messages);
    assert_eq!(outcome.calls[2..], ["a.create", "a.create cancelled"]);
    assert_eq!(outcome.pending, [(PendingKind::Creating, "a".to_owned())]);
    assert!(made(&outcome).is_empty());
}

#[test]
fn what_a_call_returns_when_it_is_told_to_end_is_recorded() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.hang("a", "create", Hanging::UntilTold);
    let outcome = up(&host, Vec::new(), &[limited(wanted("a", "x"))]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert!(outcome.messages.contains("what it returned is recorded"), "{}", outcome.messages);
    assert_eq!((made(&outcome), outcome.pending.len(), outcome.last.unresolved_creates.len()), (vec!["a"], 0, 0));
    // It may not be what was wanted, so the next run updates it.
    let host: Arc<ScriptedHost> = Arc::default();
    let next = up(&host, outcome.resources, &[limited(wanted("a", "x"))]);
    assert_eq!(next.report.summary.outcome, Ended::Succeeded);
    assert!(next.calls.contains(&"a.update".to_owned()), "{:?}", next.calls);
}

#[test]
fn a_late_answer_of_an_abandoned_create_is_kept() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.hang("a", "create", Hanging::Sync);
    let outcome = run_as(&host, going_on(), Vec::new(), &[limited(wanted("a", "x")), wanted("releasing", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert_eq!(made(&outcome), ["a", "releasing"]);
    assert!(outcome.pending.is_empty());
    assert!(outcome.messages.contains("it ended after its time limit: the object has the id 'id-1'"));
}

#[test]
fn an_update_and_a_delete_have_limits_of_their_own() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[limited(wanted("a", "x"))]);
    host.hang("a", "update", Hanging::Async);
    host.hang("a", "delete", Hanging::Async);
    let mut changed = limited(wanted("a", "x"));
    changed.inputs.insert("size".to_owned(), 2.0.into());
    let updated = up(&host, first.resources.clone(), &[changed]);
    assert!(updated.messages.contains("update of 'a' took longer than the 250ms"), "{}", updated.messages);
    assert_eq!(updated.pending, [(PendingKind::Updating, "a".to_owned())]);
    let deleted = up(&host, first.resources, &[]);
    assert!(deleted.messages.contains("delete of 'a' took longer than the 5s"), "{}", deleted.messages);
    assert_eq!(deleted.pending, [(PendingKind::Deleting, "a".to_owned())]);
    assert_eq!(made(&deleted), ["a"]);
}

#[test]
fn a_late_answer_of_an_abandoned_delete_is_kept() {
    let host: Arc<ScriptedHost> = Arc::default();
    let mut cascading = limited(wanted("a", "x"));
    let first = up(&host, Vec::new(), &[cascading.clone()]);
    host.hang("a", "delete", Hanging::Sync);
    cascading.inputs = wanted("a", "y").inputs;
    let options = cascading.options.take();
    cascading.options = Some(Arc::new(move |request| {
        if let Some(options) = &options {
            options(request);
        }
        request.delete_before_replace = true;
    }));
    let outcome = run_as(&host, going_on(), first.resources, &[cascading, wanted("releasing", "x")]);
    assert!(outcome.messages.contains("delete ended after its time limit: the object is gone"), "{}", outcome.messages);
    assert!(outcome.pending.is_empty());
}

fn with_call_limit(limit: &str) -> Operation {
    let value = crate::config_value::ConfigValue { value: limit.to_owned(), secret: false };
    let config = [("maloko:callLimit".to_owned(), value)].into_iter().collect();
    Operation { config: Arc::new(config), ..Operation::new(OperationKind::Update, "proj", "dev") }
}

#[test]
fn the_configured_limit_is_for_methods_that_no_option_limits() {
    // Time passes for every call that has a limit: `configure` would be given up before `check` is reached.
    let host = Arc::new(ScriptedHost { unconfigured: true, ..ScriptedHost::default() });
    host.hang("a", "check", Hanging::Async);
    let outcome = run_as(&host, with_call_limit("2m"), Vec::new(), &[wanted("a", "x")]);
    host.join();
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    let error = "check of 'a' took longer than the 120s that the configuration 'maloko:callLimit' gives it";
    assert!(outcome.messages.contains(error), "{}", outcome.messages);
    assert!(outcome.pending.is_empty());
}

#[test]
fn a_limit_that_is_no_duration_stops_the_run_before_it_begins() {
    let outcome = run_as(&Arc::default(), with_call_limit("soon"), Vec::new(), &[wanted("a", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert!(outcome.messages.contains("'maloko:callLimit' is 'soon', which is not a duration"), "{}", outcome.messages);
    assert!(outcome.calls.is_empty());
}

#[test]
fn errors_of_any_length_are_told_in_a_length_that_can_be_read() {
    use crate::provider::{ProviderError, ProviderErrorKind};
    let long = "\u{e9}".repeat(1_000_000);
    let kind = ProviderErrorKind::NotInitialized {
        id: "x".to_owned(),
        properties: crate::PropertyMap::new(),
        reasons: vec!["\u{e9}".repeat(20_000); 1000],
        inputs: None,
        read_first: false,
    };
    let error = ProviderError { traceback: long.clone(), ..ProviderError::new(kind, long) }.bounded();
    assert!(error.message.len() < 20_000 && error.message.ends_with("(cut: 2000000 bytes in all)"));
    assert!(error.traceback.len() < 70_000);
    let ProviderErrorKind::NotInitialized { reasons, .. } = error.kind else { panic!("another kind") };
    assert_eq!(reasons.len(), 101);
    assert_eq!(reasons[100], "and 900 more reasons");
}
