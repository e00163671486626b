//! A refresh as the first part of an update (docs/rules 7.4): the objects are read, then the program's wishes are compared
//! with what was found.
//!
//! The live provider objects come with the program, so the refresh waits for its first registration: by then the
//! program's top level has run, in Python and in Node, and its objects are known. The stack's own registration, which
//! every other one needs, is answered before and planned afterwards. What is served by an object that cannot be told by
//! its reference is read when its resource is registered, and what the program no longer has before it is deleted.
//!
//! A plugin may ask for the same for a single object: its state says so, and it is read when its resource is
//! registered.

use std::collections::BTreeMap;
use std::sync::Arc;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::operation::{Operation, OperationKind};
use crate::plan::Goal;
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::state::ResourceNumber;
use crate::urn::{STACK_TYPE, Urn};

use crate::driver::answers::RpcError;
use crate::driver::calls::providers::Providers;
use crate::driver::components::Components;
use crate::driver::doors::Doors;
use crate::driver::journal::Journal;
use crate::driver::permits::Once;
use crate::driver::planning::Planning;
use crate::driver::recovery::Recovery;
use crate::driver::refresh::read_objects::{NumberedResources, Refresh};
use crate::driver::registration::RegistrationFlow;
use crate::driver::reports::Reports;
use crate::driver::steps::resource_states::has_object;

/// The refresh before an update.
pub(crate) struct RefreshFirst {
    operation: Arc<Operation>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    recovery: Arc<Recovery>,
    refresh: Arc<Refresh>,
    registration: Arc<RegistrationFlow>,
    planning: Arc<Planning>,
    journal: Arc<Journal>,
    components: Arc<Components>,
    left: RemainingRefresh,
}

/// What is left to be done of the refresh before an update.
#[derive(Default)]
struct RemainingRefresh {
    begun: Once<()>,
    /// The stack's registration, until the first resources are read.
    stack: AtomicRefCell<Option<Box<Goal>>>,
    /// Resources whose live object is not known yet.
    deferred: AtomicRefCell<BTreeMap<ResourceNumber, Urn>>,
}

impl RemainingRefresh {
    fn deferred(&self) -> AtomicRefMut<'_, BTreeMap<ResourceNumber, Urn>> {
        self.deferred.borrow_mut()
    }
}

