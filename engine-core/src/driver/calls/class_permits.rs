//! How many calls the objects of one provider class make at a time, and how fast they follow one another.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atomic_refcell::AtomicRefCell;

use crate::provider::CallLimits;

use crate::driver::permits::Permits;

/// The calls that all objects of one provider class make, where the class limits them.
pub(crate) struct ClassPermits {
    /// One permit for each call that may run at a time; `None` when any number may.
    pub(crate) slots: Option<Permits>,
    interval: Duration,
    /// Held by the next call of the class while it waits for its time, so that the class's calls begin one by one.
    pub(crate) next: Permits,
    /// When the latest call began.
    latest: AtomicRefCell<Option<Instant>>,
}

impl ClassPermits {
    pub(crate) fn new(limits: &CallLimits) -> Self {
        Self {
            slots: limits.max_concurrency.map(|calls| Permits::new(calls.max(1))),
            interval: limits.min_interval,
            next: Permits::new(1),
            latest: AtomicRefCell::default(),
        }
    }

    /// How long the next call has still to wait.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        let wait = (*self.latest.borrow())?.checked_add(self.interval)?.saturating_duration_since(now);
        (!wait.is_zero()).then_some(wait)
    }

    pub(crate) fn begin(&self, now: Instant) {
        *self.latest.borrow_mut() = Some(now);
    }
}

/// The turns of provider classes by their names; objects of one class share them.
#[derive(Default)]
pub(crate) struct PermitsByClass(AtomicRefCell<HashMap<String, Arc<ClassPermits>>>);

impl PermitsByClass {
    /// The turns of a class. The limits of its first object count.
    pub(crate) fn of(&self, limits: &CallLimits) -> Arc<ClassPermits> {
        let mut known = self.0.borrow_mut();
        Arc::clone(known.entry(limits.class.clone()).or_insert_with(|| Arc::new(ClassPermits::new(limits))))
    }
}
