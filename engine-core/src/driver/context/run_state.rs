//! What a run knows and has done so far: the planner, the ledger, and the counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::Shared;

use crate::event::{Op, StepMetadata};
use crate::hash::FixedMap;
use crate::operation::Operation;
use crate::plan::Planner;
use crate::resource_state::ResourceState;
use crate::state::{
    Attempt, Change, Ledger, PendingKind, PendingOperation, ResourceNumber, Snapshot, UnresolvedCreate,
};
use crate::urn::{Urn, UrnMap, UrnSet};
use crate::value::PropertyMap;

use crate::driver::answers::Spared;
use crate::driver::context::holders::Holders;
use crate::driver::context::late_calls::LateCalls;

/// Ends when a deletion, or those of one replacement, are over.
pub(in crate::driver) type DeletionsOver = Shared<oneshot::Receiver<()>>;

/// A deletion that a replacement is making.
pub(in crate::driver) struct Deleting {
    /// This deletion.
    pub(in crate::driver) own: DeletionsOver,
    /// All deletions of the replacement.
    pub(in crate::driver) all: DeletionsOver,
}

/// The books of one run. Every change of the ledger goes through here, and comes out as changes for the journal.
pub(in crate::driver) struct RunState {
    pub(in crate::driver) planner: Planner,
    pub(in crate::driver) ledger: Ledger,
    /// Where the state of a resource of this run stands.
    pub(in crate::driver) numbers: UrnMap<ResourceNumber>,
    /// Resources that are in the ledger only, because nothing happened to them that must survive a crash, with the
    /// resource whose place they took.
    unjournalled: FixedMap<ResourceNumber, Option<ResourceNumber>>,
    /// Makes operation keys: random, and never twice the same.
    pub(in crate::driver) new_key: Arc<dyn Fn() -> String + Send + Sync>,
    pub(in crate::driver) counts: BTreeMap<&'static str, u64>,
    pub(in crate::driver) maybe_corrupt: bool,
    /// Components, and the stack, whose outputs were not registered yet.
    pub(in crate::driver) open: UrnMap<StepMetadata>,
    /// Resources whose outputs were registered.
    pub(in crate::driver) with_outputs: UrnSet,
    /// Resources that failed or were left out, with continue-on-error.
    pub(in crate::driver) failed: UrnSet,
    /// Resources that got a step, in a run that keeps to a plan.
    pub(in crate::driver) planned: UrnSet,
    /// Outputs of the stack as the program gave them.
    pub(in crate::driver) stack_outputs: Option<PropertyMap>,
    pub(in crate::driver) root: Option<Urn>,
    /// Has the run begun to delete what the program did not register?
    pub(in crate::driver) deletes_leftovers: bool,
    /// The resources whose objects a replacement of another resource is deleting.
    pub(in crate::driver) deleting: FixedMap<ResourceNumber, Deleting>,
    /// In an import: the inputs that the program gives its resources.
    pub(in crate::driver) wanted: UrnMap<PropertyMap>,
    /// What must not be deleted only because this run did not register it, with the reasons.
    pub(in crate::driver) guarded: UrnMap<String>,
    /// The provider classes of which was said that they have no `read`.
    pub(in crate::driver) told_no_read: BTreeSet<String>,
    /// Creates that raised in an earlier run and are made again.
    pub(in crate::driver) made_again: BTreeSet<Urn>,
    /// Creates that raised in an earlier run, and whose objects their providers do not find.
    pub(in crate::driver) not_found: BTreeSet<Urn>,
    /// Unresolved creates that are made again although nobody could look for their objects.
    pub(in crate::driver) made_unasked: Vec<UnresolvedCreate>,
    /// Was said what it means that such a create is made again?
    pub(in crate::driver) explained_made_unasked: bool,
    /// Unresolved creates that were named already.
    pub(in crate::driver) told_creates: BTreeSet<Urn>,
    /// Unresolved creates whose providers know of no object, until they are made again.
    pub(in crate::driver) looked_for: BTreeSet<Urn>,
    pub(in crate::driver) late: LateCalls,
    /// Made when an object is imported.
    holders: Option<Holders>,
    /// What stays because it is protected, where the operation leaves that out.
    pub(in crate::driver) spared: Spared,
}

/// The old object of a replacement, which waits for its deletion. The option `retainOnDelete` keeps it already in the run that
/// brings the option.
pub(in crate::driver) fn old_object(old: &ResourceState, retains: bool) -> ResourceState {
    ResourceState { delete: true, retain_on_delete: old.retain_on_delete || retains, ..old.clone() }
}

impl RunState {
    /// `new_id` makes random names, never twice the same.
    pub(in crate::driver) fn new(
        operation: &Arc<Operation>,
        snapshot: &Snapshot,
        new_id: &Arc<dyn Fn() -> String + Send + Sync>,
    ) -> Self {
        let for_planner = Arc::clone(new_id);
        Self {
            planner: Planner::new(Arc::clone(operation), snapshot.resources.clone(), Box::new(move || for_planner())),
            ledger: Ledger::new(snapshot),
            numbers: UrnMap::default(),
            unjournalled: FixedMap::default(),
            new_key: Arc::clone(new_id),
            counts: BTreeMap::new(),
            maybe_corrupt: false,
            open: UrnMap::default(),
            with_outputs: UrnSet::default(),
            failed: UrnSet::default(),
            planned: UrnSet::default(),
            stack_outputs: None,
            root: None,
            deletes_leftovers: false,
            deleting: FixedMap::default(),
            wanted: UrnMap::default(),
            guarded: UrnMap::default(),
            told_no_read: BTreeSet::new(),
            made_again: BTreeSet::new(),
            not_found: BTreeSet::new(),
            made_unasked: Vec::new(),
            explained_made_unasked: false,
            told_creates: BTreeSet::new(),
            looked_for: BTreeSet::new(),
            late: LateCalls::default(),
            holders: None,
            spared: Spared::default(),
        }
    }

