//! Who provides a resource of a package: the provider resource that the program names, that of a component around it, or
//! the default one of the package, which is registered at its first use.

use std::sync::Arc;

use crate::message;
use crate::operation::OperationKind;
use crate::plan::{Goal, RegistrationError};
use crate::plugin::PackageRequest;
use crate::provider::{Answer, DiffAnswer, Method, PluginArguments, ProviderError};
use crate::served_by::ServedBy;
use crate::urn::package_of;
use crate::value::{PropertyMap, UNKNOWN_TEXT, Value};

use crate::driver::answers::RpcError;
use crate::driver::calls::plugins::{INTERNAL, RegisteredPackage};
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::registration::RegistrationFlow;
use crate::driver::registration::outcome::RegistrationOutcome;

/// The configuration that lists the packages without a default provider.
const DISABLED: &str = "pulumi:disable-default-providers";

impl RegistrationFlow {
    /// Settles who provides the resource, before it is planned. For a provider resource: what the engine keeps in its
    /// state.
    pub(crate) async fn settle_package(&self, goal: &mut Goal) -> Result<(), RpcError> {
        let (package, extension) = self.package_of_goal(goal)?;
        goal.extension = extension;
        if goal.served_by() == Some(ServedBy::ItsPlugin) {
            keep_package(goal, &self.providers.plugins.as_required(&package));
            return Ok(());
        }
        if !goal.provider.is_empty() {
            return Ok(());
        }
        let of_parent = || self.planning.planner().provider_of_parent(goal.parent.as_ref(), &package.name);
        let known = goal.providers.get(&package.name).cloned().or_else(of_parent);
        goal.provider = match known {
            Some(known) => known,
            // The engine's own provider resource, as for the program's dynamic resources.
            None if goal.code.is_some() => return Ok(()),
            None => {
                let urn = self.planning.planner().urn_of(goal);
                self.default_provider_of(package, urn.as_str()).await?
            }
        };
        Ok(())
    }

    fn package_of_goal(&self, goal: &Goal) -> Result<RegisteredPackage, RpcError> {
        let name = goal.kind.strip_prefix("pulumi:providers:").unwrap_or_else(|| package_of(&goal.kind));
        self.provider_plugins.package_asked_for(
            &goal.package_ref,
            name,
            &goal.package_version,
            &goal.download_url,
            goal.checksums.clone(),
        )
    }

    /// The reference to the default provider resource of a package, registered at its first use. `needed_by` says what for.
    pub(super) async fn default_provider_of(
        &self,
        package: PackageRequest,
        needed_by: &str,
    ) -> Result<String, RpcError> {
        if self.is_disabled(&package.name) {
            let reason = format!(
                "Default provider for '{}' disabled. '{needed_by}' must use an explicit provider.",
                package.name
            );
            return Err(self.reports.refuse(&RegistrationError::of_run(reason)));
        }
        let once = self.providers.plugins.default_provider(&package);
        once.get_or_do(async || Box::pin(self.register_default_provider(&package)).await).await
    }

    fn is_disabled(&self, package: &str) -> bool {
        let Some(setting) = self.operation.config.get(DISABLED) else { return false };
        let listed: Vec<String> = serde_json::from_str(&setting.value).unwrap_or_default();
        listed.iter().map(|name| name.trim()).any(|name| name == package || name == "*")
    }

    async fn register_default_provider(&self, package: &PackageRequest) -> Result<String, RpcError> {
        let goal = self.default_goal(package);
        if matches!(self.operation.kind, OperationKind::Update | OperationKind::Import) {
            let flow_state = self.flow_states.register(self.planning.planner().urn_of(&goal));
            let (urn, registered) = self.plan_settled(Box::new(goal), &flow_state).await?;
            return match registered {
                RegistrationOutcome::Done(resource) => {
                    let id = if resource.id.is_empty() { UNKNOWN_TEXT } else { &resource.id };
                    Ok(format!("{urn}::{id}"))
                }
                _ => Err(RpcError::unavailable()),
            };
        }
        let (urn, old) = self.planning.planner().locate(&goal);
        let Some((_, old)) = old else {
            return Err(RpcError {
                code: 5,
                message: format!(
                    "the package '{}' has no provider in the state, and this run makes none",
                    package.name
                ),
            });
        };
        if self.operation.registers_providers {
            self.lend_provider(&goal).await?;
        }
        Ok(format!("{urn}::{}", old.id))
    }

    fn default_goal(&self, package: &PackageRequest) -> Goal {
        let mut goal = Goal {
            kind: format!("pulumi:providers:{}", package.name),
            name: default_name(package),
            custom: true,
            inputs: self.operation.provider_inputs(&package.name, false),
            ..Goal::default()
        };
        keep_package(&mut goal, &self.providers.plugins.as_required(package));
        goal
    }

