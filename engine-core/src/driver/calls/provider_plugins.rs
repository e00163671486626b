//! The plugins of provider resources: found for a request, started, configured beside everything else, compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::plan::Goal;
use crate::plugin::{PackageRequest, PluginQuestion};
use crate::provider::{Answer, DiffAnswer, ProviderError};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::driver::answers::RpcError;
use crate::driver::calls::plugins::{PluginProvider, RegisteredPackage, package_of_inputs, without_internal};
use crate::driver::calls::provider_resources::{ProviderResource, diff_of};
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::{ProviderKind, ResolvedProvider};
use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::AskPlugin;

/// See the module's text.
pub(crate) struct ProviderPlugins {
    exchange: Arc<Exchange>,
    providers: Arc<Providers>,
}

impl ProviderPlugins {
    pub(crate) fn new(exchange: &Arc<Exchange>, providers: &Arc<Providers>) -> Self {
        Self { exchange: Arc::clone(exchange), providers: Arc::clone(providers) }
    }

    /// The package of a request, with what extends it: the one that the program registered in this run by that reference, else as the request
    /// names it.
    pub(crate) fn package_asked_for(
        &self,
        reference: &str,
        name: &str,
        version: &str,
        download_url: &str,
        checksums: BTreeMap<String, String>,
    ) -> Result<RegisteredPackage, RpcError> {
        if reference.is_empty() {
            return Ok((package(name, version, download_url, checksums), None));
        }
        let known = self.providers.plugins.package(reference);
        known.ok_or_else(|| RpcError::invalid(format!("no package was registered as '{reference}'")))
    }

    /// The plugin of a provider resource that is registered, started for that.
    pub(crate) async fn start_provider(&self, urn: &Urn, goal: &Goal) -> Result<ResolvedProvider, ProviderError> {
        let package = package_of_inputs(urn.provider_package().unwrap_or_default(), &goal.inputs);
        let resource = ProviderResource::start(&self.providers.plugins, package, urn).await?;
        Ok(ResolvedProvider::provider_resource(resource))
    }

    /// Takes note of a provider resource that was registered, and has its plugin configured beside everything else. What
    /// goes wrong with that is told to the first resource that needs it.
    pub(crate) fn note_provider(&self, state: &ResourceState, resolved: &ResolvedProvider, inputs: &Arc<PropertyMap>) {
        let ProviderKind::Provider(resource) = &resolved.server else { return };
        let provider = self.providers.plugins.register(state, resource.plugin(), inputs);
        self.have_configured(provider);
    }

    /// Has a plugin started and configured in a flow of its own. The first resource that needs it is told the result.
    fn have_configured(&self, provider: Arc<PluginProvider>) {
        let providers = Arc::clone(&self.providers);
        let flow = self.exchange.new_flow();
        self.exchange.begin_flow(flow, move || Box::pin(async move { drop(providers.plugins.ready(&provider).await) }));
    }

    /// Has the plugins of resources started and configured side by side, before the first of them is called.
    pub(crate) fn start_plugins_of<'r>(&self, resources: impl Iterator<Item = &'r Arc<ResourceState>>) {
        let served = resources.filter(|resource| resource.served_by() == ServedBy::Plugin && !resource.external);
        // One of each provider resource; what runs code beside that is started when it is needed.
        let references: BTreeSet<&str> =
            served.filter(|resource| resource.code().is_none()).map(|resource| resource.provider.as_str()).collect();
        for provider in references.into_iter().filter_map(|reference| self.providers.plugins.of(reference).ok()) {
            self.have_configured(provider);
        }
    }

    /// Asks whether a resource can go from the provider resource of its state to another one.
    pub(crate) async fn compare_providers(
        &self,
        old: &str,
        resolved: &ResolvedProvider,
    ) -> Result<Answer, ProviderError> {
        let same = || Answer::Diffed(DiffAnswer::default());
        let plugins = &self.providers.plugins;
        let ProviderKind::Plugin(provider) = &resolved.server else { return Ok(same()) };
        let (Some(before), Some(news)) = (plugins.resource(old), provider.inputs()) else { return Ok(same()) };
        let Some(plugin) = plugins.ready(provider).await? else { return Ok(same()) };
        let question = PluginQuestion::DiffConfig {
            urn: provider.urn.clone(),
            olds: (*before.outputs_or_empty()).clone(),
            old_inputs: without_internal(&before.inputs),
            news: (*news).clone(),
            ignore_changes: Vec::new(),
        };
        diff_of(self.exchange.ask(AskPlugin(plugin, Box::new(question))).await?)
    }
}

/// A package as requests name it.
pub(crate) fn package(
    name: &str,
    version: &str,
    download_url: &str,
    checksums: BTreeMap<String, String>,
) -> PackageRequest {
    PackageRequest {
        name: name.to_owned(),
        version: version.strip_prefix('v').unwrap_or(version).to_owned(),
        download_url: download_url.trim_end_matches('/').to_owned(),
        checksums,
        parameter: None,
        environments: Vec::new(),
    }
}
