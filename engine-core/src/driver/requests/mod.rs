//! What the program and the host ask of a run: the methods that the SDKs call, by name, and what each leads to.

pub(super) mod call;
pub(super) mod construct;
pub(super) mod depth;
pub(super) mod exists;
pub(super) mod invoke;
pub(super) mod methods;
pub(super) mod outputs;
pub(super) mod register;
pub(super) mod serialize;

use std::sync::Arc;

use crate::operation::Operation;
use crate::provider::CheckFailure;

use crate::driver::calls::provider_plugins::ProviderPlugins;
use crate::driver::calls::providers::Providers;
use crate::driver::components::Components;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::plan_keeping::PlanKeeping;
use crate::driver::planning::Planning;
use crate::driver::program::Functions;
use crate::driver::program::callbacks::Callbacks;
use crate::driver::refresh_first::RefreshFirst;
use crate::driver::registration::RegistrationFlow;
use crate::driver::registration::component_code::ComponentCodes;
use crate::driver::reports::Reports;
use crate::driver::requests::construct::Construction;
use crate::driver::selection::Selection;
use crate::driver::stop::Stop;

/// Answers calls of functions and methods.
pub(crate) struct FunctionCalls {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    provider_plugins: Arc<ProviderPlugins>,
    registration: Arc<RegistrationFlow>,
    planning: Arc<Planning>,
    journal: Arc<Journal>,
}

impl FunctionCalls {
    pub(crate) fn new(
        doors: &Doors,
        provider_plugins: &Arc<ProviderPlugins>,
        registration: &Arc<RegistrationFlow>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            provider_plugins: Arc::clone(provider_plugins),
            registration: Arc::clone(registration),
            planning: Arc::clone(&doors.planning),
            journal: Arc::clone(&doors.journal),
        }
    }
}

/// Answers registrations of resources and of their outputs.
pub(crate) struct ResourceRequests {
    operation: Arc<Operation>,
    providers: Arc<Providers>,
    callbacks: Arc<Callbacks>,
    reports: Arc<Reports>,
    functions: Arc<Functions>,
    plan: Arc<PlanKeeping>,
    component_codes: Arc<ComponentCodes>,
    registration: Arc<RegistrationFlow>,
    refresh_first: Arc<RefreshFirst>,
    construction: Arc<Construction>,
    planning: Arc<Planning>,
    journal: Arc<Journal>,
    selection: Arc<Selection>,
    components: Arc<Components>,
}

impl ResourceRequests {
    pub(crate) fn new(
        doors: &Doors,
        component_codes: &Arc<ComponentCodes>,
        registration: &Arc<RegistrationFlow>,
        refresh_first: &Arc<RefreshFirst>,
        construction: &Arc<Construction>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            providers: Arc::clone(&doors.providers),
            callbacks: Arc::clone(&doors.callbacks),
            reports: Arc::clone(&doors.reports),
            functions: Arc::clone(&doors.functions),
            plan: Arc::clone(&doors.plan),
            component_codes: Arc::clone(component_codes),
            registration: Arc::clone(registration),
            refresh_first: Arc::clone(refresh_first),
            construction: Arc::clone(construction),
            planning: Arc::clone(&doors.planning),
            journal: Arc::clone(&doors.journal),
            selection: Arc::clone(&doors.selection),
            components: Arc::clone(&doors.components),
        }
    }
}

/// What a function fails with, where some of that is about no property: the SDKs put a property between brackets in any case.
fn reasons_of_no_property(failures: &[CheckFailure]) -> Option<String> {
    let reason = |CheckFailure { property, reason }: &CheckFailure| {
        if property.is_empty() { reason.clone() } else { format!("{reason} ({property})") }
    };
    let is_without = |failure: &CheckFailure| failure.property.is_empty();
    failures.iter().any(is_without).then(|| failures.iter().map(reason).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod requests_tests;
