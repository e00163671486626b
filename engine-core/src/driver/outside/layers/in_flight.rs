//! The list of the calls that are being made.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::layer::HostLayer;
use crate::provider::{Answer, Method, ObjectId, ProviderCall, ProviderError, ProviderHost};
use crate::urn::Urn;

use crate::driver::reports::progress::SlowCall;

/// See the module's text.
pub(in crate::driver) struct InFlight {
    inner: Arc<dyn ProviderHost>,
    calls: Mutex<BTreeMap<u64, Call>>,
    cancelled: AtomicBool,
}

struct Call {
    urn: Urn,
    method: &'static str,
    began: Instant,
    /// How long it had taken when it was last told of.
    told: Duration,
}

impl InFlight {
    pub(in crate::driver) fn new(inner: Arc<dyn ProviderHost>) -> Self {
        Self { inner, calls: Mutex::default(), cancelled: AtomicBool::new(false) }
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<u64, Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The resources whose provider is being called now, with the method's name.
    pub(in crate::driver) fn list(&self) -> Vec<(Urn, &'static str)> {
        self.calls().values().map(|call| (call.urn.clone(), call.method)).collect()
    }

    /// So many of the calls that have gone on for the longest time, the longest first.
    pub(in crate::driver) fn slowest(&self, now: Instant, most: usize) -> Vec<SlowCall> {
        let calls = self.calls();
        let mut oldest: Vec<&Call> = calls.values().collect();
        oldest.sort_by_key(|call| call.began);
        let slow = |call: &Call| SlowCall {
            urn: call.urn.clone(),
            method: call.method,
            time: now.saturating_duration_since(call.began),
        };
        oldest.into_iter().take(most).map(slow).collect()
    }

    /// Tells the code of all calls, those that begin later too, that the run is to end.
    pub(in crate::driver) fn cancel_all(&self) {
        self.cancelled.store(true, Ordering::Release);
        let numbers: Vec<u64> = self.calls().keys().copied().collect();
        if !numbers.is_empty() {
            self.inner.cancel(&numbers);
        }
    }

    /// The calls to be told of: those that have taken `first`, and twice as long as when they were last told of.
    pub(in crate::driver) fn take_slow(&self, now: Instant, first: Duration) -> Vec<(Urn, &'static str, Duration)> {
        let mut slow = Vec::new();
        for call in self.calls().values_mut() {
            let age = now.saturating_duration_since(call.began);
            if age >= first.max(call.told.saturating_mul(2)) {
                call.told = age;
                slow.push((call.urn.clone(), call.method, age));
            }
        }
        slow
    }
}

#[async_trait]
impl HostLayer for InFlight {
    fn inner(&self) -> &dyn ProviderHost {
        &*self.inner
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let (urn, method, began) = (call.urn.clone(), call.method.name(), self.inner.now());
        self.calls().insert(call.number, Call { urn, method, began, told: Duration::ZERO });
        let _listed = ListEntry(self, call.number);
        // A `close` is made in a run that was cancelled too.
        if self.cancelled.load(Ordering::Acquire) && !matches!(call.method, Method::Close) {
            self.inner.cancel(&[call.number]);
        }
        self.inner.call(object, call).await
    }
}

/// A call in the list; it leaves the list also when it is given up.
struct ListEntry<'a>(&'a InFlight, u64);

impl Drop for ListEntry<'_> {
    fn drop(&mut self) {
        self.0.calls().remove(&self.1);
    }
}
