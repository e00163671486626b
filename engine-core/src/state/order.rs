//! The one order in which the resources of a state are written: it depends on the resources alone, not on the run that
//! made them.
//!
//! Each resource stands after everything that it refers to, and what depends on a component also after the component's
//! children, by which deletions find their order. Old objects of replacements stand behind, in the same way. Where that
//! leaves a choice, the stack's own resource comes first, providers that no resource names (those of remote components)
//! last, and for the rest the URNs decide.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use crate::hash::{FixedMap, FixedSet, map_for};
use crate::resource_state::ResourceState;
use crate::urn::reference_parts;

use super::references::references;

/// Puts resources into their canonical order. What cannot stand after all that it refers to, for they refer to one
/// another, comes as early as its URN says.
#[must_use]
pub fn canonical(resources: &[Arc<ResourceState>]) -> Vec<Arc<ResourceState>> {
    let order = Sorting::of(resources).run();
    order.into_iter().map(|index| Arc::clone(&resources[index])).collect()
}

/// Where resources of a name are.
struct Places<'r> {
    /// Of several resources with one URN the living one, else the first.
    by_urn: FixedMap<&'r str, usize>,
    /// The old objects of each URN.
    old_objects: FixedMap<&'r str, Vec<usize>>,
    by_provider: FixedMap<(&'r str, &'r str), usize>,
}

impl<'r> Places<'r> {
    fn of(resources: &'r [Arc<ResourceState>]) -> Self {
        let mut by_urn: FixedMap<&str, usize> = map_for(resources.len());
        let mut old_objects: FixedMap<&str, Vec<usize>> = FixedMap::default();
        let mut by_provider = FixedMap::default();
        for (index, resource) in resources.iter().enumerate() {
            let place = by_urn.entry(resource.urn.as_str()).or_insert(index);
            if resources[*place].delete && !resource.delete {
                *place = index;
            }
            if resource.delete {
                old_objects.entry(resource.urn.as_str()).or_default().push(index);
            }
            if resource.urn.provider_package().is_some() {
                by_provider.entry((resource.urn.as_str(), resource.id.as_str())).or_insert(index);
            }
        }
        Self { by_urn, old_objects, by_provider }
    }

    /// The place of each resource's provider. Most resources have the same one as the resource before them.
    fn providers(&self, resources: &'r [Arc<ResourceState>]) -> Vec<Option<usize>> {
        let mut last: (&str, Option<usize>) = ("", None);
        let place = |resource: &'r Arc<ResourceState>| {
            if resource.provider != last.0 {
                let parts = reference_parts(&resource.provider);
                last = (&resource.provider, parts.and_then(|parts| self.by_provider.get(&parts).copied()));
            }
            last.1
        };
        resources.iter().map(place).collect()
    }

    fn parent(&self, resource: &ResourceState) -> Option<usize> {
        self.by_urn.get(resource.parent.as_ref()?.as_str()).copied()
    }
}

/// The components and what is below them, among the resources that are no old objects.
struct Family {
    parent: Vec<Option<usize>>,
    /// Is a resource one of its parent's children? Old objects are nobody's.
    is_child: Vec<bool>,
    /// How many children of a resource are not complete, that is, placed with all that is below them.
    open_children: Vec<usize>,
    /// When a walk over the family enters a resource and when it leaves it, by which ancestors are known. Zeroes for
    /// resources that are their own ancestors, as only a broken state has them.
    span: Vec<(usize, usize)>,
}

impl Family {
    fn of(resources: &[Arc<ResourceState>], places: &Places<'_>) -> Self {
        let parent: Vec<Option<usize>> = resources
            .iter()
            .enumerate()
            .map(|(index, resource)| places.parent(resource).filter(|parent| *parent != index))
            .collect();
        let is_child: Vec<bool> =
            resources.iter().zip(&parent).map(|(resource, parent)| parent.is_some() && !resource.delete).collect();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); resources.len()];
        for (index, parent) in parent.iter().enumerate().filter(|(index, _)| is_child[*index]) {
            if let Some(parent) = parent {
                children[*parent].push(index);
            }
        }
        let mut span = vec![(0, 0); resources.len()];
        let mut clock = 0;
        for root in (0..resources.len()).filter(|index| parent[*index].is_none()) {
            let mut open = vec![(root, 0)];
            clock += 1;
            span[root].0 = clock;
            while let Some((resource, next)) = open.last_mut() {
                clock += 1;
                if let Some(child) = children[*resource].get(*next) {
                    *next += 1;
                    span[*child].0 = clock;
                    open.push((*child, 0));
                } else {
                    span[*resource].1 = clock;
                    open.pop();
                }
            }
        }
        let open_children = children.iter().map(Vec::len).collect();
        Self { parent, is_child, open_children, span }
    }

    /// Is it the resource itself or above it?
    fn is_above(&self, above: usize, resource: usize) -> bool {
        let (outer, inner) = (self.span[above], self.span[resource]);
        outer.0 <= inner.0 && inner.1 <= outer.1
    }
}

/// What a resource still waits for.
#[derive(Clone, Copy, Default)]
struct Waiting {
    /// Resources that have to stand before it.
    needed: usize,
    /// Resources, and all below a component, that should stand before it.
    wished: usize,
}

