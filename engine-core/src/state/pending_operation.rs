//! Operations that were begun and whose end is not known, as the state keeps them.

use std::sync::Arc;

use crate::resource_state::ResourceState;

/// What was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PendingKind {
    /// `create`.
    Creating,
    /// `update`.
    Updating,
    /// `delete`.
    Deleting,
    /// `read`.
    Reading,
    /// An import.
    Importing,
}

impl PendingKind {
    /// The name in the state file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Updating => "updating",
            Self::Deleting => "deleting",
            Self::Reading => "reading",
            Self::Importing => "importing",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Creating, Self::Updating, Self::Deleting, Self::Reading, Self::Importing]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// An operation whose end is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingOperation {
    /// The resource's state as it will be (or, for a deletion, as it was).
    pub resource: Arc<ResourceState>,
    /// What was begun.
    pub kind: PendingKind,
}
