//! Taking steps: each call is journalled before and after.

mod call_pace;
pub(super) mod delete;
pub(super) mod error_hooks;
pub(super) mod execute;
pub(super) mod late_answers;
pub(super) mod outcomes;
pub(super) mod resource_states;
pub(super) mod write_ahead;

use std::sync::Arc;

use crate::operation::Operation;
use crate::state::Snapshot;

use crate::driver::call_permits::CallPermits;
use crate::driver::calls::providers::Providers;
use crate::driver::components::Components;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::flow_states::FlowStates;
use crate::driver::journal::Journal;
use crate::driver::plan_keeping::PlanKeeping;
use crate::driver::program::Functions;
use crate::driver::reports::Reports;
use crate::driver::selection::Selection;
use crate::driver::stop::Stop;
use crate::driver::unresolved::UnresolvedCreates;
use crate::driver::views::Views;
use call_pace::WriteAheadPace;
use late_answers::LateAnswers;

/// Writes down what calls led to.
pub(crate) struct Outcomes {
    exchange: Arc<Exchange>,
    reports: Arc<Reports>,
    unresolved: Arc<UnresolvedCreates>,
    journal: Arc<Journal>,
    views: Arc<Views>,
}

impl Outcomes {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            exchange: Arc::clone(&doors.exchange),
            reports: Arc::clone(&doors.reports),
            unresolved: Arc::clone(&doors.unresolved),
            journal: Arc::clone(&doors.journal),
            views: Arc::clone(&doors.views),
        }
    }
}

/// Calls that the journal knows of before they are made.
pub(crate) struct JournalledCalls {
    exchange: Arc<Exchange>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    call_permits: Arc<CallPermits>,
    functions: Arc<Functions>,
    unresolved: Arc<UnresolvedCreates>,
    journal: Arc<Journal>,
    pace: WriteAheadPace,
    late_answers: Arc<LateAnswers>,
    flow_states: Arc<FlowStates>,
}

impl JournalledCalls {
    pub(crate) fn new(doors: &Doors, late_answers: &Arc<LateAnswers>) -> Self {
        Self {
            exchange: Arc::clone(&doors.exchange),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            call_permits: Arc::clone(&doors.call_permits),
            functions: Arc::clone(&doors.functions),
            unresolved: Arc::clone(&doors.unresolved),
            journal: Arc::clone(&doors.journal),
            pace: WriteAheadPace::new(doors.operation.parallel),
            late_answers: Arc::clone(late_answers),
            flow_states: Arc::clone(&doors.flow_states),
        }
    }
}

/// Takes steps: records the intent, calls the provider, records the outcome.
pub(crate) struct Steps {
    operation: Arc<Operation>,
    base: Arc<Snapshot>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    call_permits: Arc<CallPermits>,
    functions: Arc<Functions>,
    plan: Arc<PlanKeeping>,
    outcomes: Arc<Outcomes>,
    calls: Arc<JournalledCalls>,
    selection: Arc<Selection>,
    journal: Arc<Journal>,
    components: Arc<Components>,
    flow_states: Arc<FlowStates>,
    views: Arc<Views>,
}

impl Steps {
    pub(crate) fn new(doors: &Doors, outcomes: &Arc<Outcomes>, calls: &Arc<JournalledCalls>) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            base: Arc::clone(&doors.base),
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            call_permits: Arc::clone(&doors.call_permits),
            functions: Arc::clone(&doors.functions),
            plan: Arc::clone(&doors.plan),
            outcomes: Arc::clone(outcomes),
            calls: Arc::clone(calls),
            selection: Arc::clone(&doors.selection),
            journal: Arc::clone(&doors.journal),
            components: Arc::clone(&doors.components),
            flow_states: Arc::clone(&doors.flow_states),
            views: Arc::clone(&doors.views),
        }
    }
}
