//! Taking resources out of one state and into another, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Snapshot, StackName};
use maloko_core::urn::STACK_TYPE;
use maloko_core::{ResourceState, Urn};

use crate::commands::rewrite::rewrite_urns;
use crate::failure::{Failure, Result};

/// What a move did.
#[derive(Debug, Default)]
pub(super) struct MoveResult {
    /// The old and the new URNs, in state order.
    pub(super) urns: Vec<(Urn, Urn)>,
    /// References that could not be kept, one line each.
    pub(super) notes: Vec<String>,
}

/// Moves resources to the stack of that name, with everything below them; with `include_parents` also the components that
/// they are in. A resource whose parent stays becomes a child of the other stack itself. Providers are copied, because others
/// may need them. `again`: it was interrupted, so that the resources may have arrived already.
pub(super) fn relocate(
    from: &mut Snapshot,
    to: &mut Snapshot,
    name: &StackName,
    wanted: &[Urn],
    include_parents: bool,
    again: bool,
) -> Result<MoveResult> {
    let chosen = choose(from, wanted, include_parents)?;
    let root = root_of(name, to);
    let mut new_urns: BTreeMap<Urn, Urn> = BTreeMap::new();
    let mut urns = Vec::new();
    let mut arrived = BTreeSet::new();
    for resource in from.resources.iter().filter(|resource| chosen.contains(&resource.urn)) {
        let parent = resource.parent.as_ref().and_then(|parent| new_urns.get(parent)).unwrap_or(&root);
        let new = Urn::new(
            name.stack(),
            name.project(),
            parent.qualified_type(),
            resource.urn.own_type(),
            resource.urn.name(),
        );
        let there = to.resources.iter().find(|other| other.urn == new);
        if again && there.is_some_and(|there| there.id == resource.id) {
            arrived.insert(resource.urn.clone());
        } else if there.is_some() || new_urns.values().any(|other| *other == new) {
            return Err(Failure::new(message![
                format!(
                    "{} would be {new} in stack '{}', where there is such a resource already; rename one of them first \
                     with ",
                    resource.urn,
                    name.stack()
                ),
                Command::new("state rename")
            ]));
        }
        urns.push((resource.urn.clone(), new.clone()));
        new_urns.insert(resource.urn.clone(), new);
    }
    let providers = copy_providers(from, to, name, &new_urns)?;
    let mut moved = Snapshot {
        resources: from
            .resources
            .iter()
            .filter(|resource| new_urns.contains_key(&resource.urn) && !arrived.contains(&resource.urn))
            .cloned()
            .collect(),
        ..Snapshot::default()
    };
    let mut notes = Vec::new();
    for resource in &mut moved.resources {
        let resource = Arc::make_mut(resource);
        drop_references(resource, &|urn| new_urns.contains_key(urn), &mut notes);
        resource.provider = match resource.provider_parts() {
            Some((urn, id)) => {
                providers.get(&(urn, id.to_owned())).cloned().unwrap_or_else(|| resource.provider.clone())
            }
            None => String::new(),
        };
    }
    rewrite_urns(&mut moved, &|urn| new_urns.get(urn).unwrap_or(urn).clone());
    for resource in &mut moved.resources {
        if resource.parent.is_none() {
            Arc::make_mut(resource).parent = Some(root.clone());
        }
    }
    to.resources.extend(moved.resources);
    from.resources.retain(|resource| !new_urns.contains_key(&resource.urn));
    for resource in &mut from.resources {
        drop_references(Arc::make_mut(resource), &|urn| !new_urns.contains_key(urn), &mut notes);
    }
    Ok(MoveResult { urns, notes })
}

/// The resources that are to be moved.
fn choose(snapshot: &Snapshot, wanted: &[Urn], include_parents: bool) -> Result<BTreeSet<Urn>> {
    let mut chosen = BTreeSet::new();
    for urn in wanted {
        let resources: Vec<_> = snapshot.resources.iter().filter(|resource| resource.urn == *urn).collect();
        let resource = resources.first().ok_or_else(|| super::edit::not_found(snapshot, urn))?;
        if urn.is_root_stack() {
            return Err(Failure::new("the stack itself cannot be moved; name the resources in it"));
        }
        if urn.provider_package().is_some() {
            return Err(Failure::new(format!(
                "{urn} is a provider: providers are not moved but copied along with the resources that they serve"
            )));
        }
        if include_parents {
            let mut above = resource.parent.clone();
            while let Some(parent) = above.filter(|parent| !parent.is_root_stack()) {
                above = snapshot
                    .resources
                    .iter()
                    .find(|resource| resource.urn == parent)
                    .and_then(|resource| resource.parent.clone());
                chosen.insert(parent);
            }
        }
        chosen.insert(urn.clone());
    }
    // A resource stands after its parent, so one pass finds everything below. With --include-parents, the other
    // children of a parent come along as well: they cannot stay without it.
    for resource in &snapshot.resources {
        if resource.parent.as_ref().is_some_and(|parent| chosen.contains(parent)) {
            chosen.insert(resource.urn.clone());
        }
    }
    if let Some(resource) = snapshot.resources.iter().find(|resource| resource.delete && chosen.contains(&resource.urn))
    {
        return Err(Failure::new(message![
            format!("an old object of {} still waits for its deletion; run ", resource.urn),
            Command::new("up"),
            " first, which deletes it"
        ]));
    }
    if let Some(pending) = snapshot.pending.iter().find(|pending| chosen.contains(&pending.resource.urn)) {
        return Err(Failure::new(message![
            format!("a run was interrupted while {} {}; run ", pending.kind.name(), pending.resource.urn),
            Command::new("refresh"),
            " first, which settles that"
        ]));
    }
    if let Some(unresolved) =
        snapshot.all_unresolved_creates().iter().find(|unresolved| chosen.contains(unresolved.urn()))
    {
        return Err(Failure::new(message![
            format!("a replacement of {} may have been made ({}); run ", unresolved.urn(), unresolved.summary()),
            Command::new("up"),
            " first, which settles that"
        ]));
    }
    Ok(chosen)
}

