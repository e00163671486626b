//! The resources of a running operation: what was there, what was done, and in which order it is written (docs/rules
//! 10.3).
//!
//! The engine changes its ledger and the journal with the same [`Change`]s; replaying a journal over the snapshot that
//! it was begun on therefore gives the ledger as it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::resource_state::ResourceState;
use crate::urn::{Urn, UrnMap};

use super::pending_operation::{PendingKind, PendingOperation};
use super::rename::{self, RenamedUrns};
use super::snapshot::Snapshot;
use super::unresolved_create::{Attempt, UnresolvedCreate};

/// The number of a resource within one operation: resources of the starting snapshot come first, in their order;
/// resources made by the operation follow.
pub type ResourceNumber = u32;

/// The operations of earlier runs that this one carries on, and that are no creates, have numbers from here on. Those of a journal
/// begin at the other end.
const FIRST_CARRIED: u32 = u32::MAX / 2;

/// One change of the ledger. Changes that belong together are appended to the journal as one record.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A provider is about to be called.
    Begin {
        /// Names the operation until its `End`.
        operation: u32,
        /// What is begun.
        pending: PendingOperation,
        /// What a create is named by, which makes it an unresolved create until its end is known.
        attempt: Option<Attempt>,
    },
    /// The outcome of a begun operation is known (and stands in the changes beside this one). A create is unresolved no
    /// longer then, unless a change beside this one says so.
    End {
        /// The number given by `Begin`.
        operation: u32,
    },
    /// A resource that was finished by this run.
    Put {
        /// Its number, new in this operation.
        number: ResourceNumber,
        /// The resource.
        resource: Arc<ResourceState>,
        /// The resource whose place it takes, if any.
        in_place_of: Option<ResourceNumber>,
    },
    /// A resource that stays where it is, with other content (a flag, outputs).
    Set {
        /// Which resource.
        number: ResourceNumber,
        /// Its new content.
        resource: Arc<ResourceState>,
    },
    /// A resource that is no more.
    Remove {
        /// Which resource.
        number: ResourceNumber,
    },
    /// What is known of an unresolved create, in place of what was.
    UnresolvedCreate(Arc<UnresolvedCreate>),
    /// The create of a resource is unresolved no longer.
    Cleared(Urn),
}

/// The resources and pending operations of a running operation.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    base_len: usize,
    resources: Vec<Option<Arc<ResourceState>>>,
    pending: BTreeMap<u32, PendingOperation>,
    /// The pending creates of each resource: each outcome asks for them, and many may be under way.
    creating: UrnMap<SmallVec<[u32; 1]>>,
    /// Creates whose outcome is unknown, those under way included; one for each resource.
    unresolved_creates: UrnMap<Arc<UnresolvedCreate>>,
    next_operation: u32,
    /// Resources that were finished under another URN than that of the resource whose place they took.
    renamed: RenamedUrns,
}

impl Ledger {
    /// A ledger that begins with a snapshot. Of its pending operations creates and deletions are carried on: the others are
    /// settled by the next look at the resource (docs/rules 8.6).
    #[must_use]
    pub fn new(base: &Snapshot) -> Self {
        let of_kind = |kind: PendingKind| base.pending.iter().filter(move |pending| pending.kind == kind).cloned();
        let mut pending: BTreeMap<u32, PendingOperation> = (0..).zip(of_kind(PendingKind::Creating)).collect();
        let next_operation = u32::try_from(pending.len()).unwrap_or(u32::MAX);
        pending.extend((FIRST_CARRIED..).zip(of_kind(PendingKind::Deleting)));
        let mut creating: UrnMap<SmallVec<[u32; 1]>> = UrnMap::default();
        for (number, pending) in pending.range(..FIRST_CARRIED) {
            creating.entry(pending.resource.urn.clone()).or_default().push(*number);
        }
        let unresolved_creates = base
            .all_unresolved_creates()
            .into_iter()
            .map(|unresolved| (unresolved.urn().clone(), unresolved))
            .collect();
        Self {
            base_len: base.resources.len(),
            resources: base.resources.iter().cloned().map(Some).collect(),
            next_operation,
            pending,
            creating,
            unresolved_creates,
            renamed: RenamedUrns::default(),
        }
    }

    /// The resource of that number, unless it was removed or replaced.
    #[must_use]
    pub fn get(&self, number: ResourceNumber) -> Option<&Arc<ResourceState>> {
        self.resources.get(number as usize)?.as_ref()
    }

    /// A number for the next `Put`.
    #[must_use]
    pub fn next_number(&self) -> ResourceNumber {
        ResourceNumber::try_from(self.resources.len()).unwrap_or(ResourceNumber::MAX)
    }

    /// A number for the next `Begin`; each call gives another one.
    pub fn next_operation(&mut self) -> u32 {
        self.next_operation += 1;
        self.next_operation - 1
    }

