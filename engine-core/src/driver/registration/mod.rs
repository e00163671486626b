//! A resource's way from its goal to its answer: made, changed, taken over or looked up.

mod adopted_types;
pub(super) mod adoptions;
pub(super) mod claim;
pub(super) mod component_code;
pub(super) mod flow;
pub(super) mod import;
pub(super) mod migrations;
mod noticed_classes;
pub(super) mod numbers;
pub(super) mod outcome;
pub(super) mod packages;
pub(super) mod provider_classes;
pub(super) mod read;

use std::sync::Arc;

use crate::operation::{Operation, OperationKind};
use crate::plan::Goal;
use crate::served_by::ServedBy;
use crate::urn::Urn;

use crate::driver::answers::RpcError;
use crate::driver::call_permits::CallPermits;
use crate::driver::calls::provider_plugins::ProviderPlugins;
use crate::driver::calls::providers::Providers;
use crate::driver::deletion::deletions_first::EarlierDeletions;
use crate::driver::doors::Doors;
use crate::driver::flow_states::FlowStates;
use crate::driver::journal::Journal;
use crate::driver::plan_keeping::PlanKeeping;
use crate::driver::planning::Planning;
use crate::driver::policies::Policies;
use crate::driver::recovery::Recovery;
use crate::driver::registration::claim::Claims;
use crate::driver::registration::component_code::ComponentCodes;
use crate::driver::registration::import::ImportOption;
use crate::driver::registration::migrations::StateMigrations;
use crate::driver::registration::outcome::RegistrationOutcome;
use crate::driver::registration::provider_classes::ProviderClasses;
use crate::driver::reports::Reports;
use crate::driver::selection::Selection;
use crate::driver::steps::{Outcomes, Steps};
use crate::driver::stop::Stop;
use crate::driver::unresolved::UnresolvedCreates;
use crate::driver::watched_waits::WatchedWaits;

/// Takes over the objects that an import names.
pub(crate) struct Adoptions {
    operation: Arc<Operation>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    call_permits: Arc<CallPermits>,
    unresolved: Arc<UnresolvedCreates>,
    outcomes: Arc<Outcomes>,
    steps: Arc<Steps>,
    claims: Arc<Claims>,
    registration: Arc<RegistrationFlow>,
    planning: Arc<Planning>,
    selection: Arc<Selection>,
    journal: Arc<Journal>,
}

impl Adoptions {
    pub(crate) fn new(
        doors: &Doors,
        outcomes: &Arc<Outcomes>,
        steps: &Arc<Steps>,
        claims: &Arc<Claims>,
        registration: &Arc<RegistrationFlow>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            call_permits: Arc::clone(&doors.call_permits),
            unresolved: Arc::clone(&doors.unresolved),
            outcomes: Arc::clone(outcomes),
            steps: Arc::clone(steps),
            claims: Arc::clone(claims),
            registration: Arc::clone(registration),
            planning: Arc::clone(&doors.planning),
            selection: Arc::clone(&doors.selection),
            journal: Arc::clone(&doors.journal),
        }
    }
}

/// Plans a registration and does what is planned.
pub(crate) struct RegistrationFlow {
    operation: Arc<Operation>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    waits: Arc<WatchedWaits>,
    call_permits: Arc<CallPermits>,
    unresolved: Arc<UnresolvedCreates>,
    steps: Arc<Steps>,
    recovery: Arc<Recovery>,
    provider_plugins: Arc<ProviderPlugins>,
    earlier_deletions: EarlierDeletions,
    classes: Arc<ProviderClasses>,
    imports: ImportOption,
    component_codes: Arc<ComponentCodes>,
    migrations: StateMigrations,
    planning: Arc<Planning>,
    selection: Arc<Selection>,
    journal: Arc<Journal>,
    plan: Arc<PlanKeeping>,
    flow_states: Arc<FlowStates>,
    policies: Arc<Policies>,
}

impl RegistrationFlow {
    pub(crate) fn new(
        doors: &Doors,
        steps: &Arc<Steps>,
        recovery: &Arc<Recovery>,
        provider_plugins: &Arc<ProviderPlugins>,
        classes: &Arc<ProviderClasses>,
        claims: &Arc<Claims>,
        component_codes: &Arc<ComponentCodes>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            waits: Arc::clone(&doors.waits),
            call_permits: Arc::clone(&doors.call_permits),
            unresolved: Arc::clone(&doors.unresolved),
            steps: Arc::clone(steps),
            recovery: Arc::clone(recovery),
            provider_plugins: Arc::clone(provider_plugins),
            earlier_deletions: EarlierDeletions::new(doors),
            classes: Arc::clone(classes),
            imports: ImportOption::new(doors, claims),
            component_codes: Arc::clone(component_codes),
            migrations: StateMigrations::new(doors),
            planning: Arc::clone(&doors.planning),
            selection: Arc::clone(&doors.selection),
            journal: Arc::clone(&doors.journal),
            plan: Arc::clone(&doors.plan),
            flow_states: Arc::clone(&doors.flow_states),
            policies: Arc::clone(&doors.policies),
        }
    }

    /// In a refresh or destroy the program only brings its live providers: it is answered with what is stored.
    pub(crate) async fn answer_from_state(&self, goal: &Goal) -> Result<(Urn, RegistrationOutcome), RpcError> {
        let (urn, old) = self.planning.planner().locate(goal);
        if let Some(object) = goal.object {
            // A former URN that a resource of its own has by now is served by that one.
            let former =
                old.as_ref().map(|(_, resource)| &resource.urn).filter(|former| !self.providers.serves(former));
            let key = former.unwrap_or(&urn);
            self.providers.register(key, object).await.map_err(|error| self.reports.fail_planning(&urn, &error))?;
        }
        if let Some((_, resource)) = old.as_ref().filter(|_| self.operation.registers_providers && goal.custom) {
            self.providers.configurations.note(resource, &goal.inputs);
        }
        if goal.served_by() == Some(ServedBy::ItsPlugin) && self.operation.registers_providers {
            let mut goal = goal.clone();
            Box::pin(self.settle_package(&mut goal)).await?;
            Box::pin(self.lend_provider(&goal)).await?;
        }
        if self.operation.kind == OperationKind::Import && goal.custom {
            self.selection.want(urn.clone(), goal.inputs.clone());
        }
        Ok((urn, old.map_or(RegistrationOutcome::Unknown, |(_, resource)| RegistrationOutcome::Done(resource))))
    }

    /// Plans a registration, and does what is planned.
    pub(crate) async fn plan_and_act(&self, mut goal: Box<Goal>) -> Result<(Urn, RegistrationOutcome), RpcError> {
        let flow_state = self.flow_states.register(self.planning.planner().urn_of(&goal));
        if goal.served_by().is_some_and(ServedBy::is_plugin) {
            // In a box of its own, which programs of live objects alone need not pay for.
            Box::pin(self.settle_package(&mut goal)).await?;
        }
        if !goal.state_migrations.is_empty() {
            Box::pin(self.migrations.migrate_state(&goal)).await?;
        }
        self.plan_settled(goal, &flow_state).await
    }
}

#[cfg(test)]
mod adoptions_tests;
#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod provider_classes_tests;
