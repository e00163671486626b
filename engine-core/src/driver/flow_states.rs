//! Where the flows of a run stand, as data: each registration and each step under way, what it waits for, and since when.
//!
//! A flow says so where it may wait. Debug output, the notices of what takes long and the simulation's trace show it. Pages and traces of
//! OpenTelemetry show those waits that a flow tells `watched_waits.rs`, too.
//!
//! | registration | waits for | then |
//! | --- | --- | --- |
//! | `AwaitingTransforms` | transforms of the program | `Settling` |
//! | `Settling` | the provider resource of its package, and its state migrations | `AwaitingTurn` |
//! | `AwaitingTurn` | the registration that is planned alone | `AwaitingDeletion`, `AwaitingPolicies`, `FindingProvider` |
//! | `AwaitingDeletion` | the replacement of another resource, which deletes its object first | `AwaitingTurn` |
//! | `FindingProvider` | who serves it | `Planning` |
//! | `AwaitingPolicies` | policy packs | `FindingProvider`, `Planning` |
//! | `Planning` | what its provider answers to `check` and `diff` | `AwaitingPolicies`, `AwaitingOtherPlans`, `LookingForObject`, `TakingSteps` |
//! | `AwaitingOtherPlans` | that no other resource is planned, for its replacement leads to others | `Planning` |
//! | `LookingForObject` | whether an earlier create made its object | `Planning`, `TakingSteps` |
//! | `TakingSteps` | its steps | the end |
//!
//! | step | waits for | then |
//! | --- | --- | --- |
//! | `Begun` | nothing | any other |
//! | `CallingHooks` | hooks of the program | any other |
//! | `AwaitingClass` | the limits of its provider class | `AwaitingPermit` |
//! | `AwaitingPermit` | a call that ends: `--parallel` | `Journalling`, `Calling` |
//! | `Journalling` | that the record of its call is durable | `AwaitingClass`, `AwaitingPermit`, `Calling` |
//! | `Calling` | the provider | `Recording`, and with error hooks `CallingHooks` |
//! | `Recording` | that its outcome is durable | `CallingHooks` |
//!
//! Each may also be followed by the end.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::Instant;

use atomic_refcell::AtomicRefCell;
use slab::Slab;

use crate::event::Op;
use crate::urn::{Urn, UrnMap};

use crate::driver::exchange::Exchange;

/// Where a registration stands; the table at the head says what follows what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table at the head of the file")]
pub enum RegistrationState {
    AwaitingTransforms,
    Settling,
    AwaitingTurn,
    AwaitingDeletion,
    FindingProvider,
    AwaitingPolicies,
    Planning,
    AwaitingOtherPlans,
    LookingForObject,
    TakingSteps,
}

/// Where a step stands; the table at the head says what follows what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table at the head of the file")]
pub enum StepState {
    Begun,
    CallingHooks,
    AwaitingClass,
    AwaitingPermit,
    Journalling,
    Calling,
    Recording,
}

impl RegistrationState {
    /// May a registration go from here to there?
    #[must_use]
    pub fn leads_to(self, next: Self) -> bool {
        let then: &[Self] = match self {
            Self::AwaitingTransforms => &[Self::Settling],
            Self::Settling | Self::AwaitingDeletion => &[Self::AwaitingTurn],
            Self::AwaitingTurn => &[Self::AwaitingDeletion, Self::AwaitingPolicies, Self::FindingProvider],
            Self::FindingProvider | Self::AwaitingOtherPlans => &[Self::Planning],
            Self::AwaitingPolicies => &[Self::FindingProvider, Self::Planning],
            Self::Planning => {
                &[Self::AwaitingPolicies, Self::AwaitingOtherPlans, Self::LookingForObject, Self::TakingSteps]
            }
            Self::LookingForObject => &[Self::Planning, Self::TakingSteps],
            Self::TakingSteps => &[],
        };
        then.contains(&next)
    }

    /// What it waits for, as messages say it.
    #[must_use]
    pub fn waits_for(self) -> &'static str {
        match self {
            Self::AwaitingTransforms => "transforms of the program",
            Self::Settling => "the provider resource of its package",
            Self::AwaitingTurn => "its turn to be planned",
            Self::AwaitingDeletion => "the deletion of its object",
            Self::FindingProvider => "its provider",
            Self::AwaitingPolicies => "policy packs",
            Self::Planning => "the answer to check and diff",
            Self::AwaitingOtherPlans => "the plans of other resources",
            Self::LookingForObject => "the object of an earlier create",
            Self::TakingSteps => "its steps",
        }
    }
}

impl StepState {
    /// May a step go from here to there?
    #[must_use]
    pub fn leads_to(self, next: Self) -> bool {
        let then: &[Self] = match self {
            Self::Begun | Self::CallingHooks => return next != Self::Begun,
            Self::AwaitingClass => &[Self::AwaitingPermit],
            Self::AwaitingPermit => &[Self::Journalling, Self::Calling],
            Self::Journalling => &[Self::AwaitingClass, Self::AwaitingPermit, Self::Calling],
            Self::Calling => &[Self::Recording, Self::CallingHooks],
            Self::Recording => &[Self::CallingHooks],
        };
        then.contains(&next)
    }

    /// What it waits for, as messages say it.
    #[must_use]
    pub fn waits_for(self) -> &'static str {
        match self {
            Self::Begun => "nothing",
            Self::CallingHooks => "hooks of the program",
            Self::AwaitingClass => "its provider class",
            Self::AwaitingPermit => "--parallel",
            Self::Journalling => "the record of its call",
            Self::Calling => "its provider",
            Self::Recording => "the record of its outcome",
        }
    }
}

