//! Provider calls whose printed output is told before their outcome.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use maloko_core::layer::HostLayer;
use maloko_core::provider::{Answer, ObjectId, ProviderCall, ProviderError, ProviderHost};

use crate::terminal::capture::Settler;

/// A host that, after each call, waits for what the call printed: so it is told as that resource's, and before the step
/// is over.
pub(crate) struct SettlingHost {
    inner: Arc<dyn ProviderHost>,
    settler: OnceLock<Settler>,
}

impl SettlingHost {
    /// Around the host of a language binding.
    pub(crate) fn new(inner: Arc<dyn ProviderHost>) -> Self {
        Self { inner, settler: OnceLock::new() }
    }

    /// From now on output is captured.
    pub(crate) fn settle_with(&self, settler: Settler) {
        // A second capture does not occur within one operation; the first one stays.
        drop(self.settler.set(settler));
    }

    /// Waits for what the program printed, which has ended.
    pub(crate) fn settle_program(&self) {
        if let Some(settler) = self.settler.get() {
            settler.settle_whole();
        }
    }

    fn settle(&self) {
        if let Some(settler) = self.settler.get() {
            settler.settle();
        }
    }
}

#[async_trait]
impl HostLayer for SettlingHost {
    fn inner(&self) -> &dyn ProviderHost {
        &*self.inner
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let answer = self.inner.call(object, call).await;
        self.settle();
        answer
    }
}
