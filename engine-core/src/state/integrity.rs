//! What must hold of the resources of a state, and how to put it right (docs/rules 10.3, 1.6).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::digest::sha256_hex;
use crate::error::Error;
use crate::hash::{FixedMap, FixedSet, map_for};
use crate::message;
use crate::message::Command;
use crate::provider::DYNAMIC_PACKAGES;
use crate::resource_state::ResourceState;
use crate::urn::{Urn, reference_parts};
use crate::value::PropertyMap;

use super::checkpoint::Checkpoint;

use super::name::StackName;
use super::order::canonical;
use super::references::references;
use super::snapshot::Snapshot;

/// Checks a whole snapshot; the error says which resource breaks which rule.
pub fn check(snapshot: &Snapshot) -> Result<(), String> {
    check_manifest(snapshot)?;
    check_resources(&snapshot.resources)
}

fn check_manifest(snapshot: &Snapshot) -> Result<(), String> {
    let member = |name| snapshot.other.get("manifest").and_then(|manifest| manifest.get(name)).and_then(Json::as_str);
    match (member("magic"), member("version")) {
        (Some(magic), Some(version)) if magic != sha256_hex(version.as_bytes()) => {
            Err(format!("the manifest's magic does not belong to its version '{version}'"))
        }
        _ => Ok(()),
    }
}

fn check_resources(resources: &[Arc<ResourceState>]) -> Result<(), String> {
    let mut seen: FixedMap<&Urn, bool> = map_for(resources.len());
    let mut providers: FixedSet<(&str, &str)> = FixedSet::default();
    for resource in resources {
        let urn = &resource.urn;
        if urn.as_str().is_empty() {
            return Err("a resource has no URN".into());
        }
        if Urn::parse(urn.as_str()).is_none() {
            return Err(format!("'{urn}' is not a URN"));
        }
        if resource.kind.is_empty() {
            return Err(format!("{urn} has no type"));
        }
        if urn.own_type() != resource.kind {
            return Err(format!("{urn} has the type '{}', which is not the one in its URN", resource.kind));
        }
        if !resource.custom && !resource.id.is_empty() {
            return Err(format!("{urn} is a component and has an id"));
        }
        if !resource.custom && !resource.provider.is_empty() {
            return Err(format!("{urn} is a component and has a provider"));
        }
        let is_provider = urn.provider_package().is_some();
        if resource.custom && !is_provider && !resource.pending_replacement {
            let (provider, id) = resource
                .provider_parts()
                .ok_or_else(|| format!("{urn} has the malformed provider '{}'", resource.provider))?;
            if !providers.contains(&(provider.as_str(), id)) {
                return Err(format!(
                    "{urn} refers to the provider {}, which does not come before it",
                    resource.provider
                ));
            }
        }
        if let Some((how, missing)) = references(resource).find(|(_, urn)| !seen.contains_key(urn)) {
            return Err(format!("{urn} refers to {missing} ({how}), which does not come before it"));
        }
        let live = seen.entry(urn).or_insert(false);
        if *live && !resource.delete {
            return Err(format!("{urn} is there twice, and neither one is marked for deletion"));
        }
        *live |= !resource.delete;
        if is_provider {
            providers.insert((urn.as_str(), &resource.id));
        }
    }
    Ok(())
}

/// Does each resource stand after everything in the state that it refers to?
fn is_in_order(resources: &[Arc<ResourceState>]) -> bool {
    let mut first: FixedMap<&str, usize> = map_for(resources.len());
    let mut first_provider: FixedMap<(&str, &str), usize> = FixedMap::default();
    for (place, resource) in resources.iter().enumerate() {
        first.entry(resource.urn.as_str()).or_insert(place);
        if resource.urn.provider_package().is_some() {
            first_provider.entry((resource.urn.as_str(), &resource.id)).or_insert(place);
        }
    }
    resources.iter().enumerate().all(|(place, resource)| {
        let provider = reference_parts(&resource.provider).and_then(|parts| first_provider.get(&parts));
        let named = references(resource).filter_map(|(_, urn)| first.get(urn.as_str()));
        provider.into_iter().chain(named).all(|needed| *needed <= place)
    })
}

/// Sorts the resources, drops references to resources that do not exist and resources that are there twice, and gives
/// dynamic resources without their provider one, for it holds nothing; says what was done. What else is wrong,
/// [`check`] says afterwards.
pub fn repair(snapshot: &mut Snapshot) -> Vec<String> {
    let mut done = Vec::new();
    drop_repeated(&mut snapshot.resources, &mut done);
    give_providers(&mut snapshot.resources, &mut done);
    let known: HashSet<Urn> = snapshot.resources.iter().map(|resource| resource.urn.clone()).collect();
    for resource in &mut snapshot.resources {
        let missing: Vec<(&str, Urn)> = references(resource)
            .filter(|(_, urn)| !known.contains(*urn))
            .map(|(how, urn)| (how, urn.clone()))
            .collect();
        if missing.is_empty() {
            continue;
        }
        done.extend(missing.iter().map(|(how, urn)| format!("{}: dropped the missing {how} {urn}", resource.urn)));
        Arc::make_mut(resource).retain_references(|urn| known.contains(urn));
    }
    if !is_in_order(&snapshot.resources) {
        done.push("put every resource after those that it refers to".into());
        snapshot.resources = canonical(&snapshot.resources);
    }
    done
}

fn drop_repeated(resources: &mut Vec<Arc<ResourceState>>, done: &mut Vec<String>) {
    let mut kept: HashMap<Urn, Vec<Arc<ResourceState>>> = HashMap::new();
    resources.retain(|resource| {
        let alike = kept.entry(resource.urn.clone()).or_default();
        let is_new = !alike.contains(resource);
        if is_new {
            alike.push(Arc::clone(resource));
        } else {
            done.push(format!("{}: dropped a resource that is there twice", resource.urn));
        }
        is_new
    });
}

