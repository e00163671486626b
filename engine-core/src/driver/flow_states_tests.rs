//! Where flows stand.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use crate::driver::tests::outside_world::OutsideWorld;
use crate::operation::{Operation, OperationKind};

use super::*;

const REGISTRATION: [RegistrationState; 10] = [
    RegistrationState::AwaitingTransforms,
    RegistrationState::Settling,
    RegistrationState::AwaitingTurn,
    RegistrationState::AwaitingDeletion,
    RegistrationState::FindingProvider,
    RegistrationState::AwaitingPolicies,
    RegistrationState::Planning,
    RegistrationState::AwaitingOtherPlans,
    RegistrationState::LookingForObject,
    RegistrationState::TakingSteps,
];

/// A state that is missing here does not compile: the list above has it, too.
fn is_listed(state: RegistrationState) -> bool {
    match state {
        RegistrationState::AwaitingTransforms
        | RegistrationState::Settling
        | RegistrationState::AwaitingTurn
        | RegistrationState::AwaitingDeletion
        | RegistrationState::FindingProvider
        | RegistrationState::AwaitingPolicies
        | RegistrationState::Planning
        | RegistrationState::AwaitingOtherPlans
        | RegistrationState::LookingForObject
        | RegistrationState::TakingSteps => REGISTRATION.contains(&state),
    }
}

fn urn(name: &str) -> Urn {
    Urn::unchecked(&format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}"))
}

fn world() -> OutsideWorld {
    OutsideWorld::new(Operation::new(OperationKind::Update, "proj", "dev"))
}

fn told(flow_states: &FlowStates) -> Vec<(String, Option<Op>, &'static str)> {
    flow_states.all().into_iter().map(|it| (it.urn.name().to_owned(), it.op, it.waits_for)).collect()
}

#[test]
fn every_state_is_reached_and_what_takes_steps_is_the_last() {
    let leads = |from: RegistrationState| REGISTRATION.into_iter().filter(move |to| from.leads_to(*to));
    let reached = |to| REGISTRATION.into_iter().any(|from| from.leads_to(to));
    assert!(REGISTRATION[1..].iter().all(|to| reached(*to) && is_listed(*to)));
    assert!(!reached(RegistrationState::AwaitingTransforms));
    assert_eq!(leads(RegistrationState::TakingSteps).count(), 0);
}

#[test]
fn a_registration_is_told_of_until_it_is_over_and_its_step_in_its_place() {
    let world = world();
    let flow_states = &world.flows.doors.flow_states;
    let first = flow_states.register(urn("a"));
    let second = flow_states.register(urn("b"));
    first.at(RegistrationState::AwaitingTurn);
    assert_eq!(
        told(flow_states),
        [
            ("a".to_owned(), None, "its turn to be planned"),
            ("b".to_owned(), None, "the provider resource of its package")
        ]
    );
    drop(second);
    let step = flow_states.step(&urn("a"), Op::Create);
    flow_states.step_at(&urn("a"), StepState::Journalling);
    flow_states.step_at(&urn("b"), StepState::Calling);
    assert_eq!(told(flow_states), [("a".to_owned(), Some(Op::Create), "the record of its call")]);
    drop(step);
    assert_eq!(told(flow_states), [("a".to_owned(), None, "its turn to be planned")]);
    drop(first);
    assert_eq!(told(flow_states), []);
}

#[test]
fn two_old_objects_of_one_resource_may_go_at_the_same_time() {
    let world = world();
    let flow_states = &world.flows.doors.flow_states;
    let steps = [flow_states.step(&urn("a"), Op::DeleteReplaced), flow_states.step(&urn("a"), Op::DeleteReplaced)];
    for state in [StepState::Calling, StepState::Recording, StepState::Calling] {
        flow_states.step_at(&urn("a"), state);
    }
    let [first, second] = steps;
    drop(first);
    flow_states.step_at(&urn("a"), StepState::Journalling);
    assert_eq!(told(flow_states), [("a".to_owned(), Some(Op::DeleteReplaced), "the record of its call")]);
    drop(second);
    assert_eq!(told(flow_states), []);
}

#[test]
fn a_state_has_the_time_at_which_it_began() {
    let world = world();
    let flow_states = &world.flows.doors.flow_states;
    let registering = flow_states.register(urn("a"));
    let begun = flow_states.all().first().unwrap().since;
    world.pass(Duration::from_secs(3));
    registering.at(RegistrationState::Settling);
    assert_eq!(flow_states.all().first().unwrap().since, begun);
    registering.at(RegistrationState::AwaitingTurn);
    assert_eq!(flow_states.all().first().unwrap().since, begun + Duration::from_secs(3));
}