    /// Which resources have objects.
    pub(in crate::driver) fn holders(&mut self) -> &mut Holders {
        self.holders.get_or_insert_with(|| Holders::of(&self.ledger))
    }

    /// Counts a step that was done.
    pub(in crate::driver) fn count(&mut self, op: Op, urn: &Urn) {
        self.count_noted(op, "", urn);
    }

    /// Counts a step that was done, by its op and its note.
    pub(in crate::driver) fn count_noted(&mut self, op: Op, note: &str, urn: &Urn) {
        if let Some(op) = op.counted(note)
            && !urn.is_default_provider()
        {
            *self.counts.entry(op.name()).or_default() += 1;
        }
    }

    /// Notes that a provider is about to be called; gives the operation's number and the change to journal.
    pub(in crate::driver) fn begin(
        &mut self,
        kind: PendingKind,
        resource: Arc<ResourceState>,
        attempt: Option<Attempt>,
    ) -> (u32, Change) {
        let operation = self.ledger.next_operation();
        let pending = PendingOperation { resource, kind };
        (operation, self.apply(Change::Begin { operation, pending, attempt }))
    }

    /// Notes that the outcome of a call is known.
    pub(in crate::driver) fn end(&mut self, operation: u32) -> Change {
        self.apply(Change::End { operation })
    }

    /// Notes that it is known by now whether the object of a resource is there: what an earlier run's deletion did is in doubt no
    /// longer.
    pub(in crate::driver) fn end_doubt(&mut self, resource: &ResourceState) -> Vec<Change> {
        let over: Vec<u32> = self.ledger.doubted_deletions(resource).collect();
        over.into_iter().map(|operation| self.end(operation)).collect()
    }

    /// Makes a change, and gives it for the journal.
    pub(in crate::driver) fn apply(&mut self, change: Change) -> Change {
        self.ledger.apply(change.clone());
        change
    }

    /// Adds a finished resource, perhaps in place of another.
    pub(in crate::driver) fn put(
        &mut self,
        resource: Arc<ResourceState>,
        in_place_of: Option<ResourceNumber>,
    ) -> Change {
        let number = self.ledger.next_number();
        self.numbers.insert(resource.urn.clone(), number);
        if let Some(holders) = &mut self.holders {
            holders.add(&resource);
        }
        self.apply(Change::Put { number, resource, in_place_of })
    }

    /// Adds the new object of a replacement; the old object waits for its deletion. Under a new URN the new object takes the
    /// place of the old one, which then comes back as an old object: so resources that the run does not come to follow
    /// it to its URN.
    pub(in crate::driver) fn put_replacement(
        &mut self,
        resource: Arc<ResourceState>,
        number: ResourceNumber,
        old: &ResourceState,
    ) -> [Change; 2] {
        let renamed = (old.urn != resource.urn).then_some(number);
        let retains = resource.retain_on_delete;
        let put = self.put(resource, renamed);
        [put, self.set(number, Arc::new(old_object(old, retains)))]
    }

    /// Is a provider resource that is replaced still there, or does a resource name it that cannot do without it: one
    /// that the run had come to before it?
    pub(in crate::driver) fn is_needed_provider(&self, number: ResourceNumber, old: &ResourceState) -> bool {
        let is_there = self.ledger.get(number).is_some_and(|resource| !resource.pending_replacement);
        let reference = old.as_provider_reference();
        is_there
            || self
                .ledger
                .resources()
                .any(|(_, resource)| resource.provider == reference && !resource.pending_replacement)
    }

    /// Adds a resource that is as it was, which no journal needs to know.
    pub(in crate::driver) fn keep(&mut self, resource: Arc<ResourceState>, in_place_of: Option<ResourceNumber>) {
        self.put(resource, in_place_of);
        self.unjournalled.insert(self.ledger.next_number() - 1, in_place_of);
    }

    /// Changes a resource where it stands.
    pub(in crate::driver) fn set(&mut self, number: ResourceNumber, resource: Arc<ResourceState>) -> Change {
        let change = match self.unjournalled.remove(&number) {
            Some(in_place_of) => Change::Put { number, resource, in_place_of },
            None => Change::Set { number, resource },
        };
        self.apply(change)
    }

    /// Removes a resource.
    pub(in crate::driver) fn remove(&mut self, number: ResourceNumber) -> Change {
        self.apply(Change::Remove { number })
    }

    /// Takes what a refresh found for the resource that this run goes on from.
    pub(in crate::driver) fn renew(&mut self, number: ResourceNumber, resource: Arc<ResourceState>) -> Change {
        self.planner.renew(number, Arc::clone(&resource));
        self.set(number, resource)
    }

    /// Forgets a resource whose object is gone.
    pub(in crate::driver) fn vanish(&mut self, number: ResourceNumber) -> Change {
        self.planner.forget(number);
        self.remove(number)
    }

    /// The state of a resource that was registered in this run.
    pub(in crate::driver) fn resource(&self, urn: &Urn) -> Option<(ResourceNumber, &Arc<ResourceState>)> {
        let number = *self.numbers.get(urn)?;
        self.ledger.get(number).map(|resource| (number, resource))
    }
}
