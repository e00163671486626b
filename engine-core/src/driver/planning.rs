//! Deciding what is to be done: the planner, and whose turn it is to be planned.

use std::sync::Arc;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::plan::{Goal, Planner, RegistrationError};
use crate::resource_state::ResourceState;
use crate::state::{Change, ResourceNumber};

use crate::driver::answers::RpcError;
use crate::driver::journal::Journal;
use crate::driver::permits::{Permit, SharedOrAlone};
use crate::driver::reports::Reports;

/// See the module's text.
pub(crate) struct Planning {
    planner: AtomicRefCell<Planner>,
    /// Shared while a registration is planned, alone while one decides on deletions of others.
    turn: SharedOrAlone,
    /// Has the run begun to delete what the program did not register?
    is_over: AtomicRefCell<bool>,
    journal: Arc<Journal>,
    reports: Arc<Reports>,
}

impl Planning {
    pub(crate) fn new(planner: Planner, journal: &Arc<Journal>, reports: &Arc<Reports>) -> Self {
        Self {
            planner: AtomicRefCell::new(planner),
            turn: SharedOrAlone::new(),
            is_over: AtomicRefCell::default(),
            journal: Arc::clone(journal),
            reports: Arc::clone(reports),
        }
    }

    pub(crate) fn planner(&self) -> AtomicRefMut<'_, Planner> {
        self.planner.borrow_mut()
    }

    /// Waits until no registration is planned alone.
    pub(crate) async fn shared(&self) -> Permit {
        self.turn.shared().await
    }

    /// Waits until no other registration is planned.
    pub(crate) async fn alone(&self) -> Permit {
        self.turn.alone().await
    }

    /// No registration is planned from now on: the run deletes what was not registered.
    pub(crate) fn end(&self) {
        *self.is_over.borrow_mut() = true;
    }

    /// Refuses a registration that comes when the run has begun to delete what the program did not register: what it is
    /// about may be one of these.
    pub(crate) fn refuse_late(&self, goal: &Goal) -> Result<(), RpcError> {
        if !*self.is_over.borrow() {
            return Ok(());
        }
        let (urn, _) = self.planner().locate(goal);
        Err(self.reports.refuse(&RegistrationError::after_the_end(&urn)))
    }

    /// Takes what a refresh found for the resource that this run goes on from.
    pub(crate) fn renew(&self, number: ResourceNumber, resource: Arc<ResourceState>) -> Change {
        self.planner().renew(number, Arc::clone(&resource));
        self.journal.set(number, resource)
    }

    /// Forgets a resource whose object is gone.
    pub(crate) fn vanish(&self, number: ResourceNumber) -> Change {
        self.planner().forget(number);
        self.journal.remove(number)
    }

    /// Puts down a resource for an object that an unfinished create made. Where that was the new object of a
    /// replacement, the old object waits for its deletion. Gives the resource's number, and the changes to journal.
    pub(crate) fn take_over(&self, resource: &Arc<ResourceState>) -> (ResourceNumber, Vec<Change>) {
        let mut changes = self.journal.resolve(&resource.urn);
        let old = self.planner().old_state(&resource.urn);
        let old = old.filter(|(number, _)| self.journal.numbered(*number).is_some());
        match old {
            Some((number, old)) if !old.pending_replacement && old.id != resource.id => {
                changes.extend(self.journal.put_replacement(Arc::clone(resource), number, &old));
                let condemned = ResourceState { delete: true, ..(*old).clone() };
                self.planner().renew(number, Arc::new(condemned));
            }
            old => changes.push(self.journal.put(Arc::clone(resource), old.map(|(number, _)| number))),
        }
        (self.journal.last_number(), changes)
    }
}
