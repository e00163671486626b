//! Whether a provider's code is another one than that which made or last changed a resource.

use crate::provider::{ProviderReference, Revision};

/// How today's code of a provider stands to the code that made or last changed a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeChange {
    /// It is the same, or nothing is known of the one before.
    #[default]
    None,
    /// Its author says that what it makes has changed.
    Risen {
        /// The version before.
        from: u64,
        /// Today's version.
        to: u64,
    },
    /// Its declared version is lower than the one before: older code was started, or a change taken back.
    Fallen {
        /// The version before.
        from: u64,
        /// Today's version.
        to: u64,
    },
    /// Its source reads differently. That alone is no reason to touch anything.
    Source,
    /// It is code of a component's plugin, and another one. It counts as an input, where the provider leaves it open whether
    /// there is a change.
    Code,
}

impl CodeChange {
    /// Compares what is stored with a resource and what serves it today.
    #[must_use]
    pub fn between(stored: &ProviderReference, today: &ProviderReference) -> Self {
        let (before, now) = (&stored.revision, &today.revision);
        match (before.version.filter(|_| related(stored, today)), now.version) {
            (Some(from), Some(to)) if from < to => Self::Risen { from, to },
            (Some(from), Some(to)) if from > to => Self::Fallen { from, to },
            _ => match (&before.code, &now.code) {
                (Some(before), Some(now)) if before != now && comparable(before, now) => Self::Source,
                _ => Self::None,
            },
        }
    }

    /// Is the resource updated for this? `says` is what its provider's `diff` says of changes.
    #[must_use]
    pub fn renews(self, update_changed_providers: bool, says: Option<bool>) -> bool {
        match self {
            Self::None | Self::Fallen { .. } => false,
            Self::Risen { .. } => true,
            Self::Source => update_changed_providers,
            Self::Code => says.is_none(),
        }
    }
}

/// The classes whose own code differs: `None` stands for the provider's class itself, names for classes that it builds on.
#[must_use]
pub fn changed_classes<'a>(stored: &ProviderReference, today: &'a ProviderReference) -> Vec<Option<&'a str>> {
    let (Some(before), Some(now)) = (&stored.revision.code, &today.revision.code) else { return Vec::new() };
    let (before, now) = (Parts::of(before), Parts::of(now));
    let mut changed = Vec::new();
    if before.own != now.own {
        changed.push(None);
    }
    // A class that is no longer built on, or newly, is a change of the one that says so.
    let bases =
        now.bases.iter().filter(|(name, code)| before.bases.iter().any(|(known, old)| known == name && old != code));
    changed.extend(bases.map(|(name, _)| Some(*name)));
    if changed.is_empty() { vec![None] } else { changed }
}

/// A fingerprint: `way:own`, and for each class of the project that the provider's builds on `;name=code`.
struct Parts<'a> {
    own: &'a str,
    bases: Vec<(&'a str, &'a str)>,
}

impl<'a> Parts<'a> {
    fn of(fingerprint: &'a str) -> Self {
        let mut parts = fingerprint.split(';');
        Self { own: parts.next().unwrap_or_default(), bases: parts.filter_map(|part| part.rsplit_once('=')).collect() }
    }
}

/// What is stored of a provider with a resource to which nothing was done: still the code that did something to it.
#[must_use]
pub fn kept_revision(stored: &ProviderReference, today: &ProviderReference) -> Revision {
    let (before, now) = (&stored.revision, &today.revision);
    Revision {
        version: before.version.filter(|_| related(stored, today)).or(now.version),
        code: match (&before.code, &now.code) {
            (Some(before), Some(now)) if !comparable(before, now) => Some(now.clone()),
            (before, now) => before.as_ref().or(now.as_ref()).cloned(),
        },
    }
}

/// Is it one class, perhaps moved or renamed? Versions of one say nothing about those of another.
fn related(stored: &ProviderReference, today: &ProviderReference) -> bool {
    stored.module == today.module || stored.name == today.name
}

/// Fingerprints begin with the name of the way in which they were made; others cannot be compared.
fn comparable(one: &str, other: &str) -> bool {
    fn way(fingerprint: &str) -> Option<&str> {
        fingerprint.split_once(':').map(|(way, _)| way)
    }
    way(one) == way(other)
}
