//! Permits for calls of providers: at most `--parallel` calls at a time, and no more than a provider class allows.

use std::pin::pin;
use std::sync::Arc;

use futures::future::{Either, select};

use crate::activity::ActivityKind;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::urn::Urn;

use crate::driver::answers::RpcError;
use crate::driver::calls::class_permits::ClassPermits;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::exchange::Exchange;
use crate::driver::flow_states::{FlowStates, StepState};
use crate::driver::outside_calls::Sleep;
use crate::driver::permits::{Permit, Permits};
use crate::driver::reports::Reports;
use crate::driver::stop::Stop;
use crate::driver::watched_waits::WatchedWaits;

/// Held while a call goes on.
pub(crate) struct CallPermit {
    _class: Option<Permit>,
    _run: Permit,
}

/// Who may call a provider now: `--parallel`, and the limits of provider classes.
pub(crate) struct CallPermits {
    /// One for each call that may be made at a time.
    permits: Permits,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    reports: Arc<Reports>,
    waits: Arc<WatchedWaits>,
    flow_states: Arc<FlowStates>,
}

impl CallPermits {
    /// At most `parallel` calls go on at a time.
    pub(crate) fn new(
        parallel: usize,
        exchange: &Arc<Exchange>,
        stop: &Arc<Stop>,
        reports: &Arc<Reports>,
        waits: &Arc<WatchedWaits>,
        flow_states: &Arc<FlowStates>,
    ) -> Self {
        Self {
            permits: Permits::new(parallel),
            exchange: Arc::clone(exchange),
            stop: Arc::clone(stop),
            reports: Arc::clone(reports),
            waits: Arc::clone(waits),
            flow_states: Arc::clone(flow_states),
        }
    }

    /// Waits until a provider may be asked something. The limits of its class do not count: what is asked here (`check`
    /// and `diff`) is asked of every resource in every run, whether it changes or not.
    pub(crate) async fn permit(&self, urn: &Urn) -> Result<Permit, RpcError> {
        self.flow_states.step_at(urn, StepState::AwaitingPermit);
        let name = StepState::AwaitingPermit.waits_for();
        let permit = self.waits.wait_watched(ActivityKind::Permit, urn, name, self.permits.acquire(1)).await;
        self.stop.wait_while_held().await;
        self.reports.go_on()?;
        self.reports.call_began(urn);
        Ok(permit)
    }

    /// Waits until a provider may be called to create, read, update or delete. While a call waits for its class, it uses none of
    /// the permits of `--parallel`. An error of the kind `Cancelled` if the run stops first.
    pub(crate) async fn call_permit(
        &self,
        urn: &Urn,
        resolved: &ResolvedProvider,
    ) -> Result<CallPermit, ProviderError> {
        self.permit_of_class(urn, resolved).await.map_err(stopped_before_call)
    }

    async fn permit_of_class(&self, urn: &Urn, resolved: &ResolvedProvider) -> Result<CallPermit, RpcError> {
        let Some(class) = resolved.class_permits.as_deref() else {
            return Ok(CallPermit { _class: None, _run: self.permit(urn).await? });
        };
        self.flow_states.step_at(urn, StepState::AwaitingClass);
        let (slot, next) = self
            .waits
            .wait_watched(ActivityKind::Permit, urn, StepState::AwaitingClass.waits_for(), self.turn_of_class(class))
            .await?;
        let permit = self.permit(urn).await?;
        class.begin(self.exchange.moment().instant);
        drop(next);
        Ok(CallPermit { _class: slot, _run: permit })
    }

    /// Waits until a provider class allows another call. The second permit is held until that call begins.
    async fn turn_of_class(&self, class: &ClassPermits) -> Result<(Option<Permit>, Permit), RpcError> {
        let slot = match &class.slots {
            Some(slots) => Some(slots.acquire(1).await),
            None => None,
        };
        let next = class.next.acquire(1).await;
        self.reports.go_on()?;
        if let Some(wait) = class.wait(self.exchange.moment().instant)
            && let Either::Right(_) = select(pin!(self.exchange.ask(Sleep(wait))), pin!(self.stop.wait())).await
        {
            return Err(RpcError::unavailable());
        }
        Ok((slot, next))
    }
}

/// The run ended, for whatever reason, while a call waited for its turn.
pub(crate) fn stopped_before_call<E>(_: E) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the run was stopped before the call")
}
