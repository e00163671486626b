//! Deleting what is no longer wanted, and what a replacement deletes before itself.

pub(super) mod deletions_first;
mod exclude_protected;
pub(super) mod leftovers;
mod needs;
pub(super) mod waiting;

use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::operation::Operation;

use crate::driver::answers::SparedResources;
use crate::driver::calls::provider_plugins::ProviderPlugins;
use crate::driver::doors::Doors;
use crate::driver::journal::Journal;
use crate::driver::planning::Planning;
use crate::driver::reports::Reports;
use crate::driver::selection::Selection;
use crate::driver::steps::Steps;
use crate::driver::stop::Stop;
use crate::driver::watched_waits::WatchedWaits;

/// Deletes what is no longer wanted.
pub(crate) struct Deletion {
    operation: Arc<Operation>,
    stop: Arc<Stop>,
    reports: Arc<Reports>,
    waits: Arc<WatchedWaits>,
    steps: Arc<Steps>,
    provider_plugins: Arc<ProviderPlugins>,
    planning: Arc<Planning>,
    journal: Arc<Journal>,
    selection: Arc<Selection>,
    /// What stays because it is protected, where the operation leaves that out.
    spared: AtomicRefCell<SparedResources>,
}

impl Deletion {
    pub(crate) fn new(doors: &Doors, steps: &Arc<Steps>, provider_plugins: &Arc<ProviderPlugins>) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            stop: Arc::clone(&doors.stop),
            reports: Arc::clone(&doors.reports),
            waits: Arc::clone(&doors.waits),
            steps: Arc::clone(steps),
            provider_plugins: Arc::clone(provider_plugins),
            planning: Arc::clone(&doors.planning),
            journal: Arc::clone(&doors.journal),
            selection: Arc::clone(&doors.selection),
            spared: AtomicRefCell::default(),
        }
    }

    /// What stayed because it is protected, where the operation leaves that out.
    pub(crate) fn spared(&self) -> SparedResources {
        *self.spared.borrow()
    }
}

#[cfg(test)]
mod deletion_tests;
#[cfg(test)]
mod deletions_first_tests;
#[cfg(test)]
mod waiting_tests;
