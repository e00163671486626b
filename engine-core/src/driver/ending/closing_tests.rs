use std::sync::Arc;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;

use crate::driver::tests::testing::{Hanging, Outcome, ScriptedHost, Wanted, run, run_as, wanted};

fn closing() -> Arc<ScriptedHost> {
    Arc::new(ScriptedHost { closes: true, ..ScriptedHost::default() })
}

fn up(host: &Arc<ScriptedHost>, program: &[Wanted]) -> Outcome {
    let mut outcome = run(host, OperationKind::Update, false, Vec::new(), program);
    host.join();
    outcome.calls.extend(host.take_calls());
    outcome
}

fn is_close(call: &str) -> bool {
    call.split_once('.').is_some_and(|(_, method)| method == "close")
}

#[test]
fn each_configured_provider_is_closed_once_behind_all_other_calls() {
    let two = Wanted { object: 2, ..wanted("b", "x") };
    let outcome = up(&closing(), &[wanted("a", "x"), two, wanted("c", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded);
    let mut last = outcome.calls[outcome.calls.len() - 2..].to_vec();
    last.sort();
    assert_eq!(last, ["a.close", "b.close"]);
    assert_eq!(outcome.calls.iter().filter(|call| is_close(call)).count(), 2);
}

#[test]
fn a_provider_without_close_is_not_asked() {
    let outcome = up(&Arc::default(), &[wanted("a", "x")]);
    assert!(!outcome.calls.iter().any(|call| is_close(call)), "{:?}", outcome.calls);
}

#[test]
fn a_provider_whose_configure_failed_is_not_closed() {
    let host = closing();
    host.fail("a", "configure", ProviderErrorKind::Raised);
    let outcome = up(&host, &[wanted("a", "x")]);
    assert_eq!(outcome.calls, ["a.configure"]);
}

#[test]
fn close_comes_after_a_failure_and_in_a_preview() {
    let host = closing();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let outcome = up(&host, &[wanted("a", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert_eq!(outcome.calls.last().map(String::as_str), Some("a.close"));
    let preview = Operation { dry_run: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_as(&closing(), preview, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(outcome.calls.last().map(String::as_str), Some("a.close"));
}

#[test]
fn an_error_of_close_is_a_warning_that_names_the_provider() {
    let host = closing();
    host.fail("a", "close", ProviderErrorKind::Raised);
    let outcome = up(&host, &[wanted("a", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded);
    assert!(outcome.messages.contains("`close` of tests:Provider1 failed"), "{}", outcome.messages);
    assert!(outcome.messages.contains("close of a refused"), "{}", outcome.messages);
}

#[test]
fn a_close_that_hangs_is_given_up() {
    let host = closing();
    host.hang("a", "close", Hanging::Async);
    let outcome = up(&host, &[wanted("a", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded);
    assert!(outcome.messages.contains("`close` of tests:Provider1 took longer than 10s"), "{}", outcome.messages);
    assert_eq!(outcome.calls.last().map(String::as_str), Some("a.close cancelled"));
}
