//! Creates whose outcome is unknown, as a test that leaves them tells them.

use std::fmt::Write as _;

use maloko_core::error::Result;
use maloko_core::redaction::Redactor;
use maloko_core::state::{PendingKind, Snapshot, UnknownOutcome, UnresolvedCreate};
use serde::{Deserialize, Serialize};

use crate::calls::Call;
use crate::stack::TestStack;

/// A create whose object may exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnresolvedCreateSummary {
    /// The resource.
    pub urn: String,
    /// The operation key; the URN where an older version began the create, which has none.
    pub key: String,
    /// Both in one line, with what happened to the create.
    pub text: String,
}

impl TestStack {
    /// The unresolved creates of the state, without the secrets that it knows. One that raised is none: it has made
    /// nothing.
    ///
    /// # Errors
    /// A state that cannot be read.
    pub async fn unresolved_creates(&self) -> Result<Vec<UnresolvedCreateSummary>> {
        let snapshot = self.open_snapshot().await?;
        let redactor = redactor_of(&snapshot);
        let all = snapshot.all_unresolved_creates();
        let unknown = all.iter().filter(|create| create.unknown_outcome != UnknownOutcome::Raised);
        Ok(unknown.map(|create| told(create, &redactor)).collect())
    }

    /// Forgets the creates of these resources: it is known what became of their objects.
    ///
    /// # Errors
    /// A state that cannot be read or written.
    pub async fn forget_creates(&self, urns: &[String]) -> Result<()> {
        let mut snapshot = self.snapshot().await?;
        let forgotten = |urn: &str| urns.iter().any(|it| it == urn);
        snapshot.unresolved_creates.retain(|create| !forgotten(create.urn().as_str()));
        snapshot
            .pending
            .retain(|pending| pending.kind != PendingKind::Creating || !forgotten(pending.resource.urn.as_str()));
        self.replace(snapshot).await
    }
}

/// A call of a teardown, as far as it says what became of an unresolved create.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    urn: String,
    method: &'static str,
    failed: bool,
}

impl From<&Call> for CallOutcome {
    fn from(call: &Call) -> Self {
        Self { urn: call.urn.clone(), method: call.method, failed: call.error.is_some() }
    }
}

/// What a teardown leaves open.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnresolvedAfterTeardown {
    /// Those whose objects may still be there.
    pub(crate) open: Vec<UnresolvedCreateSummary>,
    /// Those of which the user says that it is known.
    pub(crate) forgotten: Vec<UnresolvedCreateSummary>,
    /// Names those that are left, and says how they are settled; `None` without one.
    pub(crate) text: Option<String>,
}

/// Settles a key that is every create's.
const ALL: &str = "all";
/// Where the command of a host has the keys.
const KEYS: &str = "{keys}";

/// Judges the unresolved creates after a teardown. One that the provider was asked for is not left: what its `find` or `read`
/// found is in the state by then. `settled` has keys, lists of them with commas, or `all`; `command` has `{keys}` where
/// they go.
pub(crate) fn left(
    creates: Vec<UnresolvedCreateSummary>,
    calls: &[CallOutcome],
    settled: &[String],
    command: &str,
) -> UnresolvedAfterTeardown {
    let was_found = |create: &UnresolvedCreateSummary| {
        calls.iter().any(|call| !call.failed && matches!(call.method, "find" | "read") && call.urn == create.urn)
    };
    let is_settled = |create: &UnresolvedCreateSummary| {
        // A key may have a comma itself.
        settled.iter().any(|given| *given == create.key || given.split(',').any(|key| key == create.key || key == ALL))
    };
    let open = creates.into_iter().filter(|create| !was_found(create));
    let (forgotten, left): (Vec<_>, Vec<_>) = open.partition(is_settled);
    let text = (!left.is_empty()).then(|| {
        let names: Vec<&str> = left.iter().map(|create| create.text.as_str()).collect();
        let keys: Vec<&str> = left.iter().map(|create| create.key.as_str()).collect();
        format!(
            "these may have been made: {}. Look for each and delete what you find. Then run: {}",
            names.join("; "),
            command.replace(KEYS, &keys.join(","))
        )
    });
    UnresolvedAfterTeardown { open: left, forgotten, text }
}

/// Knows every secret of a state.
fn redactor_of(snapshot: &Snapshot) -> Redactor {
    let redactor = Redactor::new();
    let unresolved = snapshot.unresolved_creates.iter().map(|create| &create.resource);
    let pending = snapshot.pending.iter().map(|pending| &pending.resource);
    for resource in snapshot.resources.iter().chain(unresolved).chain(pending) {
        redactor.learn_properties(&resource.inputs);
        redactor.learn_properties(&resource.outputs_or_empty());
    }
    redactor
}

fn told(create: &UnresolvedCreate, redactor: &Redactor) -> UnresolvedCreateSummary {
    let urn = create.urn().as_str().to_owned();
    let mut text = format!("'{}' ({}", create.urn().name(), create.unknown_outcome.story());
    // Writing to a text cannot fail.
    if !create.since.is_empty() {
        let _ = write!(text, ", begun {}", create.since);
    }
    if create.attempts > 1 {
        let _ = write!(text, ", {} attempts", create.attempts);
    }
    if !create.resource.id.is_empty() {
        let _ = write!(text, ", id '{}'", create.resource.id);
    }
    if !create.error.is_empty() {
        let words: Vec<&str> = create.error.split_whitespace().collect();
        let _ = write!(text, ", error: {}", redactor.message(&words.join(" ")));
    }
    let _ = write!(text, "; {urn}");
    let key = if create.key.is_empty() {
        urn.clone()
    } else {
        let _ = write!(text, ", operation key {}", create.key);
        create.key.clone()
    };
    text.push(')');
    UnresolvedCreateSummary { urn, key, text }
}

#[cfg(test)]
#[path = "unresolved_tests.rs"]
mod tests;
