//! The state as the run changes it. Every change of the ledger goes through here, and comes out as one for the journal.

mod holders;
mod writing;

use std::sync::Arc;

use atomic_refcell::{AtomicRef, AtomicRefCell};

use crate::hash::FixedMap;
use crate::operation::Operation;
use crate::resource_state::ResourceState;
use crate::state::{
    Attempt, Change, Ledger, PendingKind, PendingOperation, ResourceNumber, Snapshot, UnresolvedCreate,
};
use crate::urn::{Urn, UrnMap};

use crate::driver::exchange::Exchange;
use crate::driver::reports::Reports;
use holders::Holders;

/// See the module's text.
pub(crate) struct Journal {
    state: AtomicRefCell<State>,
    /// Makes operation keys: random, and never twice the same.
    new_key: Arc<dyn Fn() -> String + Send + Sync>,
    /// Whether nothing is written down.
    is_preview: bool,
    exchange: Arc<Exchange>,
    reports: Arc<Reports>,
}

struct State {
    ledger: Ledger,
    /// Where the state of a resource of this run stands.
    numbers: UrnMap<ResourceNumber>,
    /// Resources that are in the ledger only, because nothing happened to them that must survive a crash, with the
    /// resource whose place they took.
    unjournalled: FixedMap<ResourceNumber, Option<ResourceNumber>>,
    /// Which resources have objects; made when an object is imported.
    holders: Option<Holders>,
}

impl State {
    fn apply(&mut self, change: Change) -> Change {
        self.ledger.apply(change.clone());
        change
    }

    fn put(&mut self, resource: Arc<ResourceState>, in_place_of: Option<ResourceNumber>) -> Change {
        let number = self.ledger.next_number();
        self.numbers.insert(resource.urn.clone(), number);
        if let Some(holders) = &mut self.holders {
            holders.add(&resource);
        }
        self.apply(Change::Put { number, resource, in_place_of })
    }

    fn holders(&mut self) -> &mut Holders {
        self.holders.get_or_insert_with(|| Holders::of(&self.ledger))
    }
}

/// The old object of a replacement, which waits for its deletion. The option `retainOnDelete` keeps it already in the run that
/// brings the option.
pub(crate) fn old_object(old: &ResourceState, retains: bool) -> ResourceState {
    ResourceState { delete: true, retain_on_delete: old.retain_on_delete || retains, ..old.clone() }
}

impl Journal {
    /// `new_key` makes random names, never twice the same.
    pub(crate) fn new(
        operation: &Operation,
        base: &Snapshot,
        new_key: Arc<dyn Fn() -> String + Send + Sync>,
        exchange: &Arc<Exchange>,
        reports: &Arc<Reports>,
    ) -> Self {
        Self {
            state: AtomicRefCell::new(State {
                ledger: Ledger::new(base),
                numbers: UrnMap::default(),
                unjournalled: FixedMap::default(),
                holders: None,
            }),
            new_key,
            is_preview: operation.dry_run,
            exchange: Arc::clone(exchange),
            reports: Arc::clone(reports),
        }
    }

