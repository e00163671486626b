//! What an SDK does with a program: registrations in order, outputs handed on, unknowns where nothing is known.

use std::collections::BTreeMap;

use maloko_core::provider::HANDLE_PREFIX;
use maloko_core::value::{PROVIDER_KEY, UNKNOWN_TEXT};
use maloko_core::wire::{
    Accepts, AliasKind, AliasParent, AliasSpec, PropertyDependencies, ReadResourceRequest, ReadResourceResponse,
    RegisterResourceOutputsRequest, RegisterResourceRequest, RegisterResourceResponse, WireAlias, decode_properties,
    encode_properties, encode_value,
};
use maloko_core::{PropertyMap, Value};
use prost::Message;

use crate::driven::DrivenRun;
use crate::program::{Alias, Lifecycle, Resource, Step};
use crate::urns;

const ACCEPTS: Accepts = Accepts { secrets: false, resources: false };

/// What a program learned of a resource.
#[derive(Clone, Debug, Default)]
pub struct ResolvedResource {
    /// Its URN.
    pub urn: String,
    /// Its id, as far as it is known: of a provider resource.
    pub id: String,
    /// Its outputs.
    pub outputs: PropertyMap,
    /// Is everything that is not among them unknown?
    pub unknown: bool,
}

/// How a program's run went.
#[derive(Clone, Debug, Default)]
pub struct ProgramOutcome {
    /// Did the program get to its end?
    pub completed: bool,
    /// Was a value unknown that a resource took as an input?
    pub met_unknown: bool,
}

/// A JSON value as a property value.
#[must_use]
pub fn property(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(truth) => Value::Bool(*truth),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(property).collect()),
        serde_json::Value::Object(members) => {
            Value::Object(members.iter().map(|(key, member)| (key.clone(), property(member))).collect())
        }
    }
}

/// The inputs of a resource, given what is known of the resources before it. A property that nobody has is left out.
#[must_use]
pub fn inputs(resource: &Resource, known: &BTreeMap<String, ResolvedResource>, dry_run: bool) -> PropertyMap {
    let mut inputs: PropertyMap = resource.inputs.iter().map(|(key, json)| (key.clone(), property(json))).collect();
    for (key, used) in &resource.uses {
        let Some(other) = known.get(&used.of) else { continue };
        match other.outputs.get(&used.output) {
            Some(value) => drop(inputs.insert(key.clone(), value.clone())),
            None if dry_run || other.unknown => drop(inputs.insert(key.clone(), Value::Unknown)),
            None => {}
        }
    }
    inputs
}

/// The URNs that a resource depends on: as a whole, and by property.
#[must_use]
pub fn dependencies(
    resource: &Resource,
    inputs: &PropertyMap,
    known: &BTreeMap<String, ResolvedResource>,
) -> (Vec<String>, BTreeMap<String, Vec<String>>) {
    let urn = |name: &String| known.get(name).map(|known| known.urn.clone());
    let mut all: Vec<String> = resource.depends_on.iter().filter_map(urn).collect();
    let mut by_property: BTreeMap<String, Vec<String>> = inputs.keys().map(|key| (key.clone(), Vec::new())).collect();
    for (key, used) in &resource.uses {
        if let Some(urn) = urn(&used.of) {
            by_property.insert(key.clone(), vec![urn.clone()]);
            if !all.contains(&urn) {
                all.push(urn);
            }
        }
    }
    (all, by_property)
}

/// The number of a resource's provider object.
#[must_use]
pub fn object(lifecycle: &Lifecycle, name: &str) -> usize {
    lifecycle.providers.keys().position(|known| known == name).map_or(0, |index| index + 1)
}

/// The reference by which a resource names its provider resource; empty where it names none.
#[must_use]
pub fn provider(resource: &Resource, program: &[Resource], known: &BTreeMap<String, ResolvedResource>) -> String {
    // As in the SDKs, providers of other packages do not count.
    let fits = |other: &&Resource| Some(&other.name) == resource.provider.as_ref() && other.package == resource.package;
    let named = program.iter().filter(|other| other.is_provider && resource.is_of_plugin()).find(fits);
    named.and_then(|provider| known.get(&provider.name)).map_or_else(String::new, reference)
}

/// The references to the provider resources of a component's children, by package.
#[must_use]
pub fn children_use(
    resource: &Resource,
    program: &[Resource],
    known: &BTreeMap<String, ResolvedResource>,
) -> BTreeMap<String, String> {
    let used = resource.children_use.iter().filter_map(|name| {
        let package = program.iter().find(|other| other.is_provider && other.name == *name)?.package.clone()?;
        Some((package, reference(known.get(name)?)))
    });
    used.collect()
}

