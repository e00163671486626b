//! Lists of objects in Pulumi's JSON format: read by `import --file`, written by `preview --import-file`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maloko_core::event::{Event, EventSink, Op};
use maloko_core::operation::AdoptedPackage;
use maloko_core::plugin::{PackageParameter, PackageRequest};
use maloko_core::provider::ExtensionParameter;
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::Urn;
use maloko_core::value::{PropertyMap, SECRET_SIGNATURE, SIGNATURE_KEY, Value};
use serde::{Deserialize, Deserializer, Serialize};

use crate::context::Context;
use crate::display::in_order;
use crate::failure::{Failure, Result};

/// What stands in a written list for an id that the user has to find.
pub(super) const PLACEHOLDER: &str = "<PLACEHOLDER>";

/// A list of objects.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "members of the type `IgnoredMember` are accepted and never looked at")]
pub(super) struct ImportFile {
    /// Names that stand for resources of the stack.
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) name_table: BTreeMap<String, String>,
    /// The objects.
    pub(super) resources: Vec<ImportSpec>,
    /// Pulumi's, for native providers.
    #[serde(default, skip_serializing)]
    pub(super) provider_inputs: IgnoredMember,
}

/// What is accepted, and of no use to dynamic providers.
type IgnoredMember = serde::de::IgnoredAny;

/// A member that may as well be null, as those of the official Automation API are.
fn or_nothing<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(member: D) -> std::result::Result<T, D::Error> {
    Option::deserialize(member).map(Option::unwrap_or_default)
}

/// An object of a list.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "members of the type `IgnoredMember` are accepted and never looked at")]
pub(super) struct ImportSpec {
    /// Type token, or the place of the provider.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Its name in this list, and of the resource if there is no `logicalName`.
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "String::is_empty")]
    pub(super) logical_name: String,
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "String::is_empty")]
    pub(super) id: String,
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "String::is_empty")]
    pub(super) parent: String,
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "String::is_empty")]
    pub(super) provider: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) component: bool,
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "Vec::is_empty")]
    pub(super) properties: Vec<String>,
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) inputs: BTreeMap<String, serde_json::Value>,
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) outputs: BTreeMap<String, serde_json::Value>,
    /// Of its package.
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "String::is_empty")]
    pub(super) version: String,
    /// Where the plugin of its package comes from.
    #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "String::is_empty")]
    pub(super) plugin_download_url: String,
    /// What a plugin makes its package of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parameterization: Option<ImportParameter>,
    /// What extends its provider's package, if its package does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) extension: Option<ExtensionParameter>,
    /// Pulumi's.
    #[serde(default, skip_serializing)]
    pub(super) remote: IgnoredMember,
}

/// What a plugin makes a package of.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ImportParameter {
    /// The plugin.
    plugin_name: String,
    #[serde(default, deserialize_with = "or_nothing")]
    plugin_version: String,
    /// The parameter, in base64.
    value: String,
}

impl ImportParameter {
    fn decoded(&self) -> std::result::Result<PackageParameter, String> {
        let Self { plugin_name: plugin, plugin_version: version, value } = self.clone();
        let value = STANDARD.decode(value).map_err(|error| format!("its parameterization is no base64: {error}"))?;
        Ok(PackageParameter { plugin, version, value })
    }
}

impl ImportSpec {
    /// Its package, as far as the list tells of more than its name: `name` is that of its type.
    ///
    /// # Errors
    /// The parameter is no base64.
    pub(super) fn package(&self, name: &str) -> std::result::Result<Option<AdoptedPackage>, String> {
        let tells = [&self.version, &self.plugin_download_url].iter().any(|text| !text.is_empty());
        if !tells && self.parameterization.is_none() && self.extension.is_none() {
            return Ok(None);
        }
        let request = PackageRequest {
            name: name.to_owned(),
            version: self.version.strip_prefix('v').unwrap_or(&self.version).to_owned(),
            download_url: self.plugin_download_url.trim_end_matches('/').to_owned(),
            parameter: self.parameterization.as_ref().map(ImportParameter::decoded).transpose()?,
            ..PackageRequest::default()
        };
        Ok(Some(AdoptedPackage { request, extension: self.extension.clone() }))
    }
}

