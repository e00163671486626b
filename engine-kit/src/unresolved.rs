//! Creates whose outcome is unknown, as a test that leaves them tells them.

use std::fmt::Write as _;

use maloko_core::error::Result;
use maloko_core::redaction::Redactor;
use maloko_core::state::{PendingKind, Snapshot, UnknownOutcome, UnresolvedCreate};
use serde::Serialize;

use crate::stack::TestStack;

/// A create whose object may exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unresolved {
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
    pub async fn unresolved_creates(&self) -> Result<Vec<Unresolved>> {
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
            .retain(|pending| pending.kind != PendingKind::Creating || !forgotten(pending.row.urn.as_str()));
        self.replace(snapshot).await
    }
}

/// Knows every secret of a state.
fn redactor_of(snapshot: &Snapshot) -> Redactor {
    let redactor = Redactor::new();
    let unresolved = snapshot.unresolved_creates.iter().map(|create| &create.row);
    let pending = snapshot.pending.iter().map(|pending| &pending.row);
    for row in snapshot.rows.iter().chain(unresolved).chain(pending) {
        redactor.learn_properties(&row.inputs);
        redactor.learn_properties(&row.outputs_or_empty());
    }
    redactor
}

fn told(create: &UnresolvedCreate, redactor: &Redactor) -> Unresolved {
    let urn = create.urn().as_str().to_owned();
    let mut text = format!("'{}' ({}", create.urn().name(), create.unknown_outcome.story());
    // Writing to a text cannot fail.
    if !create.since.is_empty() {
        let _ = write!(text, ", begun {}", create.since);
    }
    if create.attempts > 1 {
        let _ = write!(text, ", {} attempts", create.attempts);
    }
    if !create.row.id.is_empty() {
        let _ = write!(text, ", id '{}'", create.row.id);
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
    Unresolved { urn, key, text }
}

#[cfg(test)]
#[path = "unresolved_tests.rs"]
mod tests;
