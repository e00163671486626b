//! Layers around a provider host: each says only what it does otherwise.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::message::Code;
use crate::provider::{
    Answer, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderHost, ProviderReference,
    SerializedProvider, Spawner,
};

/// Something around a provider host. What a layer does not say otherwise goes to the host inside, so layers can be put
/// around each other in any order.
#[async_trait]
pub trait HostLayer: Send + Sync {
    /// The host inside.
    fn inner(&self) -> &dyn ProviderHost;

    /// See [`ProviderHost::describe`].
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        self.inner().describe(object)
    }

    /// See [`ProviderHost::call`].
    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        self.inner().call(object, call).await
    }

    /// See [`ProviderHost::callback`].
    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        self.inner().callback(token, request).await
    }

    /// See [`ProviderHost::cancel`].
    fn cancel(&self, calls: &[u64]) {
        self.inner().cancel(calls);
    }

    /// See [`ProviderHost::now`].
    fn now(&self) -> Instant {
        self.inner().now()
    }

    /// See [`ProviderHost::wait`].
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.inner().wait(time)
    }

    /// See [`ProviderHost::watch`].
    fn watch(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.inner().watch(time)
    }

    /// See [`ProviderHost::code`].
    fn code(&self, code: Code) -> String {
        self.inner().code(code)
    }

    /// See [`ProviderHost::spawner_here`].
    fn spawner_here(&self) -> Option<Spawner> {
        self.inner().spawner_here()
    }

    /// See [`ProviderHost::spawn`].
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.inner().spawn(task);
    }
}

#[async_trait]
impl<L: HostLayer> ProviderHost for L {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        HostLayer::describe(self, object)
    }

    async fn find(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.inner().find(reference).await
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.inner().rebuild(reference).await
    }

    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.inner().named(reference).await
    }

    async fn is_by_hand(&self, reference: &ProviderReference) -> Result<bool, ProviderError> {
        self.inner().is_by_hand(reference).await
    }

    async fn serialize(&self, object: ObjectId) -> Result<SerializedProvider, ProviderError> {
        self.inner().serialize(object).await
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        HostLayer::call(self, object, call).await
    }

    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        HostLayer::callback(self, token, request).await
    }

    fn cancel(&self, calls: &[u64]) {
        HostLayer::cancel(self, calls);
    }

    fn now(&self) -> Instant {
        HostLayer::now(self)
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        HostLayer::wait(self, time)
    }

    fn watch(&self, time: Duration) -> BoxFuture<'static, ()> {
        HostLayer::watch(self, time)
    }

    fn code(&self, code: Code) -> String {
        HostLayer::code(self, code)
    }

    fn spawner_here(&self) -> Option<Spawner> {
        HostLayer::spawner_here(self)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        HostLayer::spawn(self, task);
    }
}
