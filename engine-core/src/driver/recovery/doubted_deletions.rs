//! Deletions that an earlier run began without learning how they ended: `read` tells whether the object is still there, before
//! anything refers to it. Where nobody can be asked, the state keeps the doubt.

use std::sync::Arc;

use crate::event::{Outcome, Severity};
use crate::message;
use crate::message::Command;
use crate::operation::OperationKind;
use crate::plan::{Goal, first_few};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::state::{Change, PendingKind};

use crate::driver::answers::RpcError;
use crate::driver::context::Context;
use crate::driver::refresh::read_objects::{NumberedResources, has_object};
use crate::driver::refresh::refresh_first::refreshes_first;

/// So many are named in a line.
const NAMED: usize = 5;

impl Context {
    /// Reads the object of a resource that is being registered, if its deletion is in doubt. A refresh that comes first does so
    /// by itself.
    pub(in crate::driver) async fn read_doubted(&self, goal: &mut Goal) -> Result<(), RpcError> {
        if self.operation.kind != OperationKind::Update || refreshes_first(&self.operation) {
            return Ok(());
        }
        let (_, old) = self.run_state().planner.locate(goal);
        let Some((number, resource)) = old.filter(|(_, resource)| self.is_to_be_read(resource)) else {
            return Ok(());
        };
        if goal.served_by() == Some(ServedBy::Plugin) {
            self.settle_package(goal).await?;
        } else {
            // Registers its live object for the resource.
            self.answer_from_state(goal).await?;
        }
        if self.can_be_asked(&resource).await {
            self.refresh_for_update(number, resource).await;
            self.halt_after_failed_refresh();
        }
        self.go_on()
    }

    /// Reads what the program did not register, before it is deleted.
    pub(in crate::driver) async fn read_doubted_leftovers(&self) {
        if !self.run_state().ledger.doubts_deletions() {
            return;
        }
        let doubted: NumberedResources = {
            let run_state = self.run_state();
            run_state.ledger.resources().map(|(number, resource)| (number, Arc::clone(resource))).collect()
        };
        let mut askable = NumberedResources::new();
        for (number, resource) in doubted {
            if self.is_to_be_read(&resource) && self.can_be_asked(&resource).await {
                askable.push((number, resource));
            }
        }
        if !askable.is_empty() {
            self.refresh_resources(askable).await;
        }
    }

    /// Is the deletion of the resource's object in doubt, and may the run touch it?
    fn is_to_be_read(&self, resource: &ResourceState) -> bool {
        let mut run_state = self.run_state();
        run_state.ledger.doubted_deletions(resource).next().is_some()
            && !resource.external
            && has_object(resource)
            && run_state.planner.selects(resource)
    }

    async fn can_be_asked(&self, resource: &Arc<ResourceState>) -> bool {
        if self.providers.plugins.of(&resource.provider).is_ok_and(|provider| provider.inputs().is_none()) {
            // What is not configured yet, in a preview, knows nothing of the object.
            return false;
        }
        self.providers.resolve(resource).await.is_ok_and(|resolved| resolved.can_read())
    }

    /// Notes that a read has found the object of a resource. What a provider without `read` is said to return settles nothing.
    pub(in crate::driver) async fn settle_deletion(&self, resource: &Arc<ResourceState>) -> Vec<Change> {
        let is_doubted = self.run_state().ledger.doubted_deletions(resource).next().is_some();
        if is_doubted && self.can_be_asked(resource).await { self.run_state().end_doubt(resource) } else { Vec::new() }
    }

    /// Names the resources whose deletion is still in doubt at the end of a run.
    pub(in crate::driver) fn tell_of_doubted_deletions(&self) {
        let is_told = self.operation.previewed && self.stop.outcome() == Outcome::Succeeded;
        if is_told || self.operation.kind == OperationKind::Load || !self.run_state().ledger.doubts_deletions() {
            return;
        }
        let names: Vec<String> = {
            let run_state = self.run_state();
            let began = self.base.pending.iter().filter(|pending| pending.kind == PendingKind::Deleting);
            let is_open = |resource: &ResourceState| {
                let is_there =
                    |(_, other): (_, &Arc<ResourceState>)| other.urn == resource.urn && other.id == resource.id;
                run_state.ledger.doubted_deletions(resource).next().is_some()
                    && run_state.ledger.resources().any(is_there)
            };
            let open = began.map(|pending| &pending.resource).filter(|resource| is_open(resource));
            open.map(|resource| format!("{} (id '{}')", resource.urn.name(), resource.id)).collect()
        };
        if names.is_empty() {
            return;
        }
        let listed = first_few(&names, NAMED);
        let text = message![
            format!(
                "an earlier run was interrupted while deleting, and no provider was asked whether the object is still there: \
                 {listed}. Where it is gone, forget it with "
            ),
            Command::new("state delete").with("URN")
        ];
        self.diagnose(None, Severity::Warning, text);
    }
}
