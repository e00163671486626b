//! The functions of the program that the engine calls: transforms and hooks.

pub(super) mod bytes;
pub(super) mod callbacks;
pub(super) mod hooks;
pub(super) mod transforms;

use std::sync::Arc;

use prost::Message;

use crate::operation::Operation;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::wire::{Callback, why_unreadable};

use crate::driver::exchange::Exchange;
use crate::driver::flow_states::FlowStates;
use crate::driver::outside_calls::CallBack;
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

    /// Calls a function of the program, or of a plugin, with a message and takes its answer. `label` is how errors name it.
    pub(crate) async fn call_back<M: Message + Default>(
        &self,
        label: &str,
        function: &Callback,
        request: &impl Message,
    ) -> Result<M, ProviderError> {
        let named = |message: &str| format!("{label} failed: {message}");
        let answer = self
            .exchange
            .ask(CallBack { label: label.to_owned(), function: function.clone(), request: request.encode_to_vec() })
            .await;
        let bytes = answer.map_err(|error| ProviderError {
            kind: match error.kind {
                ProviderErrorKind::Cancelled => ProviderErrorKind::Cancelled,
                _ => ProviderErrorKind::Hook,
            },
            message: named(&error.message).into(),
            ..error
        })?;
        M::decode(&bytes[..]).map_err(|error| {
            let message = named(&format!("its answer cannot be decoded: {}", why_unreadable(&error)));
            ProviderError::new(ProviderErrorKind::Hook, message)
        })
    }
}

#[cfg(test)]
mod hooks_tests;
#[cfg(test)]
mod transforms_tests;
