//! Whom the plugins of a process serve, by what the program and the state say; each call is compared with that.

use std::collections::BTreeMap;

use maloko_core::event::{Op, StepMetadata};
use maloko_core::provider::{Method, ObjectId};
use maloko_core::served_by::ServedBy;
use maloko_core::state::Snapshot;
use maloko_core::{PropertyMap, ResourceState};

use crate::plugins::{Plugins, label};
use crate::program::{Resource, Step};

/// The plugins of one process, and what it knows of whom they serve.
#[derive(Default)]
pub(super) struct ProcessPlugins {
    pub(super) plugins: Plugins,
    /// By the name of a resource: that of the provider resource that the program has for it.
    wanted: BTreeMap<String, String>,
    /// By the id of an object: the name of the provider resource that its state names.
    of_resources: BTreeMap<String, String>,
    /// By the URN of a provider resource, with its id: what its plugin is to be configured with.
    configurations: BTreeMap<String, String>,
    /// The reference of each plugin's provider resource, once it is configured.
    pub(super) references: BTreeMap<ObjectId, String>,
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

impl ProcessPlugins {
    /// Takes note of what the program wants, and of the state that the process begins with.
    pub(super) fn begin(&mut self, step: &Step, state: &Snapshot) {
        self.wanted = wanted(step);
        for resource in &state.resources {
            self.note(resource, &resource.inputs);
        }
    }

    /// Takes note of a step that was done.
    pub(super) fn done(&mut self, step: &StepMetadata) {
        let Some(resource) = &step.new else { return };
        match (step.op, &step.old) {
            // An unchanged provider keeps what it was configured with.
            (Op::Same, Some(old)) => self.note(resource, &old.inputs),
            _ => self.note(resource, &resource.inputs),
        }
    }

    fn note(&mut self, resource: &ResourceState, inputs: &PropertyMap) {
        match resource.served_by() {
            ServedBy::Plugin => drop(self.of_resources.insert(resource.id.clone(), name_in(&resource.provider))),
            ServedBy::ItsPlugin => {
                let told: PropertyMap = inputs
                    .iter()
                    .filter(|(key, _)| *key != "__internal")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                self.configurations.insert(resource.as_provider_reference(), label(resource.urn.name(), &told));
            }
            ServedBy::LiveObject | ServedBy::Engine => {}
        }
    }

    /// What is wrong with the plugin that a call is made of, if anything is.
    pub(super) fn misled(&self, plugin: ObjectId, name: &str, method: &Method) -> Option<String> {
        let by = self.plugins.label(plugin);
        let reference = self.references.get(&plugin).cloned().unwrap_or_default();
        let provider = match method {
            Method::Create { .. } => self.wanted.get(name),
            Method::Delete { id, .. } => self.of_resources.get(id),
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
