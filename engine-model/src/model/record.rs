//! Resources in the state, as the model sees them.

use std::collections::{BTreeMap, BTreeSet};

use maloko_core::served_by::ServedBy;
use maloko_core::{PropertyMap, ResourceState};

use crate::program::Resource;
use crate::show;

/// What the model knows of a resource in the state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Identity.
    pub urn: String,
    /// Has it a provider?
    pub custom: bool,
    /// The object's id.
    pub id: String,
    /// The reference to the provider resource of what a plugin serves; else empty.
    pub provider: String,
    /// The old object of a replacement.
    pub delete: bool,
    /// Deleted, not made again.
    pub pending: bool,
    /// Only looked up.
    pub external: bool,
    /// Marked for replacement.
    pub taint: bool,
    /// Inputs, without secret wrappers.
    pub inputs: PropertyMap,
    /// Outputs, without secret wrappers.
    pub outputs: PropertyMap,
    /// The parent's URN.
    pub parent: Option<String>,
    /// `protect`
    pub protect: bool,
    /// `retainOnDelete`
    pub retain: bool,
    /// Dependencies as a whole.
    pub dependencies: Vec<String>,
    /// Dependencies by property.
    pub by_property: BTreeMap<String, Vec<String>>,
    /// `deletedWith`
    pub deleted_with: Option<String>,
    /// `replaceWith`
    pub replace_with: Vec<String>,
    /// Did the object not start?
    pub unhealthy: bool,
    /// `ignoreChanges`
    pub ignore_changes: Vec<String>,
    /// `replaceOnChanges`
    pub replace_on_changes: Vec<String>,
    /// `replacementTrigger`
    pub trigger: Option<String>,
    /// Outputs that are stored as secrets.
    pub secret_outputs: Vec<String>,
}

impl Record {
    /// The model's view of a resource of the state.
    #[must_use]
    pub fn of(resource: &ResourceState) -> Self {
        let texts = |urns: &[maloko_core::Urn]| urns.iter().map(ToString::to_string).collect::<Vec<_>>();
        let outputs = resource.outputs_or_empty();
        Self {
            urn: resource.urn.to_string(),
            custom: resource.custom,
            id: resource.id.clone(),
            provider: if resource.served_by() == ServedBy::Plugin { resource.provider.clone() } else { String::new() },
            delete: resource.delete,
            pending: resource.pending_replacement,
            external: resource.external,
            taint: resource.taint,
            inputs: maloko_core::value::plain_map(&resource.inputs),
            outputs: maloko_core::value::plain_map(&outputs),
            parent: resource.parent.as_ref().map(ToString::to_string),
            protect: resource.protect,
            retain: resource.retain_on_delete,
            dependencies: texts(&resource.dependencies),
            by_property: resource.property_dependencies.iter().map(|(key, urns)| (key.clone(), texts(urns))).collect(),
            deleted_with: resource.deleted_with.as_ref().map(ToString::to_string),
            replace_with: texts(&resource.replace_with),
            unhealthy: !resource.init_errors.is_empty(),
            ignore_changes: resource.ignore_changes.clone(),
            replace_on_changes: resource.replace_on_changes.clone(),
            trigger: resource.replacement_trigger.as_ref().map(show::value),
            secret_outputs: outputs.iter().filter(|(_, value)| value.is_secret()).map(|(key, _)| key.clone()).collect(),
        }
    }

    /// The URN of its provider resource, where a plugin serves it.
    #[must_use]
    pub fn provider_urn(&self) -> Option<&str> {
        self.provider.rsplit_once("::").map(|(urn, _)| urn)
    }

    /// Everything that must be there before it (the provider of dynamic resources aside).
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let lists = self.dependencies.iter().chain(self.by_property.values().flatten());
        let named = lists.chain(&self.parent).chain(&self.deleted_with).chain(&self.replace_with);
        named.map(String::as_str).chain(self.provider_urn())
    }

    /// One line that names the resource among others.
    #[must_use]
    pub fn label(&self) -> String {
        let mut label = format!("{} {}", show::name(&self.urn), self.id);
        for (set, text) in [(self.delete, " (delete)"), (self.pending, " (pending)"), (self.external, " (external)")] {
            if set {
                label.push_str(text);
            }
        }
        label
    }

    /// Everything, for comparing.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "{} [{}] provided by {} in {} out {} parent {:?} protect {} retain {} on {:?} by {:?} with {:?} replaced with {:?} taint {} \
             unhealthy {} ignores {:?} replaces on {:?} trigger {:?} secret {:?}",
            self.label(),
            self.urn,
            self.provider,
            show::properties(&self.inputs),
            show::properties(&self.outputs),
            self.parent.as_deref().map(show::name),
            self.protect,
            self.retain,
            // As sets: their order says nothing, and a property that depends on nothing need not be listed.
            self.dependencies.iter().map(|urn| show::name(urn)).collect::<BTreeSet<_>>(),
            self.by_property.iter().filter(|(_, urns)| !urns.is_empty()).collect::<Vec<_>>(),
            self.deleted_with.as_deref().map(show::name),
            self.replace_with.iter().map(|urn| show::name(urn)).collect::<Vec<_>>(),
            self.taint,
            self.unhealthy,
            self.ignore_changes,
            self.replace_on_changes,
            self.trigger,
            self.secret_outputs,
        )
    }
}

/// The outputs that are stored as secrets.
pub(crate) fn secret_outputs(resource: &Resource, outputs: &PropertyMap, before: &[String]) -> Vec<String> {
    let secret = |key: &&String| before.contains(key) || resource.secret_outputs.contains(key);
    outputs.keys().filter(secret).cloned().collect()
}
