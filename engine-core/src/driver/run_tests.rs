//! A run by itself: no thread, no disk and no host; inputs go in, and actions come out.
#![expect(clippy::panic, reason = "a run that wants something else than the test expects fails it")]

use std::sync::Arc;

use prost::Message;

use crate::event::Event;
use crate::operation::{Operation, OperationKind};
use crate::provider::{
    Answer, Capabilities, HANDLE_PREFIX, Method, ProviderDescription, ProviderError, ProviderErrorKind,
    ProviderReference, Revision,
};
use crate::state::{Change, Snapshot};
use crate::urn::STACK_TYPE;
use crate::value::{PROVIDER_KEY, PropertyMap, Value};
use crate::wire::{Accepts, Callback, RegisterResourceRequest, TransformResponse, encode_properties};

use super::*;
use crate::driver::ProgramEnd;
use crate::driver::actions::{Request, WaitId};
use crate::driver::doors::{Doors, RunStart};
use crate::driver::outside_calls::{AnyOutsideCall, Call, Describe, Reply};
use crate::driver::tests::outside_world::moment;

struct Alone(Run);

impl Alone {
    fn new() -> Self {
        Self::with_ids(Arc::new(|| "random".to_owned()))
    }

    fn with_ids(new_id: Arc<dyn Fn() -> String + Send + Sync>) -> Self {
        let doors = Doors::new(RunStart {
            operation: Arc::new(Operation::new(OperationKind::Update, "proj", "dev")),
            base: Arc::new(Snapshot::default()),
            crypter: None,
            moment: moment(),
            new_id,
        });
        let mut alone = Self(Run::new(Arc::new(Flows::new(doors))));
        alone.take(Input::Begin);
        let stack = RegisterResourceRequest {
            r#type: STACK_TYPE.to_owned(),
            name: "proj-dev".to_owned(),
            ..RegisterResourceRequest::default()
        };
        let (_, actions) = alone.ask(registration(&stack));
        assert!(actions.iter().any(|action| matches!(action, Action::Answer(..))));
        alone
    }

    fn take(&mut self, input: Input) -> Vec<Action> {
        self.0.take(moment(), input)
    }

    fn ask(&mut self, request: Request) -> (FlowId, Vec<Action>) {
        let flow = self.0.new_flow();
        (flow, self.take(Input::Request(flow, request)))
    }

    /// Each record that somebody waits for becomes durable, also those that come of that; gives all other actions.
    fn make_durable(&mut self, mut actions: Vec<Action>) -> Vec<Action> {
        let mut others = Vec::new();
        while let Some(action) = actions.pop() {
            match action {
                Action::Append { awaited: Some((_, wait_id)), .. } => {
                    actions.extend(self.take(Input::Done(wait_id, Reply::Durable(Ok(())))));
                }
                other => others.push(other),
            }
        }
        others
    }

    /// Registers a resource up to the record of its create; gives that record's number.
    fn begin_create(&mut self) -> (FlowId, WaitId) {
        let (flow, actions) = self.ask(resource());
        let (wait_id, call) = only_call(actions);
        assert!(matches!(call, AnyOutsideCall::Describe(Describe(1))));
        (flow, only_append(&self.take(Input::Done(wait_id, Reply::Describe(Ok(description()))))))
    }
}

fn registration(request: &RegisterResourceRequest) -> Request {
    Request::Rpc { method: "RegisterResource".to_owned(), request: request.encode_to_vec() }
}

fn resource() -> Request {
    let handle = Value::secret(Value::String(format!("{HANDLE_PREFIX}1")));
    let inputs = PropertyMap::from([(PROVIDER_KEY.to_owned(), handle)]);
    registration(&RegisterResourceRequest {
        r#type: "pulumi-python:dynamic:Thing".to_owned(),
        name: "thing".to_owned(),
        custom: true,
        object: Some(encode_properties(&inputs, Accepts { secrets: true, resources: true })),
        ..RegisterResourceRequest::default()
    })
}

fn description() -> ProviderDescription {
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
    let capabilities = Capabilities { create: true, ..Capabilities::default() };
    ProviderDescription { reference: Arc::new(reference), capabilities, autonaming: None, limits: None }
}

