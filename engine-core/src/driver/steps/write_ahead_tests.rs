#![expect(clippy::panic, reason = "a run that does something else than the test expects fails it")]

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, join_all};

use crate::event::Op;
use crate::operation::{Operation, OperationKind};
use crate::plan::Step;
use crate::provider::{
    Capabilities, Method, ProviderDescription, ProviderError, ProviderErrorKind, ProviderReference, Revision,
};
use crate::resource_state::ResourceState;
use crate::state::{PendingKind, UnresolvedCreate};
use crate::urn::Urn;
use crate::value::PropertyMap;

use super::*;
use crate::driver::actions::Action;
use crate::driver::call_permits::CallPermit;
use crate::driver::calls::configurations::ObjectConfiguration;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::flows::Flows;
use crate::driver::outside_calls::Reply;
use crate::driver::steps::call_pace::AHEAD;
use crate::driver::tests::outside_world::OutsideWorld;

const PARALLEL: usize = 2;

fn world(parallel: usize) -> OutsideWorld {
    OutsideWorld::new(Operation { parallel, ..Operation::new(OperationKind::Update, "proj", "dev") })
}

fn resolved() -> ResolvedProvider {
    let reference = ProviderReference {
        maloko: 1,
        language: "python".to_owned(),
        module: "infra".to_owned(),
        name: "Thing".to_owned(),
        attributes: None,
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    };
    let capabilities = Capabilities { create: true, update: true, delete: true, ..Capabilities::default() };
    let description =
        ProviderDescription { reference: Arc::new(reference), capabilities, autonaming: None, limits: None };
    let configuration = ObjectConfiguration { number: 0, reference: String::new(), values: None };
    ResolvedProvider::live(1, &description, None, Arc::new(configuration))
}

fn resource(number: usize) -> Arc<ResourceState> {
    let urn = Urn::unchecked(&format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::thing-{number}"));
    Arc::new(ResourceState { urn, custom: true, ..ResourceState::default() })
}

/// Creates an object; gives the error of a call that was not made.
fn create<'a>(
    flows: &'a Flows,
    calls: &'a JournalledCalls,
    resolved: &'a ResolvedProvider,
    number: usize,
) -> BoxFuture<'a, Option<ProviderError>> {
    let method = Method::Create { inputs: PropertyMap::new(), key: "key".to_owned(), timeout: 0.0 };
    make_call(flows, calls, resolved, number, PendingKind::Creating, method)
}

fn make_call<'a>(
    flows: &'a Flows,
    calls: &'a JournalledCalls,
    resolved: &'a ResolvedProvider,
    number: usize,
    kind: PendingKind,
    method: Method,
) -> BoxFuture<'a, Option<ProviderError>> {
    async move {
        let resource = resource(number);
        let call = JournalledCall {
            for_plugin: None,
            resolved,
            kind,
            resource: &resource,
            occasion: Occasion { old: None, new: None },
            late: &|operation| LateOutcome::Deletion {
                step: Step::new(Op::Delete, &resource.urn, None, None),
                number: 0,
                operation,
            },
        };
        match calls.call_journalled(call, method).await {
            Ok((operation, _)) => {
                flows.doors.journal.end(operation);
                None
            }
            Err(error) => Some(error),
        }
    }
    .boxed()
}

/// All turns of the run.
fn all_turns(flows: &Flows, resolved: &ResolvedProvider) -> Vec<CallPermit> {
    let urn = &resource(0).urn;
    (0..PARALLEL).filter_map(|_| flows.doors.call_permits.call_permit(urn, resolved).now_or_never()?.ok()).collect()
}

fn intents(flows: &Flows) -> usize {
    flows.finish.final_snapshot().pending.len()
}

