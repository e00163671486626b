//! Deletions that an earlier run began without learning how they ended: `read` tells whether the object is still there, before
//! anything refers to it. Where nobody can be asked, the state keeps the doubt.

use std::sync::Arc;

use crate::event::{Outcome, Severity};
use crate::message;
use crate::message::Command;
use crate::operation::OperationKind;
use crate::plan::first_few;
use crate::resource_state::ResourceState;
use crate::state::{Change, PendingKind};

use crate::driver::recovery::Recovery;
use crate::driver::steps::resource_states::has_object;

/// So many are named in a line.
const NAMED: usize = 5;

impl Recovery {
    /// Is the deletion of the resource's object in doubt, and may the run touch it?
    pub(crate) fn is_to_be_read(&self, resource: &ResourceState) -> bool {
        self.journal.ledger().doubted_deletions(resource).next().is_some()
            && !resource.external
            && has_object(resource)
            && self.planning.planner().selects(resource)
    }

    pub(crate) async fn can_be_asked(&self, resource: &Arc<ResourceState>) -> bool {
        if self.providers.plugins.of(&resource.provider).is_ok_and(|provider| provider.inputs().is_none()) {
            // What is not configured yet, in a preview, knows nothing of the object.
            return false;
        }
        self.providers.resolve(resource).await.is_ok_and(|resolved| resolved.can_read())
    }

    /// Notes, and says, that a read has found the object of a resource. What a provider without `read` is said to return settles
    /// nothing.
    pub(crate) async fn settle_deletion(&self, resource: &Arc<ResourceState>) -> Vec<Change> {
        let is_doubted = self.journal.ledger().doubted_deletions(resource).next().is_some();
        if !is_doubted || !self.can_be_asked(resource).await {
            return Vec::new();
        }
        // Whoever was shown a preview has been told.
        if !self.operation.previewed {
            let text = format!(
                "an earlier run was interrupted while deleting this object ('{}'); its provider says that it is still there",
                resource.id
            );
            self.reports.diagnose(Some(&resource.urn), Severity::Warning, text);
        }
        self.journal.end_doubt(resource)
    }

    /// Names the resources whose deletion is still in doubt at the end of a run.
    pub(crate) fn tell_of_doubted_deletions(&self) {
        let is_told = self.operation.previewed && self.stop.outcome() == Outcome::Succeeded;
        if is_told || self.operation.kind == OperationKind::Load || !self.journal.ledger().doubts_deletions() {
            return;
        }
        let names: Vec<String> = {
            let ledger = self.journal.ledger();
            let began = self.base.pending.iter().filter(|pending| pending.kind == PendingKind::Deleting);
            let is_open = |resource: &ResourceState| {
                let is_there =
                    |(_, other): (_, &Arc<ResourceState>)| other.urn == resource.urn && other.id == resource.id;
                ledger.doubted_deletions(resource).next().is_some() && ledger.resources().any(is_there)
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
        self.reports.diagnose(None, Severity::Warning, text);
    }
}
