//! Why a resource is replaced because of another one, and what changes of it in the state alone.

use std::collections::HashSet;

use maloko_core::event::{Op, StepMetadata};
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::Urn;

use maloko_core::invisible::one_line;

use super::words::TypeNames;

/// What was replaced so far.
#[derive(Default)]
pub(crate) struct Reasons {
    replaced: HashSet<Urn>,
}

impl Reasons {
    /// A step begins.
    pub(crate) fn note(&mut self, step: &StepMetadata) {
        if is_replacement(step.op) || step.op == Op::DeleteReplaced {
            self.replaced.insert(step.urn.clone());
        }
    }

    /// Because of which other replacement a resource is replaced; `None` where it is for a reason of its own.
    pub(crate) fn cause(&self, step: &StepMetadata) -> Option<ReplacementCause> {
        let resource = step.new.as_deref().filter(|_| is_replacement(step.op))?;
        let replaced = |urn: &&Urn| **urn != step.urn && self.replaced.contains(*urn);
        // A key is a path, or a whole name, which may have a dot in it.
        let is_of = |property: &str| step.keys.iter().any(|key| key == property || top(key) == property);
        let by_property =
            resource.property_dependencies.iter().filter(|(property, _)| step.keys.is_empty() || is_of(property));
        for (property, urns) in by_property {
            if let Some(other) = urns.iter().find(replaced) {
                return Some(ReplacementCause { urn: other.clone(), kind: CauseKind::Property(property.clone()) });
            }
        }
        if !step.keys.is_empty() {
            return None;
        }
        let with = resource.replace_with.iter().find(replaced).map(|other| (other, CauseKind::ReplaceWith));
        let with =
            with.or_else(|| resource.deleted_with.iter().find(replaced).map(|other| (other, CauseKind::DeletedWith)));
        with.map(|(other, kind)| ReplacementCause { urn: other.clone(), kind })
    }

    /// The same in words.
    pub(super) fn because(&self, step: &StepMetadata, names: &TypeNames) -> Option<String> {
        let ReplacementCause { urn, kind } = self.cause(step)?;
        let other = names.title(&urn);
        Some(match kind {
            CauseKind::Property(property) => {
                format!("because {other}, which it depends on by '{}', is replaced", one_line(&property))
            }
            CauseKind::ReplaceWith => format!("because {other}, with which it is to be replaced, is replaced"),
            CauseKind::DeletedWith => format!("because {other}, with which it is deleted, is replaced"),
        })
    }
}

/// The replacement of another resource that leads to one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReplacementCause {
    /// The other resource.
    pub(crate) urn: Urn,
    /// How it leads to this one.
    pub(crate) kind: CauseKind,
}

/// How the replacement of one resource leads to that of another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CauseKind {
    /// By the property that depends on it.
    Property(String),
    /// By the option `replaceWith`.
    ReplaceWith,
    /// By the option `deletedWith`.
    DeletedWith,
}

fn is_replacement(op: Op) -> bool {
    matches!(op, Op::Replace | Op::CreateReplacement | Op::ImportReplacement)
}

/// The property in which a path begins.
fn top(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

/// Whether an option of two resources differs.
type OptionDiffers = fn(&ResourceState, &ResourceState) -> bool;

/// What becomes another one in the state, without the object being touched.
pub(super) fn state_changes(step: &StepMetadata) -> Vec<String> {
    let (Some(old), Some(new)) = (step.old.as_deref(), step.new.as_deref()) else { return Vec::new() };
    let mut changes = Vec::new();
    if old.urn != new.urn {
        changes.push(format!("moved from '{}'", one_line(old.urn.as_str())));
    }
    if old.protect != new.protect {
        changes.push(if new.protect { "protected" } else { "unprotected" }.to_owned());
    }
    if old.retain_on_delete != new.retain_on_delete {
        changes
            .push(if new.retain_on_delete { "retained on delete" } else { "no longer retained on delete" }.to_owned());
    }
    let differing: [(&str, OptionDiffers); 3] = [
        ("deletedWith", |old, new| old.deleted_with != new.deleted_with),
        ("ignoreChanges", |old, new| old.ignore_changes != new.ignore_changes),
        ("customTimeouts", |old, new| old.custom_timeouts != new.custom_timeouts),
    ];
    let differing = differing.iter().filter(|(_, differs)| differs(old, new));
    changes.extend(differing.map(|(option, _)| format!("other {option}")));
    changes
}
