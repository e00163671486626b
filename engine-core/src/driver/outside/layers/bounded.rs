//! Errors of a length that a terminal and a state can bear, and without secrets where they are kept.

use std::sync::Arc;

use async_trait::async_trait;

use crate::layer::HostLayer;
use crate::provider::{Answer, ObjectId, ProviderCall, ProviderError, ProviderErrorKind, ProviderHost};
use crate::redaction::Redactor;

/// See the module's text.
pub(in crate::driver) struct BoundedErrors {
    inner: Arc<dyn ProviderHost>,
    redactor: Arc<Redactor>,
}

impl BoundedErrors {
    pub(in crate::driver) fn new(inner: Arc<dyn ProviderHost>, redactor: Arc<Redactor>) -> Self {
        Self { inner, redactor }
    }
}

#[async_trait]
impl HostLayer for BoundedErrors {
    fn inner(&self) -> &dyn ProviderHost {
        &*self.inner
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        self.inner.call(object, call).await.map_err(|mut error| {
            // They are kept in the state, where nobody looks for secrets.
            if let ProviderErrorKind::NotInitialized { properties, reasons, .. } = &mut error.kind {
                self.redactor.learn_properties(properties);
                for reason in reasons {
                    *reason = self.redactor.message(reason).into_owned();
                }
            }
            // Last, so that no half of a secret is left where a text is cut.
            error.bounded()
        })
    }
}