fn only_call(actions: Vec<Action>) -> (WaitId, AnyOutsideCall) {
    let mut calls = actions.into_iter().filter_map(|action| match action {
        Action::Do { wait_id, call, .. } => Some((wait_id, call)),
        _ => None,
    });
    match (calls.next(), calls.next()) {
        (Some(call), None) => call,
        _ => panic!("one thing is to be done"),
    }
}

/// The number of the only record that somebody waits for; it holds the beginning of a call.
fn only_append(actions: &[Action]) -> WaitId {
    let mut wait_ids = Vec::new();
    for action in actions {
        match action {
            Action::Append { changes, awaited: Some((_, wait_id)), .. } => {
                assert!(changes.iter().any(|change| matches!(change, Change::Begin { .. })));
                wait_ids.push(*wait_id);
            }
            Action::Do { call: AnyOutsideCall::Call(_), .. } => {
                panic!("a provider is called before its record is durable")
            }
            _ => {}
        }
    }
    assert_eq!(wait_ids.len(), 1);
    wait_ids[0]
}

fn created() -> Reply {
    Reply::Call(Ok(Answer::created("i-1", PropertyMap::new())))
}

fn is_told(actions: &[Action], told: impl Fn(&Event) -> bool) -> bool {
    actions.iter().any(|action| matches!(action, Action::Emit(event) if told(event)))
}

#[test]
fn a_provider_is_called_when_the_record_of_it_is_durable_and_the_step_is_done_when_that_of_its_outcome_is() {
    let mut run = Alone::new();
    let (flow, intent) = run.begin_create();
    let (wait_id, call) = only_call(run.take(Input::Done(intent, Reply::Durable(Ok(())))));
    assert!(matches!(call, AnyOutsideCall::Call(Call(1, call)) if matches!(call.method, Method::Create { .. })));
    let actions = run.take(Input::Done(wait_id, created()));
    // The program goes on at once; who watches is told when it is on the disk.
    assert!(actions.iter().any(|action| matches!(action, Action::Answer(answered, _) if *answered == flow)));
    assert!(!is_told(&actions, |event| matches!(event, Event::StepDone(_))));
    let outcome = actions.iter().find_map(|action| match action {
        Action::Append { awaited: Some((reporting, wait_id)), .. } => Some((*reporting, *wait_id)),
        _ => None,
    });
    let Some((reporting, wait_id)) = outcome else { panic!("the outcome is recorded") };
    assert!(actions.iter().any(|action| matches!(action, Action::Drive(flow) if *flow == reporting)));
    let actions = run.take(Input::Done(wait_id, Reply::Durable(Ok(()))));
    assert!(is_told(&actions, |event| matches!(event, Event::StepDone(step) if step.urn.name() == "thing")));
}

#[test]
fn nothing_is_called_where_the_record_cannot_be_written_and_the_run_halts() {
    let mut run = Alone::new();
    let (_, intent) = run.begin_create();
    let full = crate::error::Error::BadState("the disk is full".to_owned().into());
    let actions = run.take(Input::Done(intent, Reply::Durable(Err(full))));
    assert!(actions.iter().any(|action| matches!(action, Action::Halt)));
    assert!(!actions.iter().any(|action| matches!(action, Action::Do { .. })));
    assert!(is_told(&actions, |event| matches!(event, Event::StepFailed(_))));
}

#[test]
fn an_answer_that_comes_late_counts_whichever_comes_first_it_or_the_word_that_its_call_was_given_up() {
    for late_first in [true, false] {
        let mut run = Alone::new();
        let (_, intent) = run.begin_create();
        let (wait_id, call) = only_call(run.take(Input::Done(intent, Reply::Durable(Ok(())))));
        let AnyOutsideCall::Call(Call(_, call)) = call else { panic!("the provider is called") };
        let late = || Input::Late(call.number, Ok(Answer::created("i-1", PropertyMap::new())));
        let given_up = || {
            let error = ProviderError::new(ProviderErrorKind::TimedOut, "it took too long");
            Input::Done(wait_id, Reply::Call(Err(error)))
        };
        let inputs = if late_first { [late(), given_up()] } else { [given_up(), late()] };
        let mut actions = Vec::new();
        for input in inputs {
            actions.extend(run.take(input));
        }
        run.make_durable(actions);
        let snapshot = run.0.all().finish.snapshot();
        assert_eq!(
            snapshot.resources.iter().filter(|resource| resource.id == "i-1").count(),
            1,
            "late first: {late_first}"
        );
        assert!(snapshot.pending.is_empty());
    }
}

