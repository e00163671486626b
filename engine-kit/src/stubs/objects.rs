//! The objects that stubs have made, over all runs of a stack.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maloko_core::PropertyMap;
use maloko_core::urn::Urn;
use ring::digest;

/// See the module's text. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct StubbedObjects(Arc<Mutex<ObjectTable>>);

#[derive(Default)]
struct ObjectTable {
    /// By type and id; `None` for what was deleted.
    objects: HashMap<(String, String), Option<StubbedObject>>,
    /// How many objects each resource has had.
    made: HashMap<Urn, u32>,
}

/// An object.
#[derive(Clone, Default)]
pub(super) struct StubbedObject {
    pub(super) inputs: PropertyMap,
    pub(super) outputs: PropertyMap,
}

/// What is known of an id.
pub(super) enum ObjectLookup {
    Object(StubbedObject),
    Deleted,
    /// No stub has made it.
    Unknown,
}

impl StubbedObjects {
    fn kept(&self) -> MutexGuard<'_, ObjectTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of the next object of a resource: the same in every run of a test, and that of no other object.
    pub(super) fn next_id(&self, urn: &Urn) -> String {
        let mut kept = self.kept();
        let number = kept.made.entry(urn.clone()).or_default();
        *number += 1;
        let digest = digest::digest(&digest::SHA256, format!("{urn}#{number}").as_bytes());
        let bytes = digest.as_ref().iter().take(4);
        let digits = bytes.fold(0_u32, |digits, byte| digits << 8 | u32::from(*byte));
        format!("{}-{digits:08x}", urn.name())
    }

    pub(super) fn keep(&self, urn: &Urn, id: &str, object: StubbedObject) {
        self.kept().objects.insert((urn.own_type().to_owned(), id.to_owned()), Some(object));
    }

    pub(super) fn delete(&self, urn: &Urn, id: &str) {
        self.kept().objects.insert((urn.own_type().to_owned(), id.to_owned()), None);
    }

    pub(super) fn look(&self, urn: &Urn, id: &str) -> ObjectLookup {
        match self.kept().objects.get(&(urn.own_type().to_owned(), id.to_owned())) {
            Some(Some(object)) => ObjectLookup::Object(object.clone()),
            Some(None) => ObjectLookup::Deleted,
            None => ObjectLookup::Unknown,
        }
    }
}
