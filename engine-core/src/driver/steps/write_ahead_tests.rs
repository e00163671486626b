#![expect(clippy::panic, reason = "a host that cannot describe its objects fails the test")]

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{BoxFuture, FutureExt, join_all};

use crate::driver::calls::call_permits::CallPermit;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::tests::scripted::{Hanging, ScriptedHost};
use crate::driver::tests::testing::Recorder;
use crate::operation::{Operation, OperationKind};
use crate::provider::{Method, ProviderError, ProviderErrorKind, ProviderHost};
use crate::resource_state::ResourceState;
use crate::state::{PendingKind, Session, Snapshot, UnresolvedCreate};
use crate::urn::Urn;
use crate::value::PropertyMap;

use super::*;

const PARALLEL: usize = 2;

fn engine(host: &Arc<ScriptedHost>) -> Arc<Engine> {
    engine_of(host, PARALLEL)
}

fn engine_of(host: &Arc<ScriptedHost>, parallel: usize) -> Arc<Engine> {
    let operation = Operation { parallel, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let session = Session::read_only(Snapshot::default());
    Engine::start(operation, session, Arc::clone(host) as Arc<dyn ProviderHost>, Arc::new(Recorder::default()))
}

fn resolved(host: &ScriptedHost) -> ResolvedProvider {
    let description = host.describe(1);
    ResolvedProvider::live(1, &description.unwrap_or_else(|error| panic!("{error}")), None)
}

fn row(number: usize) -> Arc<ResourceState> {
    let urn = Urn::unchecked(&format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::thing-{number}"));
    Arc::new(ResourceState { urn, custom: true, ..ResourceState::default() })
}

/// Creates an object; gives the error of a call that was not made.
fn create<'a>(
    engine: &'a Engine,
    resolved: &'a ResolvedProvider,
    number: usize,
) -> BoxFuture<'a, Option<ProviderError>> {
    async move {
        let row = row(number);
        let call = Journalled {
            resolved,
            kind: PendingKind::Creating,
            row: &row,
            occasion: Occasion { old: None, new: None },
            late: &|_| unreachable!("there is no time limit"),
        };
        let method = Method::Create { inputs: PropertyMap::new(), key: "key".to_owned(), timeout: 0.0 };
        match engine.call_journalled(call, method).await {
            Ok((operation, _)) => {
                engine.run_state().end(operation);
                None
            }
            Err(error) => Some(error),
        }
    }
    .boxed()
}

/// All turns of the run.
fn all_turns<'a>(engine: &'a Engine, resolved: &'a ResolvedProvider) -> Vec<CallPermit<'a>> {
    let urn = &row(0).urn;
    (0..PARALLEL).filter_map(|_| engine.call_permit(urn, resolved).now_or_never()?.ok()).collect()
}

fn intents(engine: &Engine) -> usize {
    engine.final_snapshot().pending.len()
}

/// Begins creates while all turns are taken; gives how many intents are written, then lets the calls be made.
fn intents_while_turns_are_taken(mean: Option<Duration>) -> usize {
    let host: Arc<ScriptedHost> = Arc::default();
    let (engine, resolved) = (engine(&host), resolved(&host));
    if let Some(mean) = mean {
        engine.pace.note(mean);
    }
    let class_permits = all_turns(&engine, &resolved);
    assert_eq!(class_permits.len(), PARALLEL);
    let mut creates = join_all((0..100).map(|number| create(&engine, &resolved, number)));
    assert!((&mut creates).now_or_never().is_none());
    let written = intents(&engine);
    assert!(host.take_calls().is_empty());
    drop(class_permits);
    assert!(block_on(creates).iter().all(Option::is_none));
    assert_eq!(host.take_calls().iter().filter(|call| call.ends_with(".create")).count(), 100);
    written
}

#[test]
fn a_number_of_intents_is_written_ahead_of_quick_calls() {
    assert_eq!(intents_while_turns_are_taken(Some(Duration::from_millis(1))), AHEAD);
}

#[test]
fn an_intent_waits_for_its_turn_where_calls_take_long_or_nobody_knows() {
    assert_eq!(intents_while_turns_are_taken(Some(Duration::from_millis(120))), 0);
    assert_eq!(intents_while_turns_are_taken(None), 0);
}

#[test]
fn more_turns_than_intents_ahead_are_all_taken_at_once() {
    for mean in [Duration::from_millis(1), Duration::from_secs(1)] {
        let host: Arc<ScriptedHost> = Arc::default();
        let (engine, resolved) = (engine_of(&host, 2 * AHEAD), resolved(&host));
        engine.pace.note(mean);
        (0..2 * AHEAD).for_each(|number| host.hang(&format!("thing-{number}"), "create", Hanging::Async));
        let mut creates = join_all((0..2 * AHEAD).map(|number| create(&engine, &resolved, number)));
        assert!((&mut creates).now_or_never().is_none());
        let calls = host.take_calls();
        assert_eq!(calls.iter().filter(|call| call.ends_with(".create")).count(), 2 * AHEAD);
    }
}

#[test]
fn a_run_that_stops_doubts_no_more_than_before_of_a_call_that_was_not_made() {
    let host: Arc<ScriptedHost> = Arc::default();
    let (engine, resolved) = (engine(&host), resolved(&host));
    let suspected = Arc::new(UnresolvedCreate { attempts: 3, ..UnresolvedCreate::begun(&row(1), &attempt(), None) });
    engine.run_state().apply(Change::UnresolvedCreate(Arc::clone(&suspected)));
    engine.pace.note(Duration::ZERO);
    let class_permits = all_turns(&engine, &resolved);
    let mut creates = join_all([0, 1].map(|number| create(&engine, &resolved, number)));
    assert!((&mut creates).now_or_never().is_none());
    assert_eq!(intents(&engine), 2);
    engine.cancel();
    drop(class_permits);
    for error in block_on(creates) {
        assert_eq!(error.map(|error| error.kind), Some(ProviderErrorKind::Cancelled));
    }
    assert_eq!(intents(&engine), 0);
    assert_eq!(engine.final_snapshot().unresolved_creates, [suspected]);
    assert!(host.take_calls().is_empty());
}

fn attempt() -> crate::state::Attempt {
    crate::state::Attempt { key: "key".to_owned(), since: "2026-01-01T00:00:00Z".to_owned() }
}

#[test]
fn later_calls_count_for_more_and_one_after_the_other_nothing_is_written_ahead() {
    let pace = WriteAheadPace::new(PARALLEL);
    pace.note(Duration::from_secs(1));
    assert!(!pace.is_quick());
    (0..40).for_each(|_| pace.note(Duration::from_millis(1)));
    assert!(pace.is_quick());
    pace.note(Duration::from_secs(1));
    assert!(!pace.is_quick());
    let alone = WriteAheadPace::new(1);
    alone.note(Duration::ZERO);
    assert!(!alone.is_quick());
}
