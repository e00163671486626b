//! What was noticed of provider classes in this run.

use std::collections::BTreeMap;
use std::sync::Arc;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::provider::ProviderReference;
use crate::urn::Urn;

/// What was noticed in this run.
#[derive(Default)]
pub(crate) struct Classes(AtomicRefCell<ClassNotices>);

#[derive(Default)]
pub(crate) struct ClassNotices {
    /// By module and name of the class.
    pub(crate) classes: BTreeMap<String, Class>,
    /// Resources whose code reads differently, by the name of each class that does.
    pub(crate) changed: BTreeMap<String, usize>,
}

#[derive(Default)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) language: String,
    /// Resources whose version rose or fell, by the versions before and after.
    pub(super) versions: BTreeMap<(u64, u64), usize>,
    pub(super) unfindable: Option<Unfindable>,
}

/// Objects that could not be found again.
pub(crate) struct Unfindable {
    pub(crate) reference: Arc<ProviderReference>,
    /// The first resource that one of them made.
    pub(crate) first: Urn,
    pub(crate) resources: usize,
}

impl Classes {
    pub(crate) fn lock(&self) -> AtomicRefMut<'_, ClassNotices> {
        self.0.borrow_mut()
    }

    pub(crate) fn note(&self, reference: &ProviderReference, note: impl FnOnce(&mut Class)) {
        let mut noticed = self.lock();
        let class = noticed.classes.entry(reference.place()).or_default();
        class.name.clone_from(&reference.name);
        class.language.clone_from(&reference.language);
        note(class);
    }

    pub(super) fn note_changed(&self, reference: &ProviderReference, classes: Vec<Option<&str>>) {
        let mut noticed = self.lock();
        for class in classes {
            let name = class_name(class.unwrap_or(&reference.name)).to_owned();
            *noticed.changed.entry(name).or_default() += 1;
        }
    }
}

pub(super) fn class_name(name: &str) -> &str {
    if name.is_empty() { "an object without a class" } else { name }
}
