//! The note in a stack's seal that a run has records in its journal: by it, a journal that somebody removes is missed.
//!
//! It is written once the first records of the run are durable and before anybody hears of that, and taken away before
//! the journal is. So no crash leaves a note without its journal.

use serde::{Deserialize, Serialize};

use crate::state::backend::StoredStack;
use crate::state::journal::header::Header;
use crate::state::journal::reading::header_of;

/// The run that keeps a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::state) struct RunNote {
    /// The epoch of its lease, by which its journal is known.
    epoch: u64,
    command: String,
    /// When its first record was written, RFC 3339.
    begun: String,
}

impl RunNote {
    pub(in crate::state) fn of(header: &Header) -> Self {
        Self { epoch: header.epoch, command: header.command.clone(), begun: header.begun.clone() }
    }

    /// What is wrong with a stack whose seal has this note and which has not the journal that it tells of. `hash` is the
    /// SHA-256 of its checkpoint, with which that run began.
    pub(in crate::state) fn problem(&self, stored: &StoredStack, hash: &str) -> Option<String> {
        let found = stored.journal.as_deref();
        let header = found.and_then(header_of);
        if header.is_some_and(|header| header.epoch == self.epoch && header.base == hash) {
            return None;
        }
        let Self { command, begun, .. } = self;
        let fate =
            if found.is_none_or(<[u8]>::is_empty) { "is gone" } else { "is gone, and another one is in its place" };
        Some(format!(
            "the journal of a run that was interrupted (`{command}`, begun {begun}) {fate}, so what that run made is not in \
             the state. If you have a copy of the journal, put it back as {}; if you accept the state without it, look for \
             what the run made, and import it",
            stored.journal_place
        ))
    }
}

#[cfg(test)]
#[path = "run_note_tests.rs"]
mod tests;