    /// Applies a change.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Begin { operation, pending, attempt } => {
                self.next_operation = self.next_operation.max(operation.saturating_add(1));
                if let Some(attempt) = &attempt {
                    let earlier = self.unresolved_creates.get(&pending.resource.urn).map(|earlier| &**earlier);
                    let unresolved = UnresolvedCreate::begun(&pending.resource, attempt, earlier);
                    self.unresolved_creates.insert(pending.resource.urn.clone(), Arc::new(unresolved));
                }
                if pending.kind == PendingKind::Creating {
                    self.creating.entry(pending.resource.urn.clone()).or_default().push(operation);
                }
                self.pending.insert(operation, pending);
            }
            Change::End { operation } => {
                let ended = self.pending.remove(&operation).filter(|ended| ended.kind == PendingKind::Creating);
                if let Some(ended) = ended {
                    self.end_create(&ended.resource.urn, operation);
                }
            }
            Change::Put { number, resource, in_place_of } => {
                if let Some(old) = in_place_of {
                    if let Some(former) =
                        self.get(old).map(|former| former.urn.clone()).filter(|urn| *urn != resource.urn)
                    {
                        self.renamed.insert(former, resource.urn.clone());
                    }
                    self.clear(old);
                }
                let index = number as usize;
                if self.resources.len() <= index {
                    self.resources.resize(index + 1, None);
                }
                self.resources[index] = Some(resource);
            }
            Change::Set { number, resource } => {
                if let Some(place) = self.resources.get_mut(number as usize) {
                    *place = Some(resource);
                }
            }
            Change::Remove { number } => self.clear(number),
            Change::UnresolvedCreate(unresolved) => {
                self.unresolved_creates.insert(unresolved.urn().clone(), unresolved);
            }
            Change::Cleared(urn) => {
                self.unresolved_creates.remove(&urn);
            }
        }
    }

    fn end_create(&mut self, urn: &Urn, operation: u32) {
        self.unresolved_creates.remove(urn);
        if let Some(creating) = self.creating.get_mut(urn) {
            creating.retain(|other| *other != operation);
            if creating.is_empty() {
                self.creating.remove(urn);
            }
        }
    }

    fn clear(&mut self, number: ResourceNumber) {
        if let Some(place) = self.resources.get_mut(number as usize) {
            *place = None;
        }
    }

    /// The resources that are there, with their numbers: those of this run in the order in which they were finished,
    /// then those that it did not touch, in their old order.
    pub fn resources(&self) -> impl Iterator<Item = (ResourceNumber, &Arc<ResourceState>)> {
        let numbered = |(index, resource): (usize, &'_ Option<Arc<ResourceState>>)| {
            resource.as_ref().map(|_| ResourceNumber::try_from(index).unwrap_or(ResourceNumber::MAX))
        };
        let fresh = self.resources.iter().enumerate().skip(self.base_len).filter_map(numbered);
        let base = self.resources.iter().enumerate().take(self.base_len).filter_map(numbered);
        fresh.chain(base).filter_map(|number| self.get(number).map(|resource| (number, resource)))
    }

    /// The resources as they are to be stored: like [`Ledger::resources`], and those that the run did not touch refer
    /// to what was renamed by its new URN.
    #[must_use]
    pub fn finished_resources(&self) -> Vec<Arc<ResourceState>> {
        let mut resources: Vec<_> = self.resources().map(|(_, resource)| Arc::clone(resource)).collect();
        if !self.renamed.is_empty() {
            let fresh = self.resources.iter().skip(self.base_len).flatten().count();
            let taken: std::collections::HashSet<_> =
                resources[..fresh].iter().map(|resource| resource.urn.clone()).collect();
            let mut gone = rename::follow(&mut resources[fresh..], &taken, &self.renamed);
            rename::refer_to_providers(&mut resources, &gone);
            // Resources that are no targets were put back as they were: they too refer to what was renamed, but not to
            // what this run gave a former URN to.
            gone.retain(|former, _| !taken.contains(former));
            rename::refer(&mut resources[..fresh], &gone);
        }
        resources
    }

    /// The create of a resource whose outcome is unknown.
    #[must_use]
    pub fn unresolved(&self, urn: &Urn) -> Option<&Arc<UnresolvedCreate>> {
        self.unresolved_creates.get(urn)
    }

    /// All such creates, by URN.
    pub fn unresolved_creates(&self) -> impl Iterator<Item = &Arc<UnresolvedCreate>> {
        let mut all: Vec<_> = self.unresolved_creates.values().collect();
        all.sort_unstable_by(|a, b| a.urn().cmp(b.urn()));
        all.into_iter()
    }

    /// The creates of a resource whose end is not known, by the operations' numbers.
    pub fn pending_creates(&self, urn: &Urn) -> impl Iterator<Item = u32> {
        self.creating.get(urn).into_iter().flatten().copied()
    }

    /// The unresolved creates as they are to be stored: those that another tool's pending operation tells of all by itself have no
    /// record of their own.
    #[must_use]
    pub fn recorded_unresolved_creates(&self) -> Vec<Arc<UnresolvedCreate>> {
        self.unresolved_creates().filter(|unresolved| !unresolved.key.is_empty()).cloned().collect()
    }

    /// The deletions of a resource's object that earlier runs began without learning how they ended, by the operations' numbers.
    pub fn doubted_deletions(&self, resource: &ResourceState) -> impl Iterator<Item = u32> {
        let is_of = move |pending: &PendingOperation| is_same_object(&pending.resource, resource);
        self.pending.range(FIRST_CARRIED..).filter(move |(_, pending)| is_of(pending)).map(|(number, _)| *number)
    }

    /// Has an earlier run left any such deletion?
    #[must_use]
    pub fn doubts_deletions(&self) -> bool {
        self.pending.range(FIRST_CARRIED..).next().is_some()
    }

    /// The operations whose end is not known. A deletion of an earlier run is over when its resource is gone.
    pub fn pending(&self) -> impl Iterator<Item = &PendingOperation> {
        let is_there = |doubted: &PendingOperation| {
            self.resources().any(|(_, resource)| is_same_object(resource, &doubted.resource))
        };
        let open = move |(number, pending): &(&u32, &PendingOperation)| **number < FIRST_CARRIED || is_there(pending);
        self.pending.iter().filter(open).map(|(_, pending)| pending)
    }
}

fn is_same_object(one: &ResourceState, other: &ResourceState) -> bool {
    one.urn == other.urn && one.id == other.id
}
