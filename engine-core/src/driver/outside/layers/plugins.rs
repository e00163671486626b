//! Plugins beside live objects: a call goes to whoever has the number.

use std::sync::Arc;

use async_trait::async_trait;

use crate::layer::HostLayer;
use crate::plugin::{FIRST_PLUGIN, PluginHost};
use crate::provider::{Answer, ObjectId, ProviderCall, ProviderError, ProviderHost};

/// See the module's text.
pub(in crate::driver) struct WithPlugins {
    inner: Arc<dyn ProviderHost>,
    plugins: Arc<dyn PluginHost>,
}

impl WithPlugins {
    pub(in crate::driver) fn new(inner: Arc<dyn ProviderHost>, plugins: Arc<dyn PluginHost>) -> Self {
        Self { inner, plugins }
    }
}

#[async_trait]
impl HostLayer for WithPlugins {
    fn inner(&self) -> &dyn ProviderHost {
        &*self.inner
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        if object >= FIRST_PLUGIN {
            return self.plugins.call(object, call).await;
        }
        self.inner.call(object, call).await
    }

    fn cancel(&self, calls: &[u64]) {
        self.plugins.cancel();
        self.inner.cancel(calls);
    }
}
