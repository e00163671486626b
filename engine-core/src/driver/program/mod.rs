//! The functions of the program that the engine calls: transforms and hooks.

pub(super) mod bytes;
mod call_back;
pub(super) mod callbacks;
pub(super) mod hooks;
pub(super) mod transforms;

use std::sync::Arc;

use crate::operation::Operation;

use crate::driver::exchange::Exchange;
use crate::driver::flow_states::FlowStates;
use crate::driver::planning::Planning;
use crate::driver::reports::Reports;
use callbacks::Callbacks;

/// Calls the functions of the program.
pub(crate) struct Functions {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    callbacks: Arc<Callbacks>,
    reports: Arc<Reports>,
    planning: Arc<Planning>,
    flow_states: Arc<FlowStates>,
}

impl Functions {
    pub(crate) fn new(
        operation: &Arc<Operation>,
        exchange: &Arc<Exchange>,
        callbacks: &Arc<Callbacks>,
        reports: &Arc<Reports>,
        planning: &Arc<Planning>,
        flow_states: &Arc<FlowStates>,
    ) -> Self {
        Self {
            operation: Arc::clone(operation),
            exchange: Arc::clone(exchange),
            callbacks: Arc::clone(callbacks),
            reports: Arc::clone(reports),
            planning: Arc::clone(planning),
            flow_states: Arc::clone(flow_states),
        }
    }
}

#[cfg(test)]
mod hooks_tests;
#[cfg(test)]
mod transforms_tests;
