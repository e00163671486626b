//! Writes the records of steps, and waits for them. A preview writes none: it changes the ledger alone.

use crate::fail_points;
use crate::provider::ProviderError;
use crate::resource_state::ResourceState;
use crate::state::Change;

use crate::driver::actions::FlowId;
use crate::driver::exchange::PendingRecord;
use crate::driver::journal::Journal;

impl Journal {
    /// Journals changes and waits until they are durable: only then is a step reported as done.
    pub(crate) async fn record(&self, changes: Vec<Change>) -> Result<(), ProviderError> {
        if self.is_preview {
            return Ok(());
        }
        let begins = changes.iter().any(|change| matches!(change, Change::Begin { .. }));
        fail_points::kill(if begins { "kill::before-intent" } else { "kill::before-outcome" });
        let written = self.exchange.append(changes, false, None);
        let written = written.wait().await.map_err(|error| self.reports.state_failure(&error));
        fail_points::kill(if begins { "kill::after-intent" } else { "kill::after-outcome" });
        written
    }

    /// Waits until what was journalled is durable: the outcome of a call that led to the resource state.
    pub(crate) async fn durable(
        &self,
        written: PendingRecord,
        resource: Option<&ResourceState>,
    ) -> Result<(), ProviderError> {
        let written = written.wait().await.map_err(|error| self.reports.outcome_failure(&error, resource));
        fail_points::kill("kill::after-outcome");
        written
    }

    /// Journals changes that nobody waits for: they may wait a moment for the next record.
    pub(crate) fn append_unawaited(&self, changes: Vec<Change>) {
        if !self.is_preview && !changes.is_empty() {
            self.exchange.append_unawaited(changes);
        }
    }

    /// Journals changes. `waiting` is the flow that waits until they are durable; without it, the present one. `with_next`: they
    /// may wait a moment for the next record.
    pub(crate) fn append(&self, changes: Vec<Change>, with_next: bool, waiting: Option<FlowId>) -> PendingRecord {
        self.exchange.append(changes, with_next, waiting)
    }
}
