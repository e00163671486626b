//! Creates whose outcome is unknown.
//!
//! A record is there from the moment at which `create` is about to be called, until it is known what became of it. So
//! whatever happens in between, a killed process included, leaves one.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::Value;

/// What a create is named by, for as long as it is not known to have succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The operation key: the same for every attempt to make the same object.
    pub key: String,
    /// When the call was about to be made, RFC 3339.
    pub since: String,
}

/// Why it is unknown whether an object was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnknownOutcome {
    /// The process ended during the call, or was not told of its end.
    Died,
    /// The method raised. By the SDKs' contract it made nothing.
    Raised,
    /// The call took longer than it may, and was given up.
    TimedOut,
    /// The call was cancelled with the run.
    Cancelled,
    /// The method returned, but nothing that a resource state can be made of.
    Unreadable,
}

impl UnknownOutcome {
    const ALL: [Self; 5] = [Self::Died, Self::Raised, Self::TimedOut, Self::Cancelled, Self::Unreadable];

    /// The name in the state file, and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Died => "died",
            Self::Raised => "raised",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Unreadable => "unreadable",
        }
    }

    /// The doubt of that name. What a newer version knows more of counts as [`UnknownOutcome::Died`]: nothing is known.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|unknown_outcome| unknown_outcome.name() == name).unwrap_or(Self::Died)
    }

    /// What happened to the create, to follow a resource's name.
    #[must_use]
    pub fn story(self) -> &'static str {
        match self {
            Self::Died => "its create was under way when the run ended",
            Self::Raised => "its create raised",
            Self::TimedOut => "its create took longer than it may",
            Self::Cancelled => "its create was cancelled",
            Self::Unreadable => "its create returned something that cannot be used",
        }
    }
}

/// A create whose outcome is unknown: its object may exist.
#[derive(Clone, Debug, PartialEq)]
pub struct UnresolvedCreate {
    /// The resource as it was to be. It has an id only if what `create` returned tells one.
    pub resource: Arc<ResourceState>,
    /// The operation key; empty where another tool, or an older version, began the create.
    pub key: String,
    /// Why nothing is known.
    pub unknown_outcome: UnknownOutcome,
    /// What the last attempt failed with; known secrets are hidden. Empty when it did not come to that.
    pub error: String,
    /// What `create` returned, in words: a secret text, for it may hold one. [`Value::Null`] when it returned nothing.
    pub returned: Value,
    /// When the last attempt began, RFC 3339.
    pub since: String,
    /// How many calls were made, and so how many objects there may be if the provider does not use the key.
    pub attempts: u64,
    /// Why nothing is known of an attempt before the one that is under way. A clean failure of this one says nothing of
    /// that one. Not recorded: the record of an attempt that goes on says that nothing is known anyway.
    pub earlier_outcome: Option<UnknownOutcome>,
    /// Members of the record that we do not know, kept as they were read.
    pub unknown_members: Map<String, Json>,
}

impl UnresolvedCreate {
    /// The record of a create that is about to begin, after `earlier` ones.
    #[must_use]
    pub fn begun(resource: &Arc<ResourceState>, attempt: &Attempt, earlier: Option<&UnresolvedCreate>) -> Self {
        Self {
            resource: Arc::clone(resource),
            key: attempt.key.clone(),
            unknown_outcome: UnknownOutcome::Died,
            error: String::new(),
            returned: Value::Null,
            since: attempt.since.clone(),
            attempts: earlier.map_or(0, |earlier| earlier.attempts).saturating_add(1),
            earlier_outcome: earlier
                .map(|earlier| earlier.unknown_outcome)
                .filter(|unknown_outcome| *unknown_outcome != UnknownOutcome::Raised),
            unknown_members: earlier.map(|earlier| earlier.unknown_members.clone()).unwrap_or_default(),
        }
    }

    /// The record of a pending operation that another tool, or an older version, left behind.
    #[must_use]
    pub fn of_pending(resource: &Arc<ResourceState>) -> Self {
        let attempt = Attempt { key: String::new(), since: String::new() };
        Self::begun(resource, &attempt, None)
    }

    /// The resource.
    #[must_use]
    pub fn urn(&self) -> &Urn {
        &self.resource.urn
    }

    /// Does a plugin serve the resource? Then nothing can look for its object.
    #[must_use]
    pub fn is_by_plugin(&self) -> bool {
        self.resource.served_by().is_plugin()
    }

    /// One line on what is known: why, since when, how often.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = self.unknown_outcome.story().to_owned();
        if !self.since.is_empty() {
            text.push_str(", begun ");
            text.push_str(&self.since);
        }
        text.extend((self.attempts > 1).then(|| format!(", {} attempts", self.attempts)));
        if !self.error.is_empty() {
            text.push_str(": ");
            text.push_str(self.error.lines().next().unwrap_or_default());
        }
        text
    }
}
