//! What is left to be done of the refresh before an update.

use std::collections::BTreeMap;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::plan::Goal;
use crate::state::ResourceNumber;
use crate::urn::Urn;

use crate::driver::permits::Once;

/// What is left to be done of the refresh before an update.
#[derive(Default)]
pub(in crate::driver) struct RefreshFirst {
    pub(in crate::driver) begun: Once<()>,
    /// The stack's registration, until the first resources are read.
    pub(in crate::driver) stack: AtomicRefCell<Option<Box<Goal>>>,
    /// Resources whose live object is not known yet.
    pub(in crate::driver) deferred: AtomicRefCell<BTreeMap<ResourceNumber, Urn>>,
}

impl RefreshFirst {
    pub(in crate::driver) fn deferred(&self) -> AtomicRefMut<'_, BTreeMap<ResourceNumber, Urn>> {
        self.deferred.borrow_mut()
    }
}