impl ImportFile {
    /// Reads a list.
    pub(super) fn read(context: &Context, file: &Path) -> Result<Self> {
        let file = context.directory.join(file);
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Failure::configuration(format!("the list {} (from --file) cannot be read: {error}", file.display()))
        })?;
        serde_json::from_str(&text).map_err(|error| {
            Failure::configuration(format!(
                "{}: {error}; the list is a JSON object with \"resources\", each with \"type\", \"name\" and \"id\"",
                file.display()
            ))
        })
    }
}

/// Properties as JSON has them; secrets are marked as in a state that shows them.
pub(super) fn properties(members: &BTreeMap<String, serde_json::Value>) -> PropertyMap {
    members.iter().map(|(key, value)| (key.clone(), value_of(value))).collect()
}

fn value_of(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(value_of).collect()),
        serde_json::Value::Object(members) => {
            if members.get(SIGNATURE_KEY).and_then(serde_json::Value::as_str) == Some(SECRET_SIGNATURE)
                && let Some(text) = members.get("plaintext").and_then(serde_json::Value::as_str)
                && let Ok(inner) = serde_json::from_str::<serde_json::Value>(text)
            {
                return Value::secret(value_of(&inner));
            }
            Value::Object(members.iter().map(|(key, value)| (key.clone(), value_of(value))).collect())
        }
    }
}

/// Makes a list of what a preview would create.
#[derive(Default)]
pub(in crate::operation) struct ListWriter(Mutex<Vec<Arc<ResourceState>>>);

impl EventSink for ListWriter {
    fn emit(&self, event: Event) {
        if let Event::StepStarted(step) = event
            && step.op == Op::Create
            && !step.internal
            && !step.urn.is_root_stack()
            && let Some(resource) = step.new
        {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(resource);
        }
    }
}

impl ListWriter {
    /// Writes the list, and gives the number of objects on it.
    pub(in crate::operation) fn write(&self, context: &Context, file: &Path) -> Result<usize> {
        let resources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let list = list_of(&resources);
        let file = context.directory.join(file);
        let text = serde_json::to_string_pretty(&list)
            .map_err(|error| Failure::new(format!("the list of imports cannot be written: {error}")))?;
        crate::platform::replace_private_file(&file, (text + "\n").as_bytes()).map_err(|error| {
            Failure::io(format!("the list {} (from --import-file) cannot be written", file.display()), &error)
        })?;
        Ok(list.resources.len())
    }
}

/// The list, parents first and then by name, whatever the order in which the preview came to them.
fn list_of(states: &[Arc<ResourceState>]) -> ImportFile {
    let by_urn: HashMap<&Urn, &Arc<ResourceState>> = states.iter().map(|resource| (&resource.urn, resource)).collect();
    let order = in_order(states.iter().map(|resource| (&resource.urn, resource.parent.as_ref())));
    let states: Vec<&Arc<ResourceState>> = order.iter().filter_map(|urn| by_urn.get(urn).copied()).collect();
    let mut taken = BTreeSet::new();
    let mut names: BTreeMap<Urn, String> = BTreeMap::new();
    for resource in &states {
        names.insert(resource.urn.clone(), free_name(&resource.urn, &mut taken));
    }
    let mut name_table = BTreeMap::new();
    let mut resources = Vec::new();
    for resource in states {
        let parent = resource.parent.as_ref().filter(|parent| !parent.is_root_stack()).map(|parent| {
            names.get(parent).cloned().unwrap_or_else(|| {
                let name = free_name(parent, &mut taken);
                name_table.insert(name.clone(), parent.to_string());
                names.insert(parent.clone(), name.clone());
                name
            })
        });
        let name = names.get(&resource.urn).cloned().unwrap_or_default();
        resources.push(ImportSpec {
            kind: resource.kind.clone(),
            logical_name: if name == resource.urn.name() { String::new() } else { resource.urn.name().to_owned() },
            name,
            id: if resource.custom { PLACEHOLDER.to_owned() } else { String::new() },
            parent: parent.unwrap_or_default(),
            component: !resource.custom,
            ..ImportSpec::default()
        });
    }
    ImportFile { name_table, resources, ..ImportFile::default() }
}

/// The resource's name, with a number if another one of the list has it.
fn free_name(urn: &Urn, taken: &mut BTreeSet<String>) -> String {
    let mut name = urn.name().to_owned();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{}{number}", urn.name());
        number += 1;
    }
    name
}