/// A state, and since when it is that.
#[derive(Clone, Copy)]
struct Since<S>(S, Instant);

/// See the module's text.
pub(in crate::driver) struct FlowStates {
    exchange: Arc<Exchange>,
    /// By number, and not by resource: each is noted many times, and nobody asks for one of them.
    registrations: AtomicRefCell<Slab<(Urn, Since<RegistrationState>)>>,
    steps: AtomicRefCell<UrnMap<StepsUnderWay>>,
}

impl<S: Copy + PartialEq + Debug> Since<S> {
    fn go_to(&mut self, state: S, now: Instant, leads_to: impl FnOnce(S) -> bool, urn: &Urn) {
        let known = self.0;
        if known != state {
            debug_assert!(leads_to(known), "{urn}: {known:?} leads to {state:?}");
            *self = Self(state, now);
        }
    }
}

/// The steps under way for a resource. Several old objects of one may go at the same time: then it is where the one stands that
/// moved last, and the table does not hold.
struct StepsUnderWay {
    op: Op,
    state: Since<StepState>,
    under_way: usize,
    was_shared: bool,
}

/// Something that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowState {
    /// The resource.
    pub urn: Urn,
    /// Its step, if one is under way; else it is registered.
    pub op: Option<Op>,
    /// What it waits for.
    pub waits_for: &'static str,
    /// Since when.
    pub since: Instant,
}

impl FlowStates {
    pub(in crate::driver) fn new(exchange: &Arc<Exchange>) -> Self {
        Self {
            exchange: Arc::clone(exchange),
            registrations: AtomicRefCell::default(),
            steps: AtomicRefCell::default(),
        }
    }

    fn now(&self) -> Instant {
        self.exchange.moment().instant
    }

    /// Notes that a resource is registered, until what this gives is dropped.
    pub(in crate::driver) fn register(&self, urn: Urn) -> RegistrationGuard<'_> {
        self.register_in(RegistrationState::Settling, urn)
    }

    /// Notes that transforms are asked about a registration, until what this gives is dropped: the resource is registered then.
    pub(in crate::driver) fn transform(&self, urn: Urn) -> RegistrationGuard<'_> {
        self.register_in(RegistrationState::AwaitingTransforms, urn)
    }

    fn register_in(&self, state: RegistrationState, urn: Urn) -> RegistrationGuard<'_> {
        let number = self.registrations.borrow_mut().insert((urn.clone(), Since(state, self.now())));
        RegistrationGuard { flow_states: self, number, urn }
    }

    /// Notes that a step is under way, until what this gives is dropped.
    pub(in crate::driver) fn step(&self, urn: &Urn, op: Op) -> StepGuard<'_> {
        let state = Since(StepState::Begun, self.now());
        let mut steps = self.steps.borrow_mut();
        let none = StepsUnderWay { op, state, under_way: 0, was_shared: false };
        let known = steps.entry(urn.clone()).or_insert(none);
        known.under_way += 1;
        known.was_shared |= known.under_way > 1;
        StepGuard { flow_states: self, urn: urn.clone() }
    }

    /// Notes where the step of a resource stands, if one is under way.
    pub(in crate::driver) fn step_at(&self, urn: &Urn, state: StepState) {
        if let Some(known) = self.steps.borrow_mut().get_mut(urn) {
            let was_shared = known.was_shared;
            known.state.go_to(state, self.now(), |from| was_shared || from.leads_to(state), urn);
        }
    }

    /// Everything that is under way, by resource. Of one that takes a step, that.
    pub(in crate::driver) fn all(&self) -> Vec<FlowState> {
        let steps = self.steps.borrow();
        let taken = steps.iter().map(|(urn, known)| FlowState {
            urn: urn.clone(),
            op: Some(known.op),
            waits_for: known.state.0.waits_for(),
            since: known.state.1,
        });
        let registrations = self.registrations.borrow();
        let registered = registrations.iter().map(|(_, registered)| registered);
        let registered = registered.filter(|(urn, _)| !steps.contains_key(urn)).map(|(urn, state)| FlowState {
            urn: urn.clone(),
            op: None,
            waits_for: state.0.waits_for(),
            since: state.1,
        });
        let mut all: Vec<FlowState> = taken.chain(registered).collect();
        all.sort_by(|a, b| a.urn.cmp(&b.urn));
        all
    }
}

impl Debug for FlowStates {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.all()).finish()
    }
}

/// Held while a resource is registered.
pub(in crate::driver) struct RegistrationGuard<'a> {
    flow_states: &'a FlowStates,
    number: usize,
    /// Of the resource.
    pub(in crate::driver) urn: Urn,
}

impl RegistrationGuard<'_> {
    /// Notes where the registration stands.
    pub(in crate::driver) fn at(&self, state: RegistrationState) {
        if let Some((_, known)) = self.flow_states.registrations.borrow_mut().get_mut(self.number) {
            known.go_to(state, self.flow_states.now(), |from| from.leads_to(state), &self.urn);
        }
    }
}

impl Drop for RegistrationGuard<'_> {
    fn drop(&mut self) {
        self.flow_states.registrations.borrow_mut().try_remove(self.number);
    }
}

/// Held while a step is under way.
pub(in crate::driver) struct StepGuard<'a> {
    flow_states: &'a FlowStates,
    urn: Urn,
}

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        let mut steps = self.flow_states.steps.borrow_mut();
        let is_last = steps.get_mut(&self.urn).is_some_and(|known| {
            known.under_way -= 1;
            known.under_way == 0
        });
        if is_last {
            steps.remove(&self.urn);
        }
    }
}

#[cfg(test)]
#[path = "flow_states_tests.rs"]
mod tests;
