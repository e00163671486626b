//! Resources of a state or of a run as a page has them.

use std::collections::HashMap;
use std::sync::Arc;

use maloko_core::resource_state::ResourceState;
use maloko_core::state::{UnknownOutcome, UnresolvedCreate};
use maloko_core::urn::Urn;

use super::data::{self, Dependency, Resource};
use super::shown::{Detail, Shower};
use maloko_core::provider::StoredProvider;

/// The places of resources in a page.
pub(super) type Places<'a> = HashMap<&'a Urn, usize>;

impl Shower {
    /// A resource; `places` says where the resources are that it names.
    pub(super) fn resource(
        &self,
        resource: &ResourceState,
        gone: bool,
        places: &Places<'_>,
        detail: Detail,
    ) -> Resource {
        let place = |urn: &Urn| places.get(urn).copied();
        let dependencies = resource.dependencies.iter().filter_map(|urn| {
            let by = resource.property_dependencies.iter().filter(|(_, urns)| urns.contains(urn));
            Some(Dependency { on: place(urn)?, properties: by.map(|(property, _)| self.text(property)).collect() })
        });
        let outline = Resource {
            urn: resource.urn.as_str().to_owned(),
            name: resource.urn.name().to_owned(),
            kind: resource.kind.clone(),
            custom: resource.custom,
            parent: resource.parent.as_ref().and_then(place),
            dependencies: dependencies.collect(),
            deleted_with: resource.deleted_with.as_ref().and_then(place),
            replace_with: resource.replace_with.iter().filter_map(place).collect(),
            provider: resource.provider_parts().and_then(|(urn, _)| place(&urn)),
            gone,
            marks: marks(resource),
            ..Resource::default()
        };
        if detail == Detail::Outline {
            return outline;
        }
        Resource {
            id: self.text(&resource.id),
            provider_class: match &resource.stored_provider {
                StoredProvider::Reference(reference) => reference.place(),
                _ => String::new(),
            },
            inputs: self.properties(&resource.inputs),
            outputs: resource.outputs.as_deref().map(|outputs| self.properties(outputs)).unwrap_or_default(),
            options: self.options(resource),
            source: source(&resource.source_position),
            created: resource.created.clone(),
            modified: resource.modified.clone(),
            init_errors: resource.init_errors.iter().map(|text| self.message(text)).collect(),
            ..outline
        }
    }

    fn options(&self, resource: &ResourceState) -> Vec<(String, String)> {
        let mut options = Vec::new();
        let mut option = |name: &str, value: String| {
            if !value.is_empty() {
                options.push((name.to_owned(), value));
            }
        };
        let flag = |set: bool| if set { "true".to_owned() } else { String::new() };
        option("protect", flag(resource.protect));
        option("retainOnDelete", flag(resource.retain_on_delete));
        option("import", self.text(&resource.import_id));
        option("ignoreChanges", self.text(&resource.ignore_changes.join(", ")));
        option("replaceOnChanges", self.text(&resource.replace_on_changes.join(", ")));
        option("hideDiffs", self.text(&resource.hide_diff.join(", ")));
        option("additionalSecretOutputs", self.text(&resource.additional_secret_outputs.join(", ")));
        let times = &resource.custom_timeouts;
        let limits =
            [("create", times.create), ("update", times.update), ("delete", times.delete), ("read", times.read)];
        let limits = limits.iter().filter(|(_, seconds)| *seconds > 0.0);
        option(
            "customTimeouts",
            limits.map(|(method, seconds)| format!("{method} {seconds} s")).collect::<Vec<_>>().join(", "),
        );
        for (moment, names) in &resource.hooks {
            option(moment.name(), self.text(&names.join(", ")));
        }
        options
    }

    /// The creates whose outcome is unknown. By the SDKs' rules, one that raised made nothing.
    pub(super) fn unresolved_creates(&self, creates: &[Arc<UnresolvedCreate>]) -> Vec<data::UnresolvedCreate> {
        let unclear = creates.iter().filter(|create| create.unknown_outcome != UnknownOutcome::Raised);
        unclear.map(|create| self.unresolved_create(create)).collect()
    }

    fn unresolved_create(&self, create: &UnresolvedCreate) -> data::UnresolvedCreate {
        data::UnresolvedCreate {
            urn: create.urn().as_str().to_owned(),
            name: create.urn().name().to_owned(),
            kind: create.resource.kind.clone(),
            inputs: self.properties(&create.resource.inputs),
            reason: match create.error.as_str() {
                "" => create.unknown_outcome.story().to_owned(),
                error => format!("{}: {}", create.unknown_outcome.story(), self.message(error)),
            },
            since: create.since.clone(),
        }
    }
}

/// `__main__.py:12` for `project:///__main__.py#12,4`.
fn source(position: &str) -> String {
    let path = position.strip_prefix("project:///").unwrap_or(position);
    match path.split_once('#') {
        Some((file, place)) => format!("{file}:{}", place.split(',').next().unwrap_or(place)),
        None => path.to_owned(),
    }
}

fn marks(resource: &ResourceState) -> Vec<String> {
    let marks = [
        (resource.protect, "protected"),
        (resource.taint, "tainted"),
        (resource.external, "external"),
        (resource.delete, "pendingDelete"),
        (resource.pending_replacement, "pendingReplacement"),
        (!resource.init_errors.is_empty(), "unhealthy"),
    ];
    marks.into_iter().filter(|(set, _)| *set).map(|(_, mark)| mark.to_owned()).collect()
}
