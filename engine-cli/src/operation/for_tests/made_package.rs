//! The plugins of tests, one of which makes the package that is tested of a few words, such as any provider of Terraform.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use maloko_core::plugin::{PackageParameter, PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{Answer, ObjectId, ProviderCall, ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_packages::schema::read;
use maloko_plugins::Plugins;
use tokio::sync::OnceCell;

/// A package, and what a plugin makes it of.
pub(super) struct MadePackage {
    /// The package's name.
    pub(super) name: String,
    /// The plugin.
    pub(super) plugin: PackageRequest,
    /// What stands behind the plugin's name where a user adds the package.
    pub(super) arguments: Vec<String>,
    /// The same as a program's SDK has it, once the plugin has been asked.
    pub(super) made: OnceCell<PackageRequest>,
}

/// Plugins, the package's own one with its parameter.
pub(super) struct WithMadePackage {
    pub(super) plugins: Plugins,
    pub(super) package: Arc<MadePackage>,
}

impl WithMadePackage {
    async fn made(&self) -> Result<PackageRequest, ProviderError> {
        let MadePackage { name, plugin, arguments, .. } = &*self.package;
        let refused = |what: String| {
            let text =
                format!("the plugin '{}' made no package '{name}' of {}: {what}", plugin.name, arguments.join(" "));
            ProviderError::new(ProviderErrorKind::NoProvider, text)
        };
        let found = self.plugins.schema_with(plugin, arguments).await?;
        let text = String::from_utf8(found.schema).map_err(|_| refused("its schema is no text".to_owned()))?;
        let schema = read(&text).map_err(|fault| refused(fault.to_string()))?;
        if schema.name != *name {
            return Err(refused(format!("it made '{}'", schema.name)));
        }
        let parameter = schema.parameter.ok_or_else(|| refused("its schema has no parameter".to_owned()))?;
        let PackageRequest { name: plugin, version, .. } = plugin.clone();
        Ok(PackageRequest {
            name: schema.name,
            version: schema.version,
            parameter: Some(PackageParameter { plugin, version, value: parameter.value }),
            ..PackageRequest::default()
        })
    }
}

#[async_trait]
impl PluginHost for WithMadePackage {
    fn bind(&self, engine: Weak<dyn PluginClient>) {
        self.plugins.bind(engine);
    }

    async fn start(&self, package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError> {
        if package.name != self.package.name {
            return self.plugins.start(package, provider).await;
        }
        let made = self.package.made.get_or_try_init(|| self.made()).await?;
        self.plugins.start(made, provider).await
    }

    async fn ask(&self, plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        self.plugins.ask(plugin, question).await
    }

    async fn call(&self, plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        self.plugins.call(plugin, call).await
    }

    async fn call_back(&self, target: &str, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        self.plugins.call_back(target, token, request).await
    }

    fn cancel(&self) {
        self.plugins.cancel();
    }

    async fn stop(&self, plugin: ObjectId) {
        self.plugins.stop(plugin).await;
    }

    async fn stop_all(&self) {
        self.plugins.stop_all().await;
    }
}
