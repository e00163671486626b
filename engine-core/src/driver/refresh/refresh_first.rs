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

use std::sync::Arc;

use crate::operation::{Operation, OperationKind};
use crate::plan::Goal;
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::{STACK_TYPE, Urn};

use crate::driver::answers::RpcError;
use crate::driver::context::Context;
use crate::driver::refresh::read_objects::{NumberedResources, has_object};

/// Is the operation an update that refreshes first?
pub(in crate::driver) fn refreshes_first(operation: &Operation) -> bool {
    operation.refresh && operation.kind == OperationKind::Update
}

impl Context {
    /// Keeps the stack's registration for later, and gives the URN to answer it with; gives back any other one.
    pub(in crate::driver) fn hold_stack(&self, goal: Box<Goal>) -> Result<Box<Goal>, Urn> {
        let is_stack = goal.kind == STACK_TYPE && goal.parent.is_none();
        if !is_stack || !refreshes_first(&self.operation) || self.refresh_first.begun.get().is_some() {
            return Ok(goal);
        }
        let mut run_state = self.run_state();
        let (urn, _) = run_state.planner.locate(&goal);
        run_state.root = Some(urn.clone());
        drop(run_state);
        *self.refresh_first.stack.borrow_mut() = Some(goal);
        Err(urn)
    }

    /// Reads what can be read by now, once, and lets the stack's registration pass.
    pub(in crate::driver) async fn begin_with_refresh(&self) -> Result<(), RpcError> {
        if !refreshes_first(&self.operation) {
            return Ok(());
        }
        // In a box: every registration's future would have to make room for it.
        Box::pin(self.refresh_first.begun.get_or_do(async || self.refresh_what_is_live().await)).await;
        self.go_on()
    }

    async fn refresh_what_is_live(&self) {
        let mut ready = NumberedResources::new();
        for (number, resource) in self.resources_to_refresh() {
            if !has_object(&resource) || self.providers.is_live(&resource).await {
                ready.push((number, resource));
            } else {
                self.refresh_first.deferred().insert(number, resource.urn.clone());
            }
        }
        self.refresh_resources(ready).await;
        if self.halt_after_failed_refresh() {
            return;
        }
        let stack = self.refresh_first.stack.borrow_mut().take();
        if let Some(goal) = stack {
            // A failure has been told and ends the run.
            drop(self.plan_and_act(goal).await);
        }
    }

    /// Nothing is changed on the basis of a state that could not be refreshed.
    pub(in crate::driver) fn halt_after_failed_refresh(&self) -> bool {
        let failure = self.stop.failure();
        let failed = failure.is_some();
        if let Some(failure) = failure {
            self.stop.fail(failure, true);
        }
        failed
    }

    /// Reads the object of a resource that is being registered where its plugin has asked for that, and nothing else has
    /// read it. Its provider resource is settled for that, so that the plugin of this run answers.
    pub(in crate::driver) async fn refresh_where_asked(&self, goal: &mut Goal) -> Result<(), RpcError> {
        if self.operation.kind != OperationKind::Update || refreshes_first(&self.operation) {
            return Ok(());
        }
        let (_, old) = self.run_state().planner.locate(goal);
        let asked =
            |resource: &ResourceState| resource.refresh_before_update && !resource.external && has_object(resource);
        let Some((number, resource)) = old.filter(|(_, resource)| asked(resource)) else { return Ok(()) };
        if !self.run_state().planner.selects(&resource) {
            return Ok(());
        }
        self.settle_package(goal).await?;
        // What is not configured yet, in a preview, knows nothing of the object.
        if self.providers.plugins.of(&resource.provider).is_ok_and(|provider| provider.inputs().is_some()) {
            self.refresh_for_update(number, resource).await;
            self.halt_after_failed_refresh();
        }
        self.go_on()
    }

    /// Reads the object of a resource that is being registered, unless that was done.
    pub(in crate::driver) async fn refresh_registered(&self, goal: &Goal) -> Result<(), RpcError> {
        if !refreshes_first(&self.operation) || self.refresh_first.deferred().is_empty() {
            return Ok(());
        }
        let (_, old) = self.run_state().planner.locate(goal);
        let Some((_, resource)) = old else { return Ok(()) };
        let numbers: Vec<ResourceNumber> = {
            let mut deferred = self.refresh_first.deferred();
            let numbers = deferred.iter().filter(|(_, urn)| **urn == resource.urn).map(|(number, _)| *number).collect();
            deferred.retain(|_, urn| *urn != resource.urn);
            numbers
        };
        if numbers.is_empty() {
            return Ok(());
        }
        // Registers its live object for the resource.
        self.answer_from_state(goal).await?;
        Box::pin(self.refresh_resources(self.resources_left(&numbers))).await;
        self.halt_after_failed_refresh();
        self.go_on()
    }

    /// Reads what the program did not register. What cannot be read is left alone, with what it needs.
    pub(in crate::driver) async fn refresh_the_rest(&self) {
        let numbers: Vec<ResourceNumber> = std::mem::take(&mut *self.refresh_first.deferred()).into_keys().collect();
        if !numbers.is_empty() {
            self.refresh_resources(self.resources_left(&numbers)).await;
        }
    }

    fn resources_left(&self, numbers: &[ResourceNumber]) -> NumberedResources {
        let run_state = self.run_state();
        let resource = |number: &ResourceNumber| -> Option<(ResourceNumber, Arc<ResourceState>)> {
            run_state.ledger.get(*number).map(|resource| (*number, Arc::clone(resource)))
        };
        numbers.iter().filter_map(resource).collect()
    }
}