/// Begins creates while all turns are taken; gives how many intents are written, then lets the calls be made.
fn intents_while_turns_are_taken(mean: Option<Duration>) -> usize {
    let (mut world, resolved) = (world(PARALLEL), resolved());
    let flows = Arc::clone(&world.flows);
    let calls = JournalledCalls::new(&flows.doors, &flows.late_answers);
    if let Some(mean) = mean {
        calls.pace.note(mean);
    }
    let turns = all_turns(&flows, &resolved);
    assert_eq!(turns.len(), PARALLEL);
    let mut creates = join_all((0..100).map(|number| create(&flows, &calls, &resolved, number)));
    assert!(world.go_on(&mut creates).is_none());
    let written = intents(&flows);
    assert!(world.calls.is_empty());
    drop(turns);
    let mut made = 0;
    let ended = loop {
        if let Some(ended) = world.go_on(&mut creates) {
            break ended;
        }
        assert!((1..=PARALLEL).contains(&world.calls.len()), "{} calls at a time", world.calls.len());
        made += world.calls.len();
        world.answer_creates();
    };
    assert!(ended.iter().all(Option::is_none));
    assert_eq!(made, 100);
    written
}

#[test]
fn no_object_is_made_changed_or_deleted_before_the_intent_is_durable() {
    let (id, timeout) = ("id".to_owned(), 0.0);
    let bag = PropertyMap::new;
    for (kind, method) in [
        (PendingKind::Creating, Method::Create { inputs: bag(), key: "key".to_owned(), timeout }),
        (PendingKind::Updating, Method::Update { id: id.clone(), olds: bag(), news: bag(), timeout }),
        (PendingKind::Deleting, Method::Delete { id, props: bag(), timeout }),
    ] {
        let (mut world, resolved) = (world(PARALLEL), resolved());
        let flows = Arc::clone(&world.flows);
        let calls = JournalledCalls::new(&flows.doors, &flows.late_answers);
        let mut call = make_call(&flows, &calls, &resolved, 0, kind, method);
        assert!((&mut call).now_or_never().is_none());
        let actions = flows.doors.exchange.take_actions();
        assert!(!actions.iter().any(|action| matches!(action, Action::Do { .. })), "{kind:?}");
        let intent = actions.iter().find_map(|action| match action {
            Action::Append { changes, awaited: Some((_, wait_id)), .. } => Some((&changes[..], *wait_id)),
            _ => None,
        });
        let Some(([Change::Begin { pending, .. }], wait_id)) = intent else {
            panic!("{kind:?}: the intent is recorded")
        };
        assert_eq!(pending.kind, kind);
        flows.doors.exchange.deliver(wait_id, Reply::Durable(Ok(())));
        assert!(world.go_on(&mut call).is_none());
        assert_eq!(world.calls.len(), 1, "{kind:?}");
    }
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
        let (mut world, resolved) = (world(2 * AHEAD), resolved());
        let flows = Arc::clone(&world.flows);
        let calls = JournalledCalls::new(&flows.doors, &flows.late_answers);
        calls.pace.note(mean);
        let mut creates = join_all((0..2 * AHEAD).map(|number| create(&flows, &calls, &resolved, number)));
        assert!(world.go_on(&mut creates).is_none());
        assert_eq!(world.calls.len(), 2 * AHEAD);
    }
}

#[test]
fn a_run_that_stops_doubts_no_more_than_before_of_a_call_that_was_not_made() {
    let (mut world, resolved) = (world(PARALLEL), resolved());
    let flows = Arc::clone(&world.flows);
    let calls = JournalledCalls::new(&flows.doors, &flows.late_answers);
    let suspected =
        Arc::new(UnresolvedCreate { attempts: 3, ..UnresolvedCreate::begun(&resource(1), &attempt(), None) });
    flows.doors.journal.unresolved(Arc::clone(&suspected));
    calls.pace.note(Duration::ZERO);
    let turns = all_turns(&flows, &resolved);
    let mut creates = join_all([0, 1].map(|number| create(&flows, &calls, &resolved, number)));
    assert!(world.go_on(&mut creates).is_none());
    assert_eq!(intents(&flows), 2);
    flows.doors.stop.cancel();
    drop(turns);
    let errors = world.go_on(&mut creates).unwrap_or_default();
    let kinds: Vec<_> = errors.into_iter().flatten().map(|error| error.kind).collect();
    assert_eq!(kinds, [ProviderErrorKind::Cancelled, ProviderErrorKind::Cancelled]);
    assert_eq!(intents(&flows), 0);
    assert_eq!(flows.finish.final_snapshot().unresolved_creates, [suspected]);
    assert!(world.calls.is_empty());
}

fn attempt() -> crate::state::Attempt {
    crate::state::Attempt { key: "key".to_owned(), since: "2026-01-01T00:00:00Z".to_owned() }
}
