//! The records of creates: each has one from before its call until its outcome is durable, under a key that names the
//! operation.

use std::sync::Arc;

use crate::provider::{ProviderError, ProviderErrorKind};
use crate::state::{Attempt, Change, UnknownOutcome, UnresolvedCreate};
use crate::urn::Urn;
use crate::value::Value;

use crate::driver::unresolved::UnresolvedCreates;

/// So much of an error, and of what was returned, is kept in a record (characters).
const MAX_TEXT_LENGTH: usize = 4000;

impl UnresolvedCreates {
    /// The changes that say how a create failed. `operation`: the call is over, and is no longer pending.
    pub(crate) fn unknown_outcome(&self, urn: &Urn, error: &ProviderError, operation: Option<u32>) -> Vec<Change> {
        // Its record was made when the call began.
        let begun = self.journal.ledger().unresolved(urn).map(|unresolved| (**unresolved).clone());
        let record = begun.and_then(|begun| self.record_of_failure(begun, error));
        let mut changes: Vec<Change> = operation.map(|operation| self.journal.end(operation)).into_iter().collect();
        changes.extend(record.map(|record| self.journal.unresolved(Arc::new(record))));
        changes
    }

    fn record_of_failure(&self, mut unresolved: UnresolvedCreate, error: &ProviderError) -> Option<UnresolvedCreate> {
        // Was its provider asked before this attempt, and knew of no object?
        let looked_for = self.known().looked_for.remove(unresolved.urn());
        let earlier = unresolved.earlier_outcome.take().filter(|_| !looked_for);
        unresolved.error = self.kept_text(&error.message);
        unresolved.unknown_outcome = match &error.kind {
            // It says nothing of an earlier attempt.
            ProviderErrorKind::Raised | ProviderErrorKind::Hook => earlier.unwrap_or(UnknownOutcome::Raised),
            ProviderErrorKind::TimedOut => UnknownOutcome::TimedOut,
            ProviderErrorKind::Interrupted => UnknownOutcome::Cancelled,
            ProviderErrorKind::Died => UnknownOutcome::Died,
            ProviderErrorKind::Unreadable { returned, id } => {
                unresolved.returned = Value::secret(Value::String(self.kept_text(returned)));
                if !id.is_empty() {
                    Arc::make_mut(&mut unresolved.resource).id.clone_from(id);
                }
                UnknownOutcome::Unreadable
            }
            ProviderErrorKind::BadReturn
            | ProviderErrorKind::UnusableOutputs { .. }
            | ProviderErrorKind::NotInitialized { .. } => UnknownOutcome::Unreadable,
            // The method was not called after all: what is left are the attempts before.
            ProviderErrorKind::NoProvider
            | ProviderErrorKind::NoStack(_)
            | ProviderErrorKind::NoMethod
            | ProviderErrorKind::Cancelled => {
                unresolved.attempts = unresolved.attempts.checked_sub(1).filter(|attempts| *attempts > 0)?;
                earlier.unwrap_or(UnknownOutcome::Raised)
            }
        };
        Some(unresolved)
    }

    /// A text fit to be kept in the state: without known secrets, and not too long.
    fn kept_text(&self, text: &str) -> String {
        let mut text = self.reports.redacted(text).into_owned();
        if let Some((longest, _)) = text.char_indices().nth(MAX_TEXT_LENGTH) {
            text.truncate(longest);
            text.push_str(" ...");
        }
        text
    }

    /// A new attempt at a create; `None` for calls that are named by no key.
    pub(crate) fn attempt(&self, key: &str) -> Option<Attempt> {
        (!key.is_empty()).then(|| Attempt { key: key.to_owned(), since: self.exchange.now() })
    }
}
