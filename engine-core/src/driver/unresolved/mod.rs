//! Creates without an outcome: what is known of them, how a failed one is recorded, and what is said of them.

mod records;
mod told;

use std::collections::BTreeSet;
use std::sync::Arc;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::operation::Operation;
use crate::state::{Snapshot, UnresolvedCreate};
use crate::urn::Urn;

use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::reports::Reports;
use crate::driver::reports::notices::Notices;

/// See the module's text.
pub(crate) struct UnresolvedCreates {
    operation: Arc<Operation>,
    base: Arc<Snapshot>,
    exchange: Arc<Exchange>,
    reports: Arc<Reports>,
    notices: Arc<Notices>,
    journal: Arc<Journal>,
    known: AtomicRefCell<KnownCreates>,
}

#[derive(Default)]
struct KnownCreates {
    /// Creates that raised in an earlier run and are made again.
    made_again: BTreeSet<Urn>,
    /// Creates that raised in an earlier run, and whose objects their providers do not find.
    not_found: BTreeSet<Urn>,
    /// Unresolved creates that are made again although nobody could look for their objects.
    made_unasked: Vec<UnresolvedCreate>,
    /// Was said what it means that such a create is made again?
    explained_made_unasked: bool,
    /// Unresolved creates that were named already.
    told_creates: BTreeSet<Urn>,
    /// Unresolved creates whose providers know of no object, until they are made again.
    looked_for: BTreeSet<Urn>,
}

impl UnresolvedCreates {
    pub(crate) fn new(
        operation: &Arc<Operation>,
        base: &Arc<Snapshot>,
        exchange: &Arc<Exchange>,
        notices: &Arc<Notices>,
        reports: &Arc<Reports>,
        journal: &Arc<Journal>,
    ) -> Self {
        Self {
            operation: Arc::clone(operation),
            base: Arc::clone(base),
            exchange: Arc::clone(exchange),
            reports: Arc::clone(reports),
            notices: Arc::clone(notices),
            journal: Arc::clone(journal),
            known: AtomicRefCell::default(),
        }
    }

    fn known(&self) -> AtomicRefMut<'_, KnownCreates> {
        self.known.borrow_mut()
    }

    /// Notes that a provider was asked for the object of a create, and knows of none.
    pub(crate) fn was_looked_for(&self, urn: &Urn) {
        self.known().looked_for.insert(urn.clone());
    }

    /// Notes that the object of a create that raised was not found.
    pub(crate) fn was_not_found(&self, urn: &Urn) {
        self.known().not_found.insert(urn.clone());
    }
}
