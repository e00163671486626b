//! State that a function of the program rewrites before its resource is planned (the SDKs' `stateMigrations`): what of
//! it is allowed, and which resources it leads to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::Urn;

use super::goal::Goal;
use super::planner::Planner;

/// A resource of the state and what is below it, with their numbers; parents come before their children.
pub type Subtree = Vec<(ResourceNumber, Arc<ResourceState>)>;

/// What a migration does to a subtree.
#[derive(Debug, Default)]
pub struct Migration {
    /// Resources that take the place of those with these numbers.
    pub set: Vec<(ResourceNumber, ResourceState)>,
    /// Resources of components that were merged into another.
    pub removed: Vec<ResourceNumber>,
    /// What became of URNs that are gone.
    pub successors: HashMap<Urn, Urn>,
}

impl Planner {
    /// The resource that a registration goes on from and all living resources below it; empty when there is none.
    #[must_use]
    pub fn subtree(&self, goal: &Goal) -> Subtree {
        let Some((root, resource)) = self.locate(goal).1 else { return Vec::new() };
        let mut above = HashSet::from([resource.urn.clone()]);
        let mut found = vec![(root, resource)];
        for (number, resource) in (0..).zip(self.base()).skip(root as usize + 1) {
            let is_below = resource.parent.as_ref().is_some_and(|parent| above.contains(parent));
            if is_below && !resource.delete && !self.is_handled(number) {
                above.insert(resource.urn.clone());
                found.push((number, Arc::clone(resource)));
            }
        }
        found
    }

    /// The resources outside of a migrated subtree that name something which is gone, as they are from now on.
    #[must_use]
    pub fn followers(&self, migration: &Migration) -> Vec<(ResourceNumber, ResourceState)> {
        if migration.successors.is_empty() {
            return Vec::new();
        }
        let inside: HashSet<ResourceNumber> =
            migration.set.iter().map(|(number, _)| *number).chain(migration.removed.iter().copied()).collect();
        (0..)
            .zip(self.base())
            .filter(|(number, _)| !inside.contains(number) && !self.is_handled(*number))
            .filter(|(_, resource)| resource.references().any(|urn| migration.successors.contains_key(&urn)))
            .map(|(number, resource)| {
                let mut resource = (**resource).clone();
                follow(&mut resource, &migration.successors);
                (number, resource)
            })
            .collect()
    }
}

/// Compares what a migration was given with what it returned. The error says what is wrong with that.
pub fn migrate(
    given: &[(ResourceNumber, Arc<ResourceState>)],
    returned: Vec<ResourceState>,
    successors: BTreeMap<String, String>,
) -> Result<Migration, String> {
    if let Some((_, view)) = given.iter().find(|(_, resource)| resource.view_of.is_some()) {
        return Err(format!(
            "'{}' is a view, of which its plugin alone tells: a migration changes no resource that has views below it",
            view.urn
        ));
    }
    let names = names_of(&returned)?;
    let mut migration = Migration { successors: read_successors(given, &names, successors)?, ..Migration::default() };
    let mut taken = HashSet::new();
    let outside = given.first().and_then(|(_, root)| root.parent.clone());
    let mut placed: HashMap<Urn, ResourceNumber> = HashMap::new();
    for mut resource in returned {
        let (number, old) = predecessor(given, &resource, &migration.successors, &taken)?;
        guard(&old, &resource)?;
        taken.insert(number);
        follow(&mut resource, &migration.successors);
        if let Some(parent) = resource.parent.as_ref().filter(|parent| Some(*parent) != outside.as_ref())
            && placed.get(parent).is_none_or(|above| *above >= number)
        {
            return Err(format!("'{}' has the parent '{parent}', which does not stand before it", resource.urn));
        }
        placed.insert(resource.urn.clone(), number);
        if resource != *old {
            migration.set.push((number, resource));
        }
    }
    for (number, resource) in given.iter().filter(|(number, _)| !taken.contains(number)) {
        if resource.custom {
            return Err(format!(
                "'{}' stands for an object, which would be forgotten: what succeeds it must have its id",
                resource.urn
            ));
        }
        migration.removed.push(*number);
    }
    Ok(migration)
}