    /// Takes a provider resource that the program registers in a run that only deletes or reads: its plugin gets what the
    /// program says, and nothing of the state changes.
    pub(super) async fn lend_provider(&self, goal: &Goal) -> Result<(), RpcError> {
        let (urn, old) = self.planning.planner().locate(goal);
        let Some((_, old)) = old else { return Ok(()) };
        let failed = |error: ProviderError| self.reports.fail_planning(&urn, &error);
        let resolved = self.provider_plugins.start_provider(&urn, goal).await.map_err(failed)?;
        let for_plugin = |inputs: &Arc<PropertyMap>| {
            Some(Box::new(PluginArguments { old_inputs: Some(Arc::clone(inputs)), ..PluginArguments::default() }))
        };
        let check = Method::Check { olds: (*old.inputs).clone(), news: goal.inputs.clone() };
        let answer = self.providers.call_with(&resolved, &urn, check, for_plugin(&old.inputs)).await.map_err(failed)?;
        let Answer::Checked { inputs, failures } = answer else { return Err(RpcError::unavailable()) };
        if !failures.is_empty() {
            return Err(self.reports.refuse(&RegistrationError::check_failures(&urn, &failures)));
        }
        let diff = Method::Diff { id: String::new(), olds: (*old.outputs_or_empty()).clone(), news: inputs.clone() };
        let answer = self.providers.call_with(&resolved, &urn, diff, for_plugin(&old.inputs)).await.map_err(failed)?;
        let changes = matches!(answer, Answer::Diffed(DiffAnswer { changes: Some(true), .. }));
        let inputs = if changes { Arc::new(inputs) } else { Arc::clone(&old.inputs) };
        self.provider_plugins.note_provider(&old, &resolved, &inputs);
        Ok(())
    }

    /// The plugin of a provider resource by its reference, for a function; the default one's where there is none.
    pub(crate) async fn plugin_for_function(
        &self,
        provider: &str,
        (package, extension): RegisteredPackage,
        token: &str,
    ) -> Result<ResolvedProvider, RpcError> {
        let reference =
            if provider.is_empty() { self.default_provider_of(package, token).await? } else { provider.to_owned() };
        let found = self.providers.plugins.of(&reference);
        found.map(|provider| ResolvedProvider::plugin(provider).with_extension(extension)).map_err(|error| RpcError {
            code: 2,
            message: message![format!("'{token}': "), &error.message].to_string(),
        })
    }
}

/// Puts into a provider resource's inputs what its plugin is found by later.
fn keep_package(goal: &mut Goal, package: &PackageRequest) {
    if !package.version.is_empty() {
        goal.inputs.entry("version".to_owned()).or_insert_with(|| Value::from(package.version.as_str()));
    }
    if let Some(internal) = internal_of(package) {
        goal.inputs.insert(INTERNAL.to_owned(), internal);
    }
}

/// The name of a package's default provider: with the version and the address that were asked for.
fn default_name(package: &PackageRequest) -> String {
    let mut name = "default".to_owned();
    for part in package.version.split(['.', '-', '+']).filter(|part| !part.is_empty()) {
        name.push('_');
        name.push_str(part);
    }
    if !package.download_url.is_empty() {
        name.push('_');
        let is_kept = |letter: char| letter.is_ascii_alphanumeric() || "_.-/".contains(letter);
        let plain: String =
            package.download_url.chars().map(|letter| if is_kept(letter) { letter } else { '_' }).collect();
        let segments: Vec<&str> = plain.split('/').filter(|segment| !segment.is_empty()).collect();
        name.push_str(&segments.join("/"));
    }
    name
}

/// What the engine keeps of a package in the inputs of its provider resource.
fn internal_of(package: &PackageRequest) -> Option<Value> {
    let mut members = PropertyMap::new();
    if !package.download_url.is_empty() {
        members.insert("pluginDownloadURL".to_owned(), Value::from(package.download_url.as_str()));
    }
    if !package.checksums.is_empty() {
        let checksums = package.checksums.iter().map(|(platform, hex)| (platform.clone(), Value::from(hex.as_str())));
        members.insert("pluginChecksums".to_owned(), Value::Object(checksums.collect()));
    }
    if let Some(parameter) = &package.parameter {
        use base64::Engine as _;
        let value = base64::engine::general_purpose::STANDARD.encode(&parameter.value);
        members.insert("name".to_owned(), Value::from(parameter.plugin.as_str()));
        members.insert("version".to_owned(), Value::from(parameter.version.as_str()));
        members.insert("parameterization".to_owned(), Value::String(value));
    }
    if !members.is_empty() || !package.version.is_empty() { Some(Value::Object(members)) } else { None }
}
