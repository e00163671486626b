//! The plugins of a test's run: what is asked of them passes the kit's host, for its log, faults and points to crash at.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use maloko_core::layer::HostLayer;
use maloko_core::plugin::{PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{Answer, Method, ObjectId, ProviderCall, ProviderError};
use maloko_core::urn::Urn;

use crate::host::KitHost;

/// See the module's text.
pub(crate) struct KitPlugins(pub(crate) Arc<KitHost>);

#[async_trait]
impl PluginHost for KitPlugins {
    fn bind(&self, engine: Weak<dyn PluginClient>) {
        self.0.plugins().bind(engine);
    }

    async fn start(&self, package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError> {
        let _at_work = self.0.at_work();
        self.0.plugins().start(package, provider).await
    }

    async fn ask(&self, plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        let _at_work = self.0.at_work();
        self.0.plugins().ask(plugin, question).await
    }

    async fn call(&self, plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let preview = call.for_plugin.as_ref().is_some_and(|it| it.preview);
        if preview && matches!(call.method, Method::Create { .. } | Method::Update { .. }) {
            // It only asks what would be: nothing is made, and nothing can go wrong.
            let _at_work = self.0.at_work();
            return self.0.plugins().call(plugin, call).await;
        }
        HostLayer::call(&*self.0, plugin, call).await
    }

    async fn call_back(&self, target: &str, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        let _at_work = self.0.at_work();
        self.0.plugins().call_back(target, token, request).await
    }

    fn cancel(&self) {
        self.0.plugins().cancel();
    }

    async fn stop(&self, plugin: ObjectId) {
        self.0.plugins().stop(plugin).await;
    }

    async fn stop_all(&self) {
        let _at_work = self.0.at_work();
        self.0.plugins().stop_all().await;
    }
}