struct Sorting {
    family: Family,
    /// The place of each resource in the order of names, and the other way round.
    rank: Vec<usize>,
    by_rank: Vec<usize>,
    waiting: Vec<Waiting>,
    needed_by: Vec<Vec<usize>>,
    wished_by: Vec<Vec<usize>>,
    /// Who waits for all that is below a resource.
    completed_for: Vec<Vec<usize>>,
    placed: Vec<bool>,
    /// Ranks of resources that wait for nothing.
    ready: BinaryHeap<Reverse<usize>>,
    /// Ranks of resources that may stand here, and should not yet.
    possible: BTreeSet<usize>,
    order: Vec<usize>,
}

impl Sorting {
    fn of(resources: &[Arc<ResourceState>]) -> Self {
        let places = Places::of(resources);
        let family = Family::of(resources, &places);
        let providers = places.providers(resources);
        let used: FixedSet<usize> = providers.iter().flatten().copied().collect();
        let mut by_rank: Vec<usize> = (0..resources.len()).collect();
        by_rank.sort_by_cached_key(|index| {
            let resource = &resources[*index];
            let name = (resource.urn.as_str(), resource.pending_replacement, resource.id.as_str());
            let idle = resource.urn.provider_package().is_some() && !used.contains(index);
            (
                !resource.urn.is_root_stack(),
                resource.delete,
                idle,
                name,
                resource.created.as_str(),
                resource.modified.as_str(),
            )
        });
        let mut rank = vec![0; resources.len()];
        for (place, index) in by_rank.iter().enumerate() {
            rank[*index] = place;
        }
        let mut sorting = Self {
            family,
            rank,
            by_rank,
            waiting: vec![Waiting::default(); resources.len()],
            needed_by: vec![Vec::new(); resources.len()],
            wished_by: vec![Vec::new(); resources.len()],
            completed_for: vec![Vec::new(); resources.len()],
            placed: vec![false; resources.len()],
            ready: BinaryHeap::new(),
            possible: BTreeSet::new(),
            order: Vec::with_capacity(resources.len()),
        };
        for (index, resource) in resources.iter().enumerate() {
            sorting.note(index, resource, providers[index], &places);
        }
        for index in 0..resources.len() {
            sorting.release(index);
        }
        sorting
    }

    /// Notes what a resource waits for.
    fn note(&mut self, index: usize, resource: &ResourceState, provider: Option<usize>, places: &Places<'_>) {
        if let Some(provider) = provider.filter(|provider| *provider != index) {
            self.needed_by[provider].push(index);
            self.waiting[index].needed += 1;
        }
        for (_, urn) in references(resource) {
            if let Some(needed) = places.by_urn.get(urn.as_str()).copied().filter(|needed| *needed != index) {
                self.needed_by[needed].push(index);
                self.waiting[index].needed += 1;
                let own = self.family.parent[index].is_some_and(|parent| self.family.is_above(needed, parent));
                if self.family.open_children[needed] > 0 && !own {
                    self.completed_for[needed].push(index);
                    self.waiting[index].wished += 1;
                }
            }
            // The objects that it was made with may be those of old objects as well.
            for old in places.old_objects.get(urn.as_str()).into_iter().flatten().filter(|_| resource.delete) {
                if *old != index {
                    self.wished_by[*old].push(index);
                    self.waiting[index].wished += 1;
                }
            }
        }
    }

    fn run(mut self) -> Vec<usize> {
        let mut first_left = 0;
        while self.order.len() < self.placed.len() {
            let next = self.ready.pop().map(|Reverse(rank)| rank).or_else(|| self.possible.pop_first());
            let next = next.unwrap_or_else(|| {
                // Resources that refer to one another.
                while self.placed[self.by_rank[first_left]] {
                    first_left += 1;
                }
                first_left
            });
            self.place(self.by_rank[next]);
        }
        self.order
    }

    fn place(&mut self, index: usize) {
        if std::mem::replace(&mut self.placed[index], true) {
            return;
        }
        self.order.push(index);
        for other in std::mem::take(&mut self.needed_by[index]) {
            self.waiting[other].needed -= 1;
            self.release(other);
        }
        let wishes = std::mem::take(&mut self.wished_by[index]);
        self.grant(wishes);
        let mut complete = Some(index).filter(|index| self.family.open_children[*index] == 0);
        while let Some(resource) = complete {
            let wishes = std::mem::take(&mut self.completed_for[resource]);
            self.grant(wishes);
            complete = None;
            if let Some(parent) = self.family.parent[resource].filter(|_| self.family.is_child[resource]) {
                let open = &mut self.family.open_children[parent];
                *open -= 1;
                complete = Some(parent).filter(|parent| *open == 0 && self.placed[*parent]);
            }
        }
    }

    fn grant(&mut self, resources: Vec<usize>) {
        for resource in resources {
            self.waiting[resource].wished -= 1;
            self.release(resource);
        }
    }

    /// Takes a resource among those that may be placed, if it may.
    fn release(&mut self, index: usize) {
        let Waiting { needed, wished } = self.waiting[index];
        if needed > 0 || self.placed[index] {
            return;
        }
        let rank = self.rank[index];
        if wished > 0 {
            self.possible.insert(rank);
        } else {
            self.possible.remove(&rank);
            self.ready.push(Reverse(rank));
        }
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