/// The stack's own resource; made where there is none yet.
fn root_of(stack: &StackName, snapshot: &mut Snapshot) -> Urn {
    if let Some(resource) = snapshot.resources.iter().find(|resource| resource.urn.is_root_stack()) {
        return resource.urn.clone();
    }
    let name = format!("{}-{}", stack.project(), stack.stack());
    let urn = Urn::new(stack.stack(), stack.project(), "", STACK_TYPE, &name);
    let resource = ResourceState { urn: urn.clone(), kind: STACK_TYPE.to_owned(), ..ResourceState::default() };
    snapshot.resources.insert(0, Arc::new(resource));
    urn
}

/// Copies the providers that the moved resources need, where the other stack has none of that name; gives the new
/// references by the old ones.
fn copy_providers(
    from: &Snapshot,
    to: &mut Snapshot,
    name: &StackName,
    moved: &BTreeMap<Urn, Urn>,
) -> Result<BTreeMap<(Urn, String), String>> {
    let mut references = BTreeMap::new();
    for resource in from.resources.iter().filter(|resource| moved.contains_key(&resource.urn)) {
        let Some((urn, id)) = resource.provider_parts() else { continue };
        let key = (urn.clone(), id.to_owned());
        if references.contains_key(&key) {
            continue;
        }
        let new = Urn::new(name.stack(), name.project(), "", urn.own_type(), urn.name());
        let provider = from.resources.iter().find(|resource| resource.urn == urn && resource.id == id);
        let known = to.resources.iter().find(|resource| resource.urn == new && !resource.delete);
        let new_id = match (known, provider) {
            // The engine's own provider holds the stack's configuration, which is another one there.
            (Some(known), _) if urn.is_default_provider() => known.id.clone(),
            (Some(known), Some(provider)) if known.inputs == provider.inputs => known.id.clone(),
            (Some(_), _) => {
                return Err(Failure::new(message![
                    format!(
                        "{} is served by the provider {urn}, and stack '{}' has a provider of that name with other \
                         settings; make them alike, or rename one of them with ",
                        resource.urn,
                        name.stack()
                    ),
                    Command::new("state rename")
                ]));
            }
            (None, Some(provider)) => {
                let mut copy = (**provider).clone();
                copy.urn = new.clone();
                copy.parent = None;
                copy.dependencies.clear();
                copy.property_dependencies.clear();
                // What it was bound to stays behind.
                copy.deleted_with = None;
                copy.replace_with.clear();
                let id = copy.id.clone();
                to.resources.push(Arc::new(copy));
                id
            }
            (None, None) => {
                return Err(Failure::new(message![
                    format!("the provider {urn} of {} is not in the state; mend it with ", resource.urn),
                    Command::new("state repair"),
                    " first"
                ]));
            }
        };
        references.insert(key, format!("{new}::{new_id}"));
    }
    Ok(references)
}

/// Takes out references to what is on the other side from now on. The parent is dropped without a word: the caller
/// gives the resource another one.
fn drop_references(resource: &mut ResourceState, stays: &dyn Fn(&Urn) -> bool, notes: &mut Vec<String>) {
    let urn = resource.urn.clone();
    let mut keep = |what: &str, other: &Urn| {
        let stays = stays(other);
        if !stays {
            notes.push(format!("{urn} no longer refers to {other} ({what})"));
        }
        stays
    };
    resource.dependencies.retain(|other| keep("dependency", other));
    resource.replace_with.retain(|other| keep("replaceWith", other));
    resource.deleted_with.take_if(|other| !keep("deletedWith", other));
    resource.parent.take_if(|other| !stays(other));
    for urns in resource.property_dependencies.values_mut() {
        urns.retain(|other| stays(other));
    }
}
