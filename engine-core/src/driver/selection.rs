//! What a run knows of resources beside their states: which of them failed, which must stay, and what an import is to know.

use atomic_refcell::{AtomicRef, AtomicRefCell};

use crate::plan::Goal;
use crate::urn::{Urn, UrnMap, UrnSet, reference_parts};
use crate::value::PropertyMap;

/// See the module's text.
#[derive(Default)]
pub(crate) struct Selection {
    /// Resources that failed or were left out, with continue-on-error.
    failed: AtomicRefCell<UrnSet>,
    /// What must not be deleted only because this run did not register it, with the reasons.
    guarded: AtomicRefCell<UrnMap<String>>,
    /// In an import: the inputs that the program gives its resources.
    wanted: AtomicRefCell<UrnMap<PropertyMap>>,
}

impl Selection {
    /// Notes that a resource failed, or is left out because of one that did.
    pub(crate) fn fail(&self, urn: Urn) {
        self.failed.borrow_mut().insert(urn);
    }

    /// The resources that failed so far.
    pub(crate) fn failed(&self) -> AtomicRef<'_, UrnSet> {
        self.failed.borrow()
    }

    /// Did its provider resource fail?
    pub(crate) fn is_served_by_failure(&self, provider: &str) -> bool {
        let failed = self.failed();
        !failed.is_empty() && reference_parts(provider).is_some_and(|(urn, _)| failed.contains(urn))
    }

    /// Does a registration depend on what failed?
    pub(crate) fn depends_on_failure(&self, goal: &Goal) -> bool {
        let failed = self.failed();
        if failed.is_empty() {
            return false;
        }
        goal.dependencies
            .iter()
            .chain(goal.property_dependencies.values().flatten())
            .chain(&goal.parent)
            .chain(&goal.deleted_with)
            .chain(&goal.replace_with)
            .any(|urn| failed.contains(urn))
    }

    /// Notes that a resource must not be deleted only because this run did not register it, and why.
    pub(crate) fn guard(&self, urn: Urn, reason: String) {
        self.guarded.borrow_mut().insert(urn, reason);
    }

    /// What must not be deleted, with the reasons; from then on nothing is guarded.
    pub(crate) fn take_guarded(&self) -> UrnMap<String> {
        std::mem::take(&mut *self.guarded.borrow_mut())
    }

    /// Notes the inputs that the program gives a resource, in an import.
    pub(crate) fn want(&self, urn: Urn, inputs: PropertyMap) {
        self.wanted.borrow_mut().insert(urn, inputs);
    }

    /// In an import: the inputs that the program gives its resources.
    pub(crate) fn wanted(&self) -> AtomicRef<'_, UrnMap<PropertyMap>> {
        self.wanted.borrow()
    }
}