fn reference(known: &ResolvedResource) -> String {
    format!("{}::{}", known.urn, known.id)
}

/// The resources that a resource refers to.
fn referred(resource: &Resource) -> impl Iterator<Item = &String> {
    let uses = resource.uses.values().map(|used| &used.of);
    let parents = resource.aliases.iter().filter_map(|alias| alias.parent.as_ref());
    uses.chain(&resource.depends_on)
        .chain(&resource.replace_with)
        .chain(&resource.parent)
        .chain(&resource.deleted_with)
        .chain(&resource.provider)
        .chain(&resource.children_use)
        .chain(parents)
}

/// One run of a program.
pub struct Program<'a> {
    /// The run that answers it.
    pub run: &'a DrivenRun,
    /// The whole lifecycle, for the providers.
    pub lifecycle: &'a Lifecycle,
    /// The step whose program runs.
    pub step: &'a Step,
    /// Is it a preview?
    pub dry_run: bool,
    /// Ids for `get`, by the name that it was made for.
    pub ids: &'a BTreeMap<String, String>,
    /// What is known so far.
    pub known: BTreeMap<String, ResolvedResource>,
}

impl Program<'_> {
    /// Runs the program to its end, or to the first request that is not answered.
    pub async fn run(&mut self) -> ProgramOutcome {
        let mut ran = ProgramOutcome::default();
        if !self.begin().await {
            return ran;
        }
        for (index, resource) in self.step.program.iter().enumerate() {
            if self.step.raises_after == Some(index) {
                self.export().await;
                return ran;
            }
            let inputs = inputs(resource, &self.known, self.dry_run);
            ran.met_unknown |= inputs.values().any(Value::contains_unknown);
            let answered = match &resource.get {
                Some(of) => self.read(resource, inputs, of).await,
                None => self.register(resource, inputs).await,
            };
            let Some(known) = answered else { return ran };
            self.known.insert(resource.name.clone(), known);
        }
        self.export().await;
        ran.completed = self.step.raises_after.is_none_or(|count| count > self.step.program.len());
        ran
    }

    /// Registers the stack; false when the run was stopped.
    async fn begin(&self) -> bool {
        let stack = RegisterResourceRequest {
            r#type: urns::STACK_TYPE.to_owned(),
            name: format!("{}-{}", urns::PROJECT, urns::STACK),
            ..RegisterResourceRequest::default()
        };
        self.run.rpc("RegisterResource", &stack.encode_to_vec()).await.is_some()
    }

    /// Runs the program as programs of an SDK run: each registration begins once those that it refers to are answered,
    /// beside all others. Ends when nothing more can begin.
    pub async fn run_side_by_side(&mut self) -> ProgramOutcome {
        let mut ran = ProgramOutcome::default();
        if !self.begin().await {
            return ran;
        }
        let mut waiting: Vec<&Resource> = self.step.program.iter().collect();
        while !waiting.is_empty() {
            let is_known = |name: &String| {
                self.known.contains_key(name) || !self.step.program.iter().any(|resource| resource.name == *name)
            };
            let (ready, rest): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|resource| referred(resource).all(is_known));
            let answers = ready.iter().map(|resource| self.register(resource, inputs(resource, &self.known, false)));
            let answers = futures::future::join_all(answers).await;
            if ready.is_empty() || answers.iter().any(Option::is_none) {
                return ran;
            }
            for (resource, known) in ready.iter().zip(answers.into_iter().flatten()) {
                self.known.insert(resource.name.clone(), known);
            }
            waiting = rest;
        }
        self.export().await;
        ran.completed = true;
        ran
    }

    async fn export(&self) {
        let outputs: PropertyMap =
            self.step.exports.iter().map(|(key, text)| (key.clone(), Value::String(text.clone()))).collect();
        let request =
            RegisterResourceOutputsRequest { urn: urns::stack(), outputs: Some(encode_properties(&outputs, ACCEPTS)) };
        // When the run was stopped, nobody takes the outputs; what stopped it is known already.
        let _ = self.run.rpc("RegisterResourceOutputs", &request.encode_to_vec()).await;
    }

    fn parent(&self, resource: &Resource) -> String {
        let parent = resource.parent.as_ref().and_then(|name| self.known.get(name));
        parent.map_or_else(urns::stack, |known| known.urn.clone())
    }

    fn with_provider(&self, resource: &Resource, mut inputs: PropertyMap) -> PropertyMap {
        if resource.component || resource.package.is_some() {
            return inputs;
        }
        let handle = format!("{HANDLE_PREFIX}{}", object(self.lifecycle, &resource.name));
        inputs.insert(PROVIDER_KEY.to_owned(), Value::String(handle));
        inputs
    }

    async fn read(&self, resource: &Resource, inputs: PropertyMap, of: &str) -> Option<ResolvedResource> {
        let (dependencies, _) = dependencies(resource, &inputs, &self.known);
        let request = ReadResourceRequest {
            id: self.ids.get(of).cloned().unwrap_or_else(|| "missing".to_owned()),
            r#type: urns::token(resource, resource.other_type),
            name: resource.name.clone(),
            parent: self.parent(resource),
            properties: Some(encode_properties(&self.with_provider(resource, inputs), ACCEPTS)),
            dependencies,
            provider: provider(resource, &self.step.program, &self.known),
            version: resource.version.clone().unwrap_or_default(),
            additional_secret_outputs: resource.secret_outputs.clone(),
            ..ReadResourceRequest::default()
        };
        let answer = self.run.rpc("ReadResource", &request.encode_to_vec()).await?;
        let response = ReadResourceResponse::decode(&answer[..]).ok()?;
        let outputs = decode_properties(response.properties.unwrap_or_default()).ok()?;
        Some(ResolvedResource { urn: response.urn, outputs, ..ResolvedResource::default() })
    }

    async fn register(&self, resource: &Resource, inputs: PropertyMap) -> Option<ResolvedResource> {
        let (dependencies, by_property) = dependencies(resource, &inputs, &self.known);
        let urn_of = |name: &String| self.known.get(name).map(|known| known.urn.clone());
        let inputs = self.with_provider(resource, inputs);
        let request = RegisterResourceRequest {
            r#type: urns::token(resource, resource.other_type),
            name: resource.name.clone(),
            parent: self.parent(resource),
            provider: provider(resource, &self.step.program, &self.known),
            providers: children_use(resource, &self.step.program, &self.known).into_iter().collect(),
            version: resource.version.clone().unwrap_or_default(),
            custom: !resource.component,
            object: Some(encode_properties(&inputs, ACCEPTS)),
            protect: resource.protect,
            dependencies,
            property_dependencies: by_property
                .into_iter()
                .map(|(key, urns)| (key, PropertyDependencies { urns }))
                .collect(),
            delete_before_replace: resource.delete_before_replace.unwrap_or(false),
            delete_before_replace_defined: resource.delete_before_replace.is_some(),
            ignore_changes: resource.ignore_changes.clone(),
            replace_on_changes: resource.replace_on_changes.clone(),
            additional_secret_outputs: resource.secret_outputs.clone(),
            retain_on_delete: resource.retain,
            deleted_with: resource.deleted_with.as_ref().and_then(urn_of).unwrap_or_default(),
            replace_with: resource.replace_with.iter().filter_map(urn_of).collect(),
            aliases: resource.aliases.iter().map(|alias| self.alias(alias, resource)).collect(),
            alias_specs: true,
            replacement_trigger: resource
                .trigger
                .as_ref()
                .map(|text| encode_value(&Value::String(text.clone()), ACCEPTS)),
            supports_partial_values: true,
            supports_result_reporting: true,
            ..RegisterResourceRequest::default()
        };
        let answer = self.run.rpc("RegisterResource", &request.encode_to_vec()).await?;
        let response = RegisterResourceResponse::decode(&answer[..]).ok()?;
        let unknown = response.unknown || response.result != 0;
        let outputs = decode_properties(response.object.unwrap_or_default()).ok()?;
        // What an SDK writes in the place of an id that is not known.
        let id = if response.id.is_empty() { UNKNOWN_TEXT.to_owned() } else { response.id };
        Some(ResolvedResource { urn: response.urn, id, outputs, unknown })
    }

    fn alias(&self, alias: &Alias, resource: &Resource) -> WireAlias {
        let parent = alias.parent.as_ref().and_then(|name| self.known.get(name)).map(|known| known.urn.clone());
        let kind = urns::token(resource, alias.other_type);
        let alias = if alias.as_urn {
            let parent = match (&parent, alias.no_parent) {
                (Some(parent), _) => parent.clone(),
                (None, true) => urns::stack(),
                (None, false) => self.parent(resource),
            };
            let name = alias.name.as_ref().unwrap_or(&resource.name);
            AliasKind::Urn(urns::urn(Some(&parent), &kind, name))
        } else {
            AliasKind::Spec(AliasSpec {
                name: alias.name.clone().unwrap_or_default(),
                r#type: if alias.other_type == resource.other_type { String::new() } else { kind },
                parent: match (parent, alias.no_parent) {
                    (Some(parent), _) => Some(AliasParent::ParentUrn(parent)),
                    (None, true) => Some(AliasParent::NoParent(true)),
                    (None, false) => None,
                },
                ..AliasSpec::default()
            })
        };
        WireAlias { alias: Some(alias) }
    }
}