impl RefreshFirst {
    pub(crate) fn new(
        doors: &Doors,
        recovery: &Arc<Recovery>,
        refresh: &Arc<Refresh>,
        registration: &Arc<RegistrationFlow>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            recovery: Arc::clone(recovery),
            refresh: Arc::clone(refresh),
            registration: Arc::clone(registration),
            planning: Arc::clone(&doors.planning),
            journal: Arc::clone(&doors.journal),
            components: Arc::clone(&doors.components),
            left: RemainingRefresh::default(),
        }
    }

    /// Keeps the stack's registration for later, and gives the URN to answer it with; gives back any other one.
    pub(crate) fn hold_stack(&self, goal: Box<Goal>) -> Result<Box<Goal>, Urn> {
        let is_stack = goal.kind == STACK_TYPE && goal.parent.is_none();
        if !is_stack || !self.operation.refreshes_first() || self.left.begun.get().is_some() {
            return Ok(goal);
        }
        let (urn, _) = self.planning.planner().locate(&goal);
        self.components.set_root(urn.clone());
        *self.left.stack.borrow_mut() = Some(goal);
        Err(urn)
    }

    /// Reads what can be read by now, once, and lets the stack's registration pass.
    pub(crate) async fn begin_with_refresh(&self) -> Result<(), RpcError> {
        if !self.operation.refreshes_first() {
            return Ok(());
        }
        // In a box: every registration's future would have to make room for it.
        Box::pin(self.left.begun.get_or_do(async || self.refresh_what_is_live().await)).await;
        self.reports.go_on()
    }

    async fn refresh_what_is_live(&self) {
        let mut ready = NumberedResources::new();
        for (number, resource) in self.refresh.resources_to_refresh() {
            if !has_object(&resource) || self.providers.is_live(&resource).await {
                ready.push((number, resource));
            } else {
                self.left.deferred().insert(number, resource.urn.clone());
            }
        }
        self.refresh.refresh_resources(ready).await;
        if self.refresh.halt_after_failed_refresh() {
            return;
        }
        let stack = self.left.stack.borrow_mut().take();
        if let Some(goal) = stack {
            // A failure has been told and ends the run.
            drop(self.registration.plan_and_act(goal).await);
        }
    }

    /// Reads the object of a resource that is being registered where its plugin has asked for that, and nothing else has
    /// read it. Its provider resource is settled for that, so that the plugin of this run answers.
    pub(crate) async fn refresh_where_asked(&self, goal: &mut Goal) -> Result<(), RpcError> {
        if self.operation.kind != OperationKind::Update || self.operation.refreshes_first() {
            return Ok(());
        }
        let (_, old) = self.planning.planner().locate(goal);
        let asked =
            |resource: &ResourceState| resource.refresh_before_update && !resource.external && has_object(resource);
        let Some((number, resource)) = old.filter(|(_, resource)| asked(resource)) else { return Ok(()) };
        if !self.planning.planner().selects(&resource) {
            return Ok(());
        }
        self.registration.settle_package(goal).await?;
        // What is not configured yet, in a preview, knows nothing of the object.
        if self.providers.plugins.of(&resource.provider).is_ok_and(|provider| provider.inputs().is_some()) {
            self.refresh.refresh_for_update(number, resource).await;
            self.refresh.halt_after_failed_refresh();
        }
        self.reports.go_on()
    }

    /// Reads the object of a resource that is being registered, unless that was done.
    pub(crate) async fn refresh_registered(&self, goal: &Goal) -> Result<(), RpcError> {
        if !self.operation.refreshes_first() || self.left.deferred().is_empty() {
            return Ok(());
        }
        let (_, old) = self.planning.planner().locate(goal);
        let Some((_, resource)) = old else { return Ok(()) };
        let numbers: Vec<ResourceNumber> = {
            let mut deferred = self.left.deferred();
            let numbers = deferred.iter().filter(|(_, urn)| **urn == resource.urn).map(|(number, _)| *number).collect();
            deferred.retain(|_, urn| *urn != resource.urn);
            numbers
        };
        if numbers.is_empty() {
            return Ok(());
        }
        // Registers its live object for the resource.
        self.registration.answer_from_state(goal).await?;
        Box::pin(self.refresh.refresh_resources(self.resources_left(&numbers))).await;
        self.refresh.halt_after_failed_refresh();
        self.reports.go_on()
    }

    /// Reads what the program did not register. What cannot be read is left alone, with what it needs.
    pub(crate) async fn refresh_the_rest(&self) {
        let numbers: Vec<ResourceNumber> = std::mem::take(&mut *self.left.deferred()).into_keys().collect();
        if !numbers.is_empty() {
            self.refresh.refresh_resources(self.resources_left(&numbers)).await;
        }
    }

    fn resources_left(&self, numbers: &[ResourceNumber]) -> NumberedResources {
        let resource = |number: &ResourceNumber| Some((*number, self.journal.numbered(*number)?));
        numbers.iter().filter_map(resource).collect()
    }

    /// Reads the object of a resource that is being registered, if its deletion is in doubt. A refresh that comes first does so
    /// by itself.
    pub(crate) async fn read_doubted(&self, goal: &mut Goal) -> Result<(), RpcError> {
        if self.operation.kind != OperationKind::Update || self.operation.refreshes_first() {
            return Ok(());
        }
        let (_, old) = self.planning.planner().locate(goal);
        let Some((number, resource)) = old.filter(|(_, resource)| self.recovery.is_to_be_read(resource)) else {
            return Ok(());
        };
        if goal.served_by() == Some(ServedBy::Plugin) {
            self.registration.settle_package(goal).await?;
        } else {
            // Registers its live object for the resource.
            self.registration.answer_from_state(goal).await?;
        }
        if self.recovery.can_be_asked(&resource).await {
            self.refresh.refresh_for_update(number, resource).await;
            self.refresh.halt_after_failed_refresh();
        }
        self.reports.go_on()
    }
}

#[cfg(test)]
mod tests;
