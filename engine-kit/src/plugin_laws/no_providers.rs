//! A host language without live objects: plugins alone serve what is registered.

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_core::provider::{
    Answer, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderHost,
    ProviderReference,
};
use tokio::runtime::Handle;

/// See the module's text.
pub(crate) struct NoProviders(pub(super) Handle);

/// The object that a fault calls where an answer is to be lost.
pub(crate) const LOST: ObjectId = 1;

fn none() -> ProviderError {
    ProviderError::new(ProviderErrorKind::NoProvider, "there are no provider objects where a plugin is judged")
}

#[async_trait]
impl ProviderHost for NoProviders {
    fn describe(&self, _object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Err(none())
    }

    async fn rebuild(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn named(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn call(&self, object: ObjectId, _call: ProviderCall) -> Result<Answer, ProviderError> {
        // As when a plugin dies before it has answered.
        let lost = || ProviderError::new(ProviderErrorKind::Died, "the answer was lost");
        Err(if object == LOST { lost() } else { none() })
    }

    async fn callback(&self, _token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(none())
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        drop(self.0.spawn(task));
    }
}
