//! Resources, registrations and providers' answers for tests of the planner.
#![expect(clippy::panic, reason = "a decision of another kind than expected is a failed test")]

use std::sync::Arc;

use super::{Goal, Next, Planner, Question, Registration, RegistrationError, Step};
use crate::event::Op;
use crate::operation::{Operation, OperationKind};
use crate::provider::{Answer, DiffAnswer, Method};
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

pub(super) const KIND: &str = "pulumi-python:dynamic:Thing";
pub(super) const GROUP: &str = "tests:index:Group";

pub(super) fn urn(name: &str) -> Urn {
    Urn::new("dev", "proj", "", KIND, name)
}

pub(super) fn group(name: &str) -> Urn {
    Urn::new("dev", "proj", "", GROUP, name)
}

pub(super) fn map<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    PropertyMap::from(members.map(|(key, value)| (key.to_owned(), value)))
}

pub(super) fn inputs(size: f64) -> PropertyMap {
    map([("size", Value::Number(size))])
}

/// The state of a resource with the size 1.
pub(super) fn old(name: &str) -> ResourceState {
    ResourceState {
        urn: urn(name),
        custom: true,
        id: format!("id-{name}"),
        kind: KIND.to_owned(),
        inputs: Arc::new(inputs(1.0)),
        outputs: Some(Arc::new(inputs(1.0))),
        ..ResourceState::default()
    }
}

pub(super) fn resource(name: &str) -> Arc<ResourceState> {
    Arc::new(old(name))
}

pub(super) fn old_component(name: &str) -> ResourceState {
    ResourceState {
        urn: group(name),
        kind: GROUP.to_owned(),
        inputs: Arc::new(inputs(1.0)),
        ..ResourceState::default()
    }
}

pub(super) fn goal(name: &str, size: f64) -> Goal {
    Goal {
        kind: KIND.to_owned(),
        name: name.to_owned(),
        custom: true,
        inputs: inputs(size),
        object: Some(1),
        ..Goal::default()
    }
}

pub(super) fn component(name: &str) -> Goal {
    Goal { kind: GROUP.to_owned(), name: name.to_owned(), inputs: inputs(1.0), ..Goal::default() }
}

pub(super) fn update() -> Operation {
    Operation::new(OperationKind::Update, "proj", "dev")
}

pub(super) fn planner(resources: Vec<Arc<ResourceState>>) -> Planner {
    planner_of(update(), resources)
}

pub(super) fn planner_of(operation: Operation, resources: Vec<Arc<ResourceState>>) -> Planner {
    Planner::new(Arc::new(operation), resources, Box::new(|| "uuid".to_owned()))
}

pub(super) fn begin(planner: &mut Planner, goal: Goal) -> Registration {
    planner.begin(goal).unwrap_or_else(|refusal| panic!("refused: {refusal:?}"))
}

pub(super) fn said(changes: Option<bool>) -> DiffAnswer {
    DiffAnswer { changes, ..DiffAnswer::default() }
}

/// "It changes, and must be replaced", by the size.
pub(super) fn replaces(delete_first: bool) -> DiffAnswer {
    DiffAnswer {
        changes: Some(true),
        replaces: vec!["size".to_owned()],
        delete_before_replace: Some(delete_first),
        ..DiffAnswer::default()
    }
}

/// Everything that came of a registration.
pub(super) struct PlannedRegistration {
    pub(super) steps: Vec<Step>,
    pub(super) asked: Vec<Question>,
    pub(super) complaints: Vec<RegistrationError>,
}

impl PlannedRegistration {
    pub(super) fn ops(&self) -> Vec<Op> {
        self.steps.iter().map(|step| step.op).collect()
    }

    /// `op name` of each step.
    pub(super) fn named_ops(&self) -> Vec<String> {
        self.steps.iter().map(|step| format!("{} {}", step.op, step.urn.name())).collect()
    }

    pub(super) fn methods(&self) -> Vec<&'static str> {
        self.asked.iter().map(|question| question.method.name()).collect()
    }

    /// The state that the last step leads to.
    pub(super) fn resource(&self) -> &ResourceState {
        let resource = self.steps.last().and_then(|step| step.new.as_ref());
        resource.unwrap_or_else(|| panic!("the last step leads to no resource state"))
    }
}

/// Takes a registration to its steps: checks are answered with what was asked, diffs by `diff`.
pub(super) fn try_decide_by(
    planner: &mut Planner,
    goal: Goal,
    diff: impl Fn(&Question) -> DiffAnswer,
) -> Result<PlannedRegistration, RegistrationError> {
    let mut registration = planner.begin(goal)?;
    let mut asked = Vec::new();
    let mut answer = None;
    loop {
        match planner.advance(&mut registration, answer.take())? {
            Next::Act(steps) => return Ok(PlannedRegistration { steps, asked, complaints: registration.complaints }),
            Next::Review(_) => registration.take_reviewed(None),
            Next::Ask(question) => {
                answer = Some(match &question.method {
                    Method::Check { news, .. } => Answer::Checked { inputs: news.clone(), failures: Vec::new() },
                    _ => Answer::Diffed(diff(&question)),
                });
                asked.push(question);
            }
        }
    }
}

pub(super) fn decide_by(
    planner: &mut Planner,
    goal: Goal,
    diff: impl Fn(&Question) -> DiffAnswer,
) -> PlannedRegistration {
    try_decide_by(planner, goal, diff).unwrap_or_else(|refusal| panic!("refused: {refusal:?}"))
}

pub(super) fn decide(planner: &mut Planner, goal: Goal, diff: &DiffAnswer) -> PlannedRegistration {
    decide_by(planner, goal, |_| diff.clone())
}

pub(super) fn try_decide(
    planner: &mut Planner,
    goal: Goal,
    diff: &DiffAnswer,
) -> Result<PlannedRegistration, RegistrationError> {
    try_decide_by(planner, goal, |_| diff.clone())
}

/// What a refusal says.
pub(super) fn refuse(decided: Result<PlannedRegistration, RegistrationError>) -> String {
    match decided {
        Err(refusal) => crate::Message::join(&refusal.messages, "\n").into(),
        Ok(decided) => panic!("accepted: {:?}", decided.ops()),
    }
}
