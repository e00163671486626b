//! A plugin that is judged: what it is configured with, its process, and the threads on which its runs go on.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::PropertyMap;
use maloko_core::Value;
use maloko_core::error::{Error, Result};
use maloko_core::plugin::{PackageRequest, PluginAnswer, PluginHost, PluginQuestion};
use maloko_core::provider::{ObjectId, ProviderError};
use maloko_core::served_by::{ServedBy, served_by};
use maloko_core::urn::{Urn, package_of};
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};

use super::kept::KeptPlugin;
use crate::run_request::Config;

/// Project and stack of every example.
pub(crate) const PROJECT: &str = "project";
pub(crate) const STACK: &str = "dev";

/// What is judged.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PluginSetup {
    /// The type token of the resources.
    #[serde(rename = "type")]
    pub kind: String,
    /// The version of the package, or of the plugin that makes it of parameters; empty for any.
    pub version: String,
    /// What the plugin makes the package of, as a user writes it behind the plugin's name; empty: it is the plugin's own one.
    pub parameters: Vec<String>,
    /// The configuration; a key without a namespace is one of the package.
    pub config: BTreeMap<String, Config>,
}

impl PluginSetup {
    /// Is its type one of a package?
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> std::result::Result<(), String> {
        let kind = &self.kind;
        if kind.split(':').count() >= 3 && served_by(kind) == ServedBy::Plugin {
            return Ok(());
        }
        Err(format!("'{kind}' is no type of a package; a type's token is like 'random:index/randomPet:RandomPet'"))
    }

    /// The configuration by full key.
    #[must_use]
    pub fn full_config(&self) -> BTreeMap<String, Config> {
        let package = package_of(&self.kind);
        let full = |key: &String| if key.contains(':') { key.clone() } else { format!("{package}:{key}") };
        self.config.iter().map(|(key, value)| (full(key), value.clone())).collect()
    }
}

/// See the module's text. Clones are the same.
#[derive(Clone)]
pub struct PluginUnderTest(Arc<TestedPlugin>);

/// Makes what finds and starts plugins: one for each process that is to be beside another.
pub type Plugins = Box<dyn Fn() -> Arc<dyn PluginHost> + Send + Sync>;

pub(crate) struct TestedPlugin {
    pub(crate) setup: PluginSetup,
    plugins: Plugins,
    /// The process that goes on from example to example.
    pub(crate) kept: Arc<KeptPlugin>,
    runtime: Option<Runtime>,
}

impl PluginUnderTest {
    /// A plugin that is found and started by what `plugins` makes. Nothing is started yet.
    ///
    /// # Errors
    /// What is no type token of a package, and a machine without threads.
    pub fn new(setup: PluginSetup, plugins: Plugins) -> Result<Self> {
        setup.check().map_err(|text| Error::Configuration(text.into()))?;
        let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("maloko-laws").enable_time().build();
        let runtime =
            runtime.map_err(|error| Error::Configuration(format!("no thread can be started: {error}").into()))?;
        let kept = Arc::new(KeptPlugin::new(plugins()));
        Ok(Self(Arc::new(TestedPlugin { setup, plugins, kept, runtime: Some(runtime) })))
    }

    pub(crate) fn shared(&self) -> &Arc<TestedPlugin> {
        &self.0
    }

    /// Starts and configures it.
    ///
    /// # Errors
    /// In words: it is not there, does not come up, or refuses its configuration.
    pub async fn prepare(&self) -> std::result::Result<(), String> {
        let shared = Arc::clone(&self.0);
        let ready = self.0.on_runtime(async move { shared.ready().await.map(drop) }).await;
        ready.unwrap_or_else(|| Ok(())).map_err(|error| error.message.to_string())
    }

    /// Makes nothing more: what goes on is asked to end. What was made is deleted all the same.
    pub fn give_up(&self) {
        self.0.kept.give_up();
    }

    /// Ends its process.
    pub async fn close(&self) {
        let kept = Arc::clone(&self.0.kept);
        self.0.on_runtime(async move { kept.end().await }).await;
    }
}

impl TestedPlugin {
    /// Does something on the threads of the runs; `None` when that fails, which is a defect of maloko's.
    pub(crate) async fn on_runtime<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.runtime.as_ref()?.spawn(work).await.ok()
    }

    /// The plugin once more, as a process of its own.
    pub(crate) fn another(&self) -> KeptPlugin {
        KeptPlugin::new((self.plugins)())
    }

    /// Starts and configures the plugin as a run does; gives its number.
    pub(super) async fn ready(&self) -> std::result::Result<ObjectId, ProviderError> {
        self.ready_on(&self.kept).await
    }

    /// The same of one of its processes.
    pub(crate) async fn ready_on(&self, kept: &KeptPlugin) -> std::result::Result<ObjectId, ProviderError> {
        let name = package_of(&self.setup.kind);
        let urn = Urn::new(STACK, PROJECT, "", &format!("pulumi:providers:{name}"), "default");
        let package =
            PackageRequest { name: name.to_owned(), version: self.setup.version.clone(), ..PackageRequest::default() };
        let plugin = kept.start(&package, &urn).await?;
        let own = |key: &str| Some(key.strip_prefix(name)?.strip_prefix(':')?.to_owned());
        let mut news: PropertyMap = self
            .setup
            .full_config()
            .iter()
            .filter_map(|(key, config)| {
                let text = Value::String(config.value.clone());
                Some((own(key)?, if config.secret { Value::secret(text) } else { text }))
            })
            .collect();
        if !self.setup.version.is_empty() {
            news.insert("version".to_owned(), Value::String(self.setup.version.clone()));
        }
        let question = PluginQuestion::CheckConfig { urn: urn.clone(), olds: PropertyMap::new(), news };
        let PluginAnswer::Checked { inputs, failures } = kept.ask(plugin, question).await? else {
            return Ok(plugin);
        };
        if !failures.is_empty() {
            let told: Vec<String> = failures.iter().map(|it| format!("{}: {}", it.property, it.reason)).collect();
            let text = format!("the plugin of the package '{name}' refuses its configuration: {}", told.join("; "));
            return Err(ProviderError::new(maloko_core::provider::ProviderErrorKind::Raised, text));
        }
        kept.ask(plugin, PluginQuestion::Configure { urn, id: None, inputs }).await?;
        Ok(plugin)
    }
}

impl Drop for TestedPlugin {
    fn drop(&mut self) {
        // It may be dropped where nobody may wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