#[test]
fn the_end_of_a_run_waits_until_an_answer_that_came_late_is_recorded() {
    let mut run = Alone::new();
    let (_, intent) = run.begin_create();
    let (wait_id, call) = only_call(run.take(Input::Done(intent, Reply::Durable(Ok(())))));
    let AnyOutsideCall::Call(Call(_, call)) = call else { panic!("the provider is called") };
    let error = ProviderError::new(ProviderErrorKind::TimedOut, "it took too long");
    let given_up = run.take(Input::Done(wait_id, Reply::Call(Err(error))));
    run.make_durable(given_up);
    let answer = Answer::created("i-1", PropertyMap::new());
    let late = run.take(Input::Late(call.number, Ok(answer)));
    let compacts =
        |actions: &[Action]| actions.iter().any(|it| matches!(it, Action::Do { call: AnyOutsideCall::Compact(_), .. }));
    let (_, ending) = run.ask(Request::Finish(ProgramEnd::default()));
    assert!(!compacts(&ending));
    assert!(compacts(&run.make_durable(late)));
}

#[test]
fn a_request_that_is_given_up_leaves_its_turn_to_others() {
    let mut run = Alone::new();
    let (flow, _) = run.begin_create();
    assert_eq!(run.0.all().doors.stop.in_flight(), 1);
    run.take(Input::Forget(flow));
    assert_eq!(run.0.all().doors.stop.in_flight(), 0);
    let (_, actions) = run.ask(Request::Finish(ProgramEnd::default()));
    assert!(matches!(only_call(actions).1, AnyOutsideCall::Compact(_)));
}

#[test]
fn a_run_that_is_cancelled_answers_nothing_more_and_tells_the_calls() {
    let mut run = Alone::new();
    let actions = run.take(Input::Cancel);
    assert!(actions.iter().any(|action| matches!(action, Action::CancelCalls)));
    assert!(actions.iter().any(|action| matches!(action, Action::Halt)));
    let (_, actions) = run.ask(resource());
    let code = actions.into_iter().find_map(|action| match action {
        Action::Answer(_, Response::Rpc(Err(error))) => Some(error.code),
        _ => None,
    });
    assert_eq!(code, Some(14));
}

#[test]
fn in_a_run_that_is_held_no_call_begins_until_it_is_cancelled() {
    let mut run = Alone::new();
    run.take(Input::Hold);
    let (_, actions) = run.ask(resource());
    let (wait_id, _) = only_call(actions);
    let actions = run.take(Input::Done(wait_id, Reply::Describe(Ok(description()))));
    assert!(!actions.iter().any(|action| {
        matches!(action, Action::Halt | Action::Answer(..) | Action::Append { .. } | Action::Do { .. })
    }));
    let actions = run.take(Input::Cancel);
    assert!(
        actions.iter().any(|action| matches!(action, Action::Answer(_, Response::Rpc(Err(error))) if error.code == 14))
    );
}

#[test]
fn a_flow_that_panics_ends_the_run_and_whoever_asked_for_it_is_answered() {
    let mut run = Alone::with_ids(Arc::new(|| panic!("no entropy")));
    let (flow, mut actions) = run.ask(resource());
    // Up to where an id is needed.
    while let Some(Action::Do { wait_id, call: AnyOutsideCall::Describe(_), .. }) = actions.pop() {
        actions = run.take(Input::Done(wait_id, Reply::Describe(Ok(description()))));
    }
    let answered = |action: &Action| matches!(action, Action::Answer(id, Response::Panicked) if *id == flow);
    actions.extend(run.take(Input::Forget(0)));
    assert!(actions.iter().any(answered));
    assert_eq!(run.0.all().doors.stop.in_flight(), 0);
    assert!(run.0.all().doors.stop.failure().is_some_and(|failure| failure.message.contains("no entropy")));
}