fn give_providers(resources: &mut Vec<Arc<ResourceState>>, done: &mut Vec<String>) {
    let mut known: Vec<(String, Urn, String)> = Vec::new();
    for resource in resources.iter().filter(|resource| !resource.delete) {
        known.extend(
            resource
                .urn
                .provider_package()
                .map(|package| (package.to_owned(), resource.urn.clone(), resource.id.clone())),
        );
    }
    let is_there: HashSet<String> = resources
        .iter()
        .filter(|resource| resource.urn.provider_package().is_some())
        .map(|resource| reference(&resource.urn, &resource.id))
        .collect();
    let mut made = Vec::new();
    for resource in resources.iter_mut() {
        let package = resource.kind.split(':').next().unwrap_or_default().to_owned();
        let is_dynamic =
            resource.custom && !resource.pending_replacement && DYNAMIC_PACKAGES.contains(&package.as_str());
        if !is_dynamic || is_there.contains(&resource.provider) {
            continue;
        }
        let given = match known.iter().find(|(of, ..)| *of == package) {
            Some((_, urn, id)) => reference(urn, id),
            None => {
                let provider = default_provider(resource, &package);
                known.push((package, provider.urn.clone(), provider.id.clone()));
                let given = reference(&provider.urn, &provider.id);
                made.push(Arc::new(provider));
                given
            }
        };
        done.push(format!(
            "{}: gave it the provider {given} in place of '{}', which is missing",
            resource.urn, resource.provider
        ));
        Arc::make_mut(resource).provider = given;
    }
    resources.splice(0..0, made);
}

fn reference(provider: &Urn, id: &str) -> String {
    format!("{provider}::{id}")
}

/// Completes resources of very old states: provider resources without outputs, and custom resources without a provider.
/// What is made depends on the resources alone, so that a journal finds the same resources again.
pub(super) fn complete_old_resources(snapshot: &mut Snapshot) {
    let mut made: Vec<ResourceState> = Vec::new();
    for resource in &mut snapshot.resources {
        if resource.urn.provider_package().is_some() {
            if resource.outputs.is_none() && !resource.inputs.is_empty() {
                let mut outputs = (*resource.inputs).clone();
                outputs.remove("__internal");
                Arc::make_mut(resource).outputs = Some(Arc::new(outputs));
            }
        } else if resource.custom && resource.provider.is_empty() {
            let package = resource.kind.split(':').next().unwrap_or_default().to_owned();
            let provider = default_provider(resource, &package);
            Arc::make_mut(resource).provider = reference(&provider.urn, &provider.id);
            if !made.iter().any(|known| known.urn == provider.urn) {
                made.push(provider);
            }
        }
    }
    snapshot.resources.splice(0..0, made.into_iter().map(Arc::new));
}

fn default_provider(resource: &ResourceState, package: &str) -> ResourceState {
    let kind = format!("pulumi:providers:{package}");
    let urn = Urn::new(resource.urn.stack(), resource.urn.project(), "", &kind, "default");
    let hash = sha256_hex(urn.as_str().as_bytes());
    let id = format!("{}-{}-{}-{}-{}", &hash[..8], &hash[8..12], &hash[12..16], &hash[16..20], &hash[20..32]);
    let outputs = Some(Arc::<PropertyMap>::default());
    ResourceState { urn, custom: true, id, kind, outputs, ..ResourceState::default() }
}

/// Refuses the file of another stack, and one whose resources are not sound. `place` names it in the error.
pub(super) fn check_on_load(checkpoint: &Checkpoint, stack: &StackName, place: &str) -> Result<(), Error> {
    check_owner(checkpoint, stack, place)?;
    check(&checkpoint.snapshot).map_err(|violation| {
        Error::BadState(message![
            format!("the state in {place} is not sound: {violation}. Nothing was changed. Mend it with "),
            Command::new("state repair"),
            ", or by hand between ",
            Command::new("stack export"),
            " and ",
            Command::new("stack import"),
            "; or go on at your own risk with --disable-integrity-checking"
        ])
    })
}

/// Refuses the file of another stack: its resources would all be deleted, and those of the program made a second time.
/// The name in the file alone proves nothing, for tools that rename stacks may leave it.
fn check_owner(checkpoint: &Checkpoint, stack: &StackName, place: &str) -> Result<(), Error> {
    let named = &checkpoint.stack;
    if named.is_empty() || *named == stack.to_string() || named == stack.stack() {
        return Ok(());
    }
    if named.eq_ignore_ascii_case(&stack.to_string()) {
        return Err(Error::Configuration(format!(
            "{place} is the file of the stack '{named}'; this disk does not tell it from '{stack}'. Write the name as it is"
        ).into()));
    }
    let foreign = |resource: &&Arc<ResourceState>| {
        resource.urn.stack() != stack.stack() || resource.urn.project() != stack.project()
    };
    match checkpoint.snapshot.resources.iter().find(foreign) {
        None => Ok(()),
        Some(resource) => Err(Error::BadState(message![
            format!(
                "{place} is the file of the stack '{named}', not of '{stack}': it holds {}. Nothing was changed. ",
                resource.urn
            ),
            Command::new("state restore"),
            " brings back a generation of this stack; a copy of its own is taken over with ",
            Command::new("stack import").with("--file <copy>")
        ])),
    }
}

#[cfg(test)]
#[path = "integrity_tests.rs"]
mod tests;
