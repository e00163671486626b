//! How two versions of a resource differ, property by property.

use std::collections::BTreeMap;

/// How a property differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffKind {
    /// It is new.
    Add,
    /// It is new and needs a replacement.
    AddReplace,
    /// It is gone.
    Delete,
    /// It is gone and needs a replacement.
    DeleteReplace,
    /// It is another.
    Update,
    /// It is another and needs a replacement.
    UpdateReplace,
}

impl DiffKind {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DiffKind::Add => "add",
            DiffKind::AddReplace => "add-replace",
            DiffKind::Delete => "delete",
            DiffKind::DeleteReplace => "delete-replace",
            DiffKind::Update => "update",
            DiffKind::UpdateReplace => "update-replace",
        }
    }

    /// The variant of the kind that needs a replacement.
    #[must_use]
    pub fn as_replace(self) -> Self {
        match self {
            DiffKind::Add | DiffKind::AddReplace => DiffKind::AddReplace,
            DiffKind::Delete | DiffKind::DeleteReplace => DiffKind::DeleteReplace,
            DiffKind::Update | DiffKind::UpdateReplace => DiffKind::UpdateReplace,
        }
    }
}

/// One entry of a detailed diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyDiff {
    /// How it differs.
    pub kind: DiffKind,
    /// Were inputs compared with inputs (and not outputs with inputs)?
    pub input_diff: bool,
}

/// Property paths (`a.b[0]["odd key"]`) and how they differ.
pub type DetailedDiff = BTreeMap<String, PropertyDiff>;
