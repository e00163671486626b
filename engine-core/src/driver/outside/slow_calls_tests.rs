use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::{ProviderErrorKind, ProviderHost};
use crate::state::{PendingKind, Session, Snapshot};
use crate::urn::Urn;

use crate::driver::flow_states::RegistrationState;
use crate::driver::tests::testing::{Hanging, Recorder, ScriptedHost, run, run_program, wanted};
use crate::driver::{Engine, ProgramEnd};

use super::Stall;

#[test]
fn a_call_that_hangs_is_told_of_and_more_seldom_later() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.hang("a", "create", Hanging::Sync);
    *host.looks.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = 30;
    let outcome = run(&host, OperationKind::Update, false, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded);
    let told: Vec<_> = outcome.messages.lines().filter(|line| line.starts_with("still waiting")).collect();
    let ages = ["20 s", "40 s", "80 s", "160 s"];
    assert_eq!(told, ages.map(|age| format!("still waiting for create of 'a' ({age})")));
    host.join();
}

#[test]
fn what_stands_still_without_a_call_is_told_with_what_it_waits_for() {
    let (host, events) = (Arc::<ScriptedHost>::default(), Arc::<Recorder>::default());
    let operation = Operation::new(OperationKind::Update, "proj", "dev");
    let session = Session::read_only(Snapshot::default());
    let engine =
        Engine::start(operation, session, Arc::clone(&host) as Arc<dyn ProviderHost>, Arc::clone(&events) as _);
    let flows = Arc::clone(engine.run().all());
    let urn = |name: &str| Urn::unchecked(&format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}"));
    let flow_states = &flows.doors.flow_states;
    let (first, second) = (flow_states.register(urn("a")), flow_states.register(urn("b")));
    first.at(RegistrationState::AwaitingTurn);
    let mut still = Stall::default();
    for _ in 0..9 {
        host.pass(Duration::from_secs(10));
        engine.tell_of_what_stands_still(&mut still);
    }
    drop(second);
    let told: Vec<String> = events.messages().lines().map(str::to_owned).collect();
    let ages = ["20 s", "40 s", "80 s"];
    assert_eq!(told, ages.map(|age| format!("'a' still waits for its turn to be planned ({age}); 1 more waits")));
}

#[test]
fn calls_are_told_when_the_run_is_cancelled_and_their_answers_count() {
    let host = Arc::new(ScriptedHost { obedient: true, ..ScriptedHost::default() });
    host.hang("a", "create", Hanging::Sync);
    let session = Session::read_only(Snapshot::default());
    let operation = Operation::new(OperationKind::Update, "proj", "dev");
    let engine =
        Engine::start(operation, session, Arc::clone(&host) as Arc<dyn ProviderHost>, Arc::new(Recorder::default()));
    let (calling, cancelled) = (Arc::clone(&host), Arc::clone(&engine));
    let user = std::thread::spawn(move || {
        calling.wait_until_held();
        cancelled.cancel();
    });
    let report = block_on(async {
        run_program(&host, &engine, &[wanted("a", "x"), wanted("b", "x")], &mut HashMap::new()).await;
        engine.finish(ProgramEnd::default()).await
    });
    assert!(user.join().is_ok());
    assert_eq!(report.map(|report| report.summary.outcome).ok(), Some(Ended::Cancelled));
    assert_eq!(host.take_calls()[2..], ["a.create", "told to end: 1"]);
    let resources = engine.snapshot().resources;
    assert!(resources.iter().any(|resource| resource.urn.name() == "a" && resource.id == "id-1"));
}

#[test]
fn a_call_that_was_interrupted_stays_pending() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Interrupted);
    let outcome = run(&host, OperationKind::Update, false, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(outcome.pending, [(PendingKind::Creating, "a".to_owned())]);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let outcome = run(&host, OperationKind::Update, false, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(outcome.pending, []);
}