fn names_of(resources: &[ResourceState]) -> Result<HashSet<Urn>, String> {
    let mut names = HashSet::new();
    for resource in resources {
        if Urn::parse(resource.urn.as_str()).is_none() || resource.urn.own_type() != resource.kind {
            return Err(format!("'{}' is not the URN of a resource of the type '{}'", resource.urn, resource.kind));
        }
        if !names.insert(resource.urn.clone()) {
            return Err(format!("'{}' is returned twice", resource.urn));
        }
    }
    Ok(names)
}

fn read_successors(
    given: &[(ResourceNumber, Arc<ResourceState>)],
    names: &HashSet<Urn>,
    mut successors: BTreeMap<String, String>,
) -> Result<HashMap<Urn, Urn>, String> {
    let mut read = HashMap::new();
    for (_, resource) in given {
        match (names.contains(&resource.urn), successors.remove(resource.urn.as_str())) {
            (true, None) => {}
            (true, Some(_)) => return Err(format!("'{}' is returned and has a successor as well", resource.urn)),
            (false, None) => {
                return Err(format!(
                    "'{}' is left out: return it, or name what succeeds it in `successors`",
                    resource.urn
                ));
            }
            (false, Some(successor)) => {
                let successor = Urn::unchecked(&successor);
                if !names.contains(&successor) {
                    return Err(format!("the successor '{successor}' of '{}' is not returned", resource.urn));
                }
                read.insert(resource.urn.clone(), successor);
            }
        }
    }
    match successors.into_keys().next() {
        Some(stranger) => Err(format!("`successors` names '{stranger}', which was not given")),
        None => Ok(read),
    }
}

/// The resource whose place a returned one takes: that of its URN, else one that it succeeds, best the one with its id.
fn predecessor(
    given: &[(ResourceNumber, Arc<ResourceState>)],
    resource: &ResourceState,
    successors: &HashMap<Urn, Urn>,
    taken: &HashSet<ResourceNumber>,
) -> Result<(ResourceNumber, Arc<ResourceState>), String> {
    if let Some((number, old)) = given.iter().find(|(_, old)| old.urn == resource.urn) {
        return Ok((*number, Arc::clone(old)));
    }
    let mut candidates =
        given.iter().filter(|(number, old)| !taken.contains(number) && successors.get(&old.urn) == Some(&resource.urn));
    let exact = candidates.clone().find(|(_, old)| old.custom == resource.custom && old.id == resource.id);
    exact.or_else(|| candidates.next()).map(|(number, old)| (*number, Arc::clone(old))).ok_or_else(|| {
        format!(
            "'{}' succeeds nothing that was given: a migration changes and renames resources, it adds none",
            resource.urn
        )
    })
}

/// A migration rewrites state; what objects are and how they are kept safe is not its business.
fn guard(old: &ResourceState, resource: &ResourceState) -> Result<(), String> {
    if old.urn.provider_package().is_some() && old != resource {
        return Err(format!("'{}' is a provider, which must stay as it is", old.urn));
    }
    let changes = [
        ("custom", old.custom != resource.custom),
        ("id", old.id != resource.id),
        ("provider", old.provider != resource.provider),
        ("external", old.external != resource.external),
        ("protect", old.protect != resource.protect),
        ("retainOnDelete", old.retain_on_delete != resource.retain_on_delete),
        ("delete", old.delete != resource.delete),
        ("pendingReplacement", old.pending_replacement != resource.pending_replacement),
        ("taint", old.taint != resource.taint),
    ];
    match changes.into_iter().find(|(_, changed)| *changed) {
        Some((member, _)) => {
            Err(format!("'{}' has another `{member}` than '{}' had; it must keep it", resource.urn, old.urn))
        }
        None => Ok(()),
    }
}

/// Rewrites references to what is gone.
fn follow(resource: &mut ResourceState, successors: &HashMap<Urn, Urn>) {
    for urn in resource.references_mut() {
        if let Some(successor) = successors.get(urn) {
            urn.clone_from(successor);
        }
    }
}

#[cfg(test)]
#[path = "migration_tests.rs"]
mod tests;
