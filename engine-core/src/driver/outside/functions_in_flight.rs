//! The list of the program's functions that are being called.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// See the module's text.
#[derive(Default)]
pub(in crate::driver) struct FunctionsInFlight {
    labels: Mutex<BTreeMap<u64, String>>,
    next: AtomicU64,
}

impl FunctionsInFlight {
    /// Lists a call until what this gives is dropped, which it also is when the call is given up.
    pub(in crate::driver) fn enter(self: &Arc<Self>, label: String) -> FunctionEntry {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.labels.lock().unwrap_or_else(PoisonError::into_inner).insert(number, label);
        FunctionEntry(Arc::clone(self), number)
    }

    pub(in crate::driver) fn list(&self) -> Vec<String> {
        self.labels.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// A call in the list.
pub(in crate::driver) struct FunctionEntry(Arc<FunctionsInFlight>, u64);

impl Drop for FunctionEntry {
    fn drop(&mut self) {
        self.0.labels.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}
