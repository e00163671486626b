//! Provider calls whose printed output is told before their outcome.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_core::provider::{
    Answer, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderHost, ProviderReference,
    SerializedProvider,
};

use crate::capture::Settler;

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

    /// Waits for what was printed so far.
    pub(crate) fn settle(&self) {
        if let Some(settler) = self.settler.get() {
            settler.settle();
        }
    }
}

#[async_trait]
impl ProviderHost for SettlingHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        self.inner.describe(object)
    }

    async fn find(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.inner.find(reference).await
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.inner.rebuild(reference).await
    }

    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.inner.named(reference).await
    }

    async fn is_by_hand(&self, reference: &ProviderReference) -> Result<bool, ProviderError> {
        self.inner.is_by_hand(reference).await
    }

    async fn serialize(&self, object: ObjectId) -> Result<SerializedProvider, ProviderError> {
        self.inner.serialize(object).await
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let answer = self.inner.call(object, call).await;
        self.settle();
        answer
    }

    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        self.inner.callback(token, request).await
    }

    fn cancel(&self, calls: &[u64]) {
        self.inner.cancel(calls);
    }

    fn now(&self) -> Instant {
        self.inner.now()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.inner.wait(time)
    }

    fn watch(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.inner.watch(time)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.inner.spawn(task);
    }
}
