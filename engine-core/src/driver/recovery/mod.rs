//! What earlier runs left open: operations that were interrupted, and creates whose outcome is unknown.

pub(super) mod doubted_deletions;
pub(super) mod find_existing;

use std::sync::Arc;

use crate::operation::Operation;
use crate::state::Snapshot;

use crate::driver::call_permits::CallPermits;
use crate::driver::calls::providers::Providers;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::planning::Planning;
use crate::driver::reports::Reports;
use crate::driver::selection::Selection;
use crate::driver::steps::{Outcomes, Steps};
use crate::driver::stop::Stop;
use crate::driver::unresolved::UnresolvedCreates;

/// Finds out what calls of earlier runs did whose outcome is unknown.
pub(crate) struct Recovery {
    operation: Arc<Operation>,
    base: Arc<Snapshot>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    call_permits: Arc<CallPermits>,
    unresolved: Arc<UnresolvedCreates>,
    outcomes: Arc<Outcomes>,
    steps: Arc<Steps>,
    planning: Arc<Planning>,
    selection: Arc<Selection>,
    journal: Arc<Journal>,
}

impl Recovery {
    pub(crate) fn new(doors: &Doors, outcomes: &Arc<Outcomes>, steps: &Arc<Steps>) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            base: Arc::clone(&doors.base),
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            call_permits: Arc::clone(&doors.call_permits),
            unresolved: Arc::clone(&doors.unresolved),
            outcomes: Arc::clone(outcomes),
            steps: Arc::clone(steps),
            planning: Arc::clone(&doors.planning),
            selection: Arc::clone(&doors.selection),
            journal: Arc::clone(&doors.journal),
        }
    }
}

#[cfg(test)]
mod doubted_deletions_tests;
#[cfg(test)]
mod told_creates_tests;
#[cfg(test)]
mod unresolved_creates_tests;
