//! Plugins as a process of the simulation reaches them: every call takes its time, the process may be gone at either end of it,
//! and so may the plugin.

use std::sync::Weak;

use async_trait::async_trait;
use maloko_core::Urn;
use maloko_core::plugin::{PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{Answer, Method, ObjectId, ProviderCall, ProviderError, ProviderErrorKind};

use super::process_plugins::ProcessPlugins;
use super::provider::ProcessHost;

impl ProcessHost {
    /// Goes to a plugin and back; `None` when the process is gone meanwhile. `lost`: the plugin dies when it has acted.
    async fn visit<T>(
        &self,
        plugin: ObjectId,
        what: &str,
        act: impl FnOnce(&mut ProcessPlugins) -> Result<T, ProviderError> + Send,
    ) -> Result<T, ProviderError>
    where
        T: Send,
    {
        let machine = self.machine();
        let died = || ProviderError::new(ProviderErrorKind::Died, format!("the plugin ended in {what}"));
        self.pass(&format!("call {what}")).await?;
        self.travel().await;
        if !machine.world.is_alive(machine.process) {
            return std::future::pending().await;
        }
        if machine.world.plugin_dies(machine.process, what) {
            self.served().plugins.end(plugin);
            return Err(died());
        }
        let outcome = act(&mut self.served());
        if machine.world.plugin_dies(machine.process, &format!("answer of {what}")) {
            self.served().plugins.end(plugin);
            return Err(died());
        }
        self.pass(&format!("answer of {what}")).await?;
        self.travel().await;
        outcome
    }
}

#[async_trait]
impl PluginHost for ProcessHost {
    fn bind(&self, _engine: Weak<dyn PluginClient>) {}

    async fn start(&self, _package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError> {
        self.pass(&format!("start the plugin of {}", provider.name())).await?;
        self.travel().await;
        self.served().plugins.start(self.providers(), provider.name())
    }

    async fn ask(&self, plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        let (urn, method) = match &question {
            PluginQuestion::CheckConfig { urn, .. } => (urn, "check-config"),
            PluginQuestion::DiffConfig { urn, .. } => (urn, "diff-config"),
            PluginQuestion::Configure { urn, .. } => (urn, "configure"),
            _ => return Err(ProviderError::new(ProviderErrorKind::NoMethod, "these plugins have no functions")),
        };
        self.visit(plugin, &format!("{method} of {}", urn.name()), |served| {
            if let PluginQuestion::Configure { urn, id, .. } = &question {
                let reference = format!("{urn}::{}", id.clone().unwrap_or_default());
                served.references.insert(plugin, reference);
            }
            served.plugins.ask(self.providers(), plugin, &question)
        })
        .await
    }

    async fn call(&self, plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let name = call.urn.name().to_owned();
        let what = format!("{} of {name}", call.method.name());
        self.visit(plugin, &what, |served| {
            if matches!(call.method, Method::Create { .. }) {
                self.is_creating(&name);
            }
            if let Some(misled) = served.misled(plugin, &name, &call.method) {
                self.note_misled(misled);
            }
            served.plugins.call(&mut self.cloud(), self.providers(), plugin, &name, &call)
        })
        .await
    }

    async fn call_back(&self, target: &str, _token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::Raised, format!("no functions at {target}")))
    }

    fn cancel(&self) {}

    async fn stop(&self, plugin: ObjectId) {
        self.served().plugins.end(plugin);
    }

    async fn stop_all(&self) {}
}