#[test]
fn what_was_dropped_before_it_was_done_fails_its_step_and_nothing_waits_for_it() {
    let mut run = Alone::new();
    let (flow, intent) = run.begin_create();
    let (wait_id, _) = only_call(run.take(Input::Done(intent, Reply::Durable(Ok(())))));
    let mut actions = run.take(Input::Lost(wait_id));
    // What is known of it is recorded first.
    let recorded = actions.iter().find_map(|action| match action {
        Action::Append { awaited: Some((_, wait_id)), .. } => Some(*wait_id),
        _ => None,
    });
    actions.extend(recorded.into_iter().flat_map(|wait_id| run.take(Input::Done(wait_id, Reply::Durable(Ok(()))))));
    assert!(is_told(&actions, |event| matches!(event, Event::StepFailed(_))));
    assert!(actions.iter().any(|action| matches!(action, Action::Answer(answered, _) if *answered == flow)));
    // Its object may exist.
    assert_eq!(run.0.all().finish.snapshot().pending.len(), 1);
}

#[test]
fn a_run_whose_own_flow_is_given_up_does_not_say_that_all_is_well() {
    let mut run = Alone::new();
    let (_, intent) = run.begin_create();
    let (wait_id, _) = only_call(run.take(Input::Done(intent, Reply::Durable(Ok(())))));
    let actions = run.take(Input::Done(wait_id, created()));
    let own = actions.iter().find_map(|action| match action {
        Action::Drive(flow) => Some(*flow),
        _ => None,
    });
    let actions = run.take(Input::Forget(own.unwrap_or_default()));
    assert!(actions.iter().any(|action| matches!(action, Action::Halt)));
}

#[test]
fn a_registration_whose_transforms_are_asked_says_so() {
    let mut run = Alone::new();
    let transform = Callback { token: "twice".to_owned(), ..Callback::default() };
    let component = RegisterResourceRequest {
        r#type: "my:index:Group".to_owned(),
        name: "group".to_owned(),
        transforms: vec![transform],
        ..RegisterResourceRequest::default()
    };
    let (_, actions) = run.ask(registration(&component));
    let (wait_id, call) = only_call(actions);
    assert!(matches!(call, AnyOutsideCall::CallBack(_)));
    let waits = |run: &Alone| run.0.flow_states().iter().map(|it| it.waits_for).collect::<Vec<_>>();
    assert_eq!(waits(&run), ["transforms of the program"]);
    run.take(Input::Done(wait_id, Reply::CallBack(Ok(TransformResponse::default().encode_to_vec()))));
    assert_ne!(waits(&run), ["transforms of the program"]);
}

#[test]
fn the_same_inputs_give_the_same_actions() {
    let told = || {
        let mut run = Alone::new();
        let (_, intent) = run.begin_create();
        let (wait_id, call) = only_call(run.take(Input::Done(intent, Reply::Durable(Ok(())))));
        let AnyOutsideCall::Call(Call(_, asked)) = call else { panic!("the provider is called") };
        let mut all: Vec<String> = vec![format!("{asked:?}")];
        all.extend(run.take(Input::Done(wait_id, created())).iter().map(shown));
        all
    };
    assert_eq!(told(), told());
}

fn shown(action: &Action) -> String {
    match action {
        Action::Do { flow, wait_id, .. } => format!("do {flow} {wait_id}"),
        Action::Append { changes, with_next, awaited } => format!("append {changes:?} {with_next} {awaited:?}"),
        Action::Emit(event) => format!("tell {event:?}"),
        Action::CallBegan(urn, ago) => format!("call {urn} {ago:?}"),
        Action::NoteWait(_) => "wait".to_owned(),
        Action::CancelCalls => "cancel".to_owned(),
        Action::Drive(flow) => format!("drive {flow}"),
        Action::Answer(flow, Response::Rpc(answer)) => format!("answer {flow} {answer:?}"),
        Action::Answer(flow, _) => format!("answer {flow}"),
        Action::Forgotten(flow) => format!("forgotten {flow}"),
        Action::Halt => "halt".to_owned(),
    }
}
