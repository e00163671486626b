//! Rows as the model sees them.

use std::collections::{BTreeMap, BTreeSet};

use maloko_core::served_by::ServedBy;
use maloko_core::{PropertyMap, ResourceState};

use crate::show;

/// What the model knows of a row.
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
    /// The model's view of a row of the state.
    #[must_use]
    pub fn of(row: &ResourceState) -> Self {
        let texts = |urns: &[maloko_core::Urn]| urns.iter().map(ToString::to_string).collect::<Vec<_>>();
        let outputs = row.outputs_or_empty();
        Self {
            urn: row.urn.to_string(),
            custom: row.custom,
            id: row.id.clone(),
            provider: if row.served_by() == ServedBy::Plugin { row.provider.clone() } else { String::new() },
            delete: row.delete,
            pending: row.pending_replacement,
            external: row.external,
            taint: row.taint,
            inputs: maloko_core::value::plain_map(&row.inputs),
            outputs: maloko_core::value::plain_map(&outputs),
            parent: row.parent.as_ref().map(ToString::to_string),
            protect: row.protect,
            retain: row.retain_on_delete,
            dependencies: texts(&row.dependencies),
            by_property: row.property_dependencies.iter().map(|(key, urns)| (key.clone(), texts(urns))).collect(),
            deleted_with: row.deleted_with.as_ref().map(ToString::to_string),
            replace_with: texts(&row.replace_with),
            unhealthy: !row.init_errors.is_empty(),
            ignore_changes: row.ignore_changes.clone(),
            replace_on_changes: row.replace_on_changes.clone(),
            trigger: row.replacement_trigger.as_ref().map(show::value),
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

    /// One line that names the row among others.
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
