//! Permits for calls of providers: at most `--parallel` calls at a time, and no more than a provider class allows.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atomic_refcell::AtomicRefCell;
use futures::future::{Either, select};

use crate::provider::{CallLimits, ProviderError, ProviderErrorKind};
use crate::urn::Urn;

use crate::driver::RpcError;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::run::context::Context;
use crate::driver::run::permits::{Permit, Permits};

/// The calls that all objects of one provider class make, where the class limits them.
pub(in crate::driver) struct ClassPermits {
    /// One permit for each call that may run at a time; `None` when any number may.
    slots: Option<Permits>,
    interval: Duration,
    /// Held by the next call of the class while it waits for its time, so that the class's calls begin one by one.
    next: Permits,
    /// When the latest call began.
    latest: AtomicRefCell<Option<Instant>>,
}

impl ClassPermits {
    pub(in crate::driver) fn new(limits: &CallLimits) -> Self {
        Self {
            slots: limits.max_concurrency.map(|calls| Permits::new(calls.max(1))),
            interval: limits.min_interval,
            next: Permits::new(1),
            latest: AtomicRefCell::default(),
        }
    }

    /// How long the next call has still to wait.
    fn wait(&self, now: Instant) -> Option<Duration> {
        let wait = (*self.latest.borrow())?.checked_add(self.interval)?.saturating_duration_since(now);
        (!wait.is_zero()).then_some(wait)
    }

    fn begin(&self, now: Instant) {
        *self.latest.borrow_mut() = Some(now);
    }
}

/// Held while a call goes on.
pub(in crate::driver) struct CallPermit {
    _class: Option<Permit>,
    _run: Permit,
}

impl Context {
    /// Waits until a provider may be asked something. The limits of its class do not count: what is asked here (`check`
    /// and `diff`) is asked of every resource in every run, whether it changes or not.
    pub(in crate::driver) async fn permit(&self, urn: &Urn) -> Result<Permit, RpcError> {
        let permit = self.permits.acquire(1).await;
        self.go_on()?;
        self.tell_call(urn);
        Ok(permit)
    }

    /// Waits until a provider may be called to create, read, update or delete. While a call waits for its class, it uses none of
    /// the permits of `--parallel`. An error of the kind `Cancelled` if the run stops first.
    pub(in crate::driver) async fn call_permit(
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
        let slot = match &class.slots {
            Some(slots) => Some(slots.acquire(1).await),
            None => None,
        };
        let next = class.next.acquire(1).await;
        self.go_on()?;
        if let Some(wait) = class.wait(self.exchange.moment().instant)
            && let Either::Right(_) = select(pin!(self.exchange.wait(wait)), pin!(self.stop.wait())).await
        {
            return Err(RpcError::unavailable());
        }
        let permit = self.permit(urn).await?;
        class.begin(self.exchange.moment().instant);
        drop(next);
        Ok(CallPermit { _class: slot, _run: permit })
    }
}

/// The run ended, for whatever reason, while a call waited for its turn.
pub(in crate::driver) fn stopped_before_call<E>(_: E) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the run was stopped before the call")
}

/// The turns of provider classes by their names; objects of one class share them.
#[derive(Default)]
pub(in crate::driver) struct PermitsByClass(AtomicRefCell<HashMap<String, Arc<ClassPermits>>>);

impl PermitsByClass {
    /// The turns of a class. The limits of its first object count.
    pub(in crate::driver) fn of(&self, limits: &CallLimits) -> Arc<ClassPermits> {
        let mut known = self.0.borrow_mut();
        Arc::clone(known.entry(limits.class.clone()).or_insert_with(|| Arc::new(ClassPermits::new(limits))))
    }
}
