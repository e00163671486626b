//! Plugins as a process of the simulation has them: every call takes its time, the process may be gone at either end of it,
//! and so may the plugin. Whose plugin is called, and with what it is configured, is compared with what the program and the
//! state say.

use std::collections::BTreeMap;
use std::sync::Weak;

use async_trait::async_trait;
use maloko_core::event::{Op, StepMetadata};
use maloko_core::plugin::{PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{Answer, Method, ObjectId, ProviderCall, ProviderError, ProviderErrorKind};
use maloko_core::served_by::ServedBy;
use maloko_core::state::Snapshot;
use maloko_core::{PropertyMap, ResourceState, Urn};

use crate::plugins::{Plugins, label};
use crate::program::{Resource, Step};

use super::provider::Reached;

/// The plugins of one process, and what it knows of whom they serve.
#[derive(Default)]
pub(super) struct Served {
    plugins: Plugins,
    /// By the name of a resource: that of the provider resource that the program has for it.
    wanted: BTreeMap<String, String>,
    /// By the id of an object: the name of the provider resource that its row names.
    of_rows: BTreeMap<String, String>,
    /// By the URN of a provider resource, with its id: what its plugin is to be configured with.
    configurations: BTreeMap<String, String>,
    /// The reference of each plugin's provider resource, once it is configured.
    references: BTreeMap<ObjectId, String>,
}

/// The provider resource that a program has for each resource of a package.
fn wanted(step: &Step) -> BTreeMap<String, String> {
    let named = |name: &String, package: &Option<String>| {
        let fits = |other: &&Resource| other.is_provider && other.name == *name && other.package == *package;
        step.program.iter().find(fits).map(|provider| provider.name.clone())
    };
    let parent = |resource: &Resource| step.program.iter().find(|other| resource.parent.as_ref() == Some(&other.name));
    let wanted = |resource: &Resource| {
        if let Some(named) = resource.provider.as_ref().and_then(|name| named(name, &resource.package)) {
            return named;
        }
        let mut above = parent(resource).filter(|parent| parent.component);
        while let Some(component) = above {
            if let Some(found) = component.children_use.iter().find_map(|name| named(name, &resource.package)) {
                return found;
            }
            above = parent(component).filter(|parent| parent.component);
        }
        let version = resource.version.as_ref();
        version.map_or("default".to_owned(), |version| format!("default_{}", version.replace('.', "_")))
    };
    let served = step.program.iter().filter(|resource| resource.is_of_plugin());
    served.map(|resource| (resource.name.clone(), wanted(resource))).collect()
}

fn name_in(reference: &str) -> String {
    reference.rsplit_once("::").map_or("", |(urn, _)| crate::show::name(urn)).to_owned()
}

impl Served {
    /// Takes note of what the program wants, and of the state that the process begins with.
    pub(super) fn begin(&mut self, step: &Step, state: &Snapshot) {
        self.wanted = wanted(step);
        for row in &state.rows {
            self.note(row, &row.inputs);
        }
    }

    /// Takes note of a step that was done.
    pub(super) fn done(&mut self, step: &StepMetadata) {
        let Some(row) = &step.new else { return };
        match (step.op, &step.old) {
            // An unchanged provider keeps what it was configured with.
            (Op::Same, Some(old)) => self.note(row, &old.inputs),
            _ => self.note(row, &row.inputs),
        }
    }

    fn note(&mut self, row: &ResourceState, inputs: &PropertyMap) {
        match row.served_by() {
            ServedBy::Plugin => drop(self.of_rows.insert(row.id.clone(), name_in(&row.provider))),
            ServedBy::ItsPlugin => {
                let told: PropertyMap = inputs
                    .iter()
                    .filter(|(key, _)| *key != "__internal")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                self.configurations.insert(row.as_provider_reference(), label(row.urn.name(), &told));
            }
            ServedBy::LiveObject | ServedBy::Engine => {}
        }
    }

    /// What is wrong with the plugin that a call is made of, if anything is.
    fn misled(&self, plugin: ObjectId, name: &str, method: &Method) -> Option<String> {
        let by = self.plugins.label(plugin);
        let reference = self.references.get(&plugin).cloned().unwrap_or_default();
        let provider = match method {
            Method::Create { .. } => self.wanted.get(name),
            Method::Delete { id, .. } => self.of_rows.get(id),
            _ => None,
        };
        let called = name_in(&reference);
        if let Some(provider) = provider.filter(|provider| **provider != called) {
            return Some(format!("{} of {name} was called of {by}, which is not '{provider}'", method.name()));
        }
        let configured = self.configurations.get(&reference).filter(|wanted| **wanted != by)?;
        Some(format!("{} of {name} was called of {by}, and its provider resource says {configured}", method.name()))
    }
}

impl Reached {
    /// Goes to a plugin and back; `None` when the process is gone meanwhile. `lost`: the plugin dies when it has acted.
    async fn visit<T>(
        &self,
        plugin: ObjectId,
        what: &str,
        act: impl FnOnce(&mut Served) -> Result<T, ProviderError> + Send,
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
impl PluginHost for Reached {
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