    /// The state as it is now. No change can be made while it is looked at.
    pub(crate) fn ledger(&self) -> AtomicRef<'_, Ledger> {
        AtomicRef::map(self.state.borrow(), |state| &state.ledger)
    }

    /// A resource by its number.
    pub(crate) fn numbered(&self, number: ResourceNumber) -> Option<Arc<ResourceState>> {
        self.ledger().get(number).map(Arc::clone)
    }

    /// All resources with their numbers, in their order.
    pub(crate) fn resources(&self) -> Vec<(ResourceNumber, Arc<ResourceState>)> {
        self.ledger().resources().map(|(number, resource)| (number, Arc::clone(resource))).collect()
    }

    /// The state of a resource that was registered in this run.
    pub(crate) fn resource(&self, urn: &Urn) -> Option<(ResourceNumber, Arc<ResourceState>)> {
        let state = self.state.borrow();
        let number = *state.numbers.get(urn)?;
        state.ledger.get(number).map(|resource| (number, Arc::clone(resource)))
    }

    /// The number of the resource that was put last.
    pub(crate) fn last_number(&self) -> ResourceNumber {
        self.ledger().next_number() - 1
    }

    /// The resources whose objects have that id, those among them whose imports have begun.
    pub(crate) fn holders_of(&self, id: &str) -> Vec<Arc<ResourceState>> {
        self.state.borrow_mut().holders().with_id(id).to_vec()
    }

    /// Notes a resource that is about to have an object.
    pub(crate) fn note_holder(&self, resource: &Arc<ResourceState>) {
        self.state.borrow_mut().holders().add(resource);
    }

    /// Notes that a provider is about to be called; gives the operation's number and the change to journal.
    pub(crate) fn begin(
        &self,
        kind: PendingKind,
        resource: Arc<ResourceState>,
        attempt: Option<Attempt>,
    ) -> (u32, Change) {
        let mut state = self.state.borrow_mut();
        let operation = state.ledger.next_operation();
        let pending = PendingOperation { resource, kind };
        (operation, state.apply(Change::Begin { operation, pending, attempt }))
    }

    /// Notes that the outcome of a call is known.
    pub(crate) fn end(&self, operation: u32) -> Change {
        self.apply(Change::End { operation })
    }

    /// Notes that it is known by now whether the object of a resource is there: what an earlier run's deletion did is in doubt no
    /// longer.
    pub(crate) fn end_doubt(&self, resource: &ResourceState) -> Vec<Change> {
        let over: Vec<u32> = self.ledger().doubted_deletions(resource).collect();
        over.into_iter().map(|operation| self.end(operation)).collect()
    }

    /// Makes a change, and gives it for the journal.
    fn apply(&self, change: Change) -> Change {
        self.state.borrow_mut().apply(change)
    }

    /// A random name, never twice the same.
    pub(crate) fn new_key(&self) -> String {
        (self.new_key)()
    }

    /// What the next create of a resource is named by: as the one before it, until that is known to have succeeded.
    pub(crate) fn operation_key(&self, urn: &Urn) -> String {
        let known = self.ledger().unresolved(urn).map(|unresolved| unresolved.key.clone());
        known.filter(|key| !key.is_empty()).unwrap_or_else(|| self.new_key())
    }

    /// Ends what is open of a resource's creates: their outcomes are known.
    pub(crate) fn resolve(&self, urn: &Urn) -> Vec<Change> {
        let mut state = self.state.borrow_mut();
        let open: Vec<u32> = state.ledger.pending_creates(urn).collect();
        let mut changes: Vec<Change> =
            open.into_iter().map(|operation| state.apply(Change::End { operation })).collect();
        if state.ledger.unresolved(urn).is_some() {
            changes.push(state.apply(Change::Cleared(urn.clone())));
        }
        changes
    }

    /// Notes what is known of a create.
    pub(crate) fn unresolved(&self, unresolved: Arc<UnresolvedCreate>) -> Change {
        self.apply(Change::UnresolvedCreate(unresolved))
    }

    /// Adds a finished resource, perhaps in place of another.
    pub(crate) fn put(&self, resource: Arc<ResourceState>, in_place_of: Option<ResourceNumber>) -> Change {
        self.state.borrow_mut().put(resource, in_place_of)
    }

    /// Adds the new object of a replacement; the old object waits for its deletion. Under a new URN the new object takes the
    /// place of the old one, which then comes back as an old object: so resources that the run does not come to follow
    /// it to its URN.
    pub(crate) fn put_replacement(
        &self,
        resource: Arc<ResourceState>,
        number: ResourceNumber,
        old: &ResourceState,
    ) -> [Change; 2] {
        let renamed = (old.urn != resource.urn).then_some(number);
        let retains = resource.retain_on_delete;
        let put = self.put(resource, renamed);
        [put, self.set(number, Arc::new(old_object(old, retains)))]
    }

    /// Adds a resource that is as it was, which no journal needs to know.
    pub(crate) fn keep(&self, resource: Arc<ResourceState>, in_place_of: Option<ResourceNumber>) {
        let mut state = self.state.borrow_mut();
        state.put(resource, in_place_of);
        let number = state.ledger.next_number() - 1;
        state.unjournalled.insert(number, in_place_of);
    }

    /// Changes a resource where it stands.
    pub(crate) fn set(&self, number: ResourceNumber, resource: Arc<ResourceState>) -> Change {
        let mut state = self.state.borrow_mut();
        let change = match state.unjournalled.remove(&number) {
            Some(in_place_of) => Change::Put { number, resource, in_place_of },
            None => Change::Set { number, resource },
        };
        state.apply(change)
    }

    /// Removes a resource.
    pub(crate) fn remove(&self, number: ResourceNumber) -> Change {
        self.apply(Change::Remove { number })
    }

    /// Does a replaced resource wait for its new object, and have no object any more?
    pub(crate) fn is_pending(&self, number: ResourceNumber) -> bool {
        self.ledger().get(number).is_some_and(|resource| resource.pending_replacement)
    }

    /// Is a provider resource that is replaced still there, or does a resource name it that cannot do without it: one
    /// that the run had come to before it?
    pub(crate) fn is_needed_provider(&self, number: ResourceNumber, old: &ResourceState) -> bool {
        let ledger = self.ledger();
        let is_there = ledger.get(number).is_some_and(|resource| !resource.pending_replacement);
        let reference = old.as_provider_reference();
        is_there
            || ledger.resources().any(|(_, resource)| resource.provider == reference && !resource.pending_replacement)
    }
}
