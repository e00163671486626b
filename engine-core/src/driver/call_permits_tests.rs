use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::{CallLimits, Capabilities, ProviderDescription, ProviderReference, Revision};
use crate::urn::Urn;

use crate::driver::calls::class_permits::PermitsByClass;
use crate::driver::calls::configurations::ObjectConfiguration;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::tests::outside_world::OutsideWorld;
use crate::driver::tests::testing::{ScriptedHost, run, wanted};

fn spaced(seconds: u64) -> CallLimits {
    let min_interval = Duration::from_secs(seconds);
    CallLimits { class: "Provider".to_owned(), max_concurrency: None, min_interval }
}

#[test]
fn calls_of_a_class_are_spaced_whatever_their_objects_and_methods() {
    let host = Arc::new(ScriptedHost { limits: Some(spaced(2)), ..ScriptedHost::default() });
    let mut second = wanted("b", "x");
    second.object = 2;
    let first = run(&host, OperationKind::Update, false, Vec::new(), &[wanted("a", "x"), second]);
    assert_eq!(first.report.summary.outcome, Ended::Succeeded);
    let calls = ["a.configure", "a.check", "a.create", "b.configure", "b.check", "waited 2s", "b.create"];
    assert_eq!(first.calls, calls);
    let gone = run(&host, OperationKind::Update, false, first.resources, &[]);
    assert_eq!(gone.calls.iter().filter(|call| *call == "waited 2s").count(), 1, "{:?}", gone.calls);
}

#[test]
fn check_and_diff_do_not_wait_for_their_class() {
    let host = Arc::new(ScriptedHost { limits: Some(spaced(2)), ..ScriptedHost::default() });
    let program = [wanted("a", "x"), wanted("b", "x")];
    let first = run(&host, OperationKind::Update, false, Vec::new(), &program);
    let again = run(&host, OperationKind::Update, false, first.resources, &program);
    assert!(!again.calls.iter().any(|call| call.starts_with("waited")), "{:?}", again.calls);
}

fn resolved(classes: &PermitsByClass, class: &str, max_concurrency: usize) -> ResolvedProvider {
    let limits =
        CallLimits { class: class.to_owned(), max_concurrency: Some(max_concurrency), ..CallLimits::default() };
    let reference = ProviderReference {
        maloko: 1,
        language: "test".to_owned(),
        module: "tests".to_owned(),
        name: class.to_owned(),
        attributes: None,
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    };
    let description = ProviderDescription {
        reference: Arc::new(reference),
        capabilities: Capabilities { create: true, ..Capabilities::default() },
        autonaming: None,
        limits: Some(limits.clone()),
    };
    let configuration = ObjectConfiguration { number: 0, reference: String::new(), values: None };
    ResolvedProvider::live(1, &description, Some(classes.of(&limits)), Arc::new(configuration))
}

#[test]
fn who_waits_for_its_class_takes_no_turn_from_others() {
    let operation = Operation { parallel: 2, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let permits = Arc::clone(&OutsideWorld::new(operation).flows.doors.call_permits);
    let classes = PermitsByClass::default();
    let (one, same, other) =
        (resolved(&classes, "One", 1), resolved(&classes, "One", 7), resolved(&classes, "Other", 1));
    let urn = Urn::unchecked("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::a");
    let first = permits.call_permit(&urn, &one).now_or_never();
    assert!(matches!(first, Some(Ok(_))));
    assert!(permits.call_permit(&urn, &same).now_or_never().is_none());
    assert!(matches!(permits.call_permit(&urn, &other).now_or_never(), Some(Ok(_))));
    drop(first);
    assert!(matches!(permits.call_permit(&urn, &same).now_or_never(), Some(Ok(_))));
}
