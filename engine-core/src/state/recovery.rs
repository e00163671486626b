//! What a killed run left behind, brought together with its checkpoint.

use std::collections::HashMap;

use crate::error::Result;

use super::backend::StoredStack;
use super::checkpoint::Checkpoint;
use super::integrity::{complete_old_rows, sha256_hex, sorted};
use super::journal::{self, Journal};
use super::ledger::{Change, Ledger, PendingKind};
use super::{PendingOperation, RowNumber, Snapshot};

/// What to do with the journal that was found.
#[derive(Debug)]
pub(super) enum JournalFate {
    /// There is none.
    Absent,
    /// It holds nothing that the checkpoint does not: remove it.
    Remove,
    /// The snapshot takes it into account: write the checkpoint, then remove it.
    Fold(Box<Journal>),
    /// It belongs to another checkpoint: keep it under another name.
    SetAside,
}

/// A stack as it is after an eventual crash was taken into account.
#[derive(Debug)]
pub(super) struct Recovered {
    pub(super) checkpoint: Checkpoint,
    /// SHA-256 of the checkpoint as it is stored.
    pub(super) hash: String,
    pub(super) fate: JournalFate,
    /// What the user should know.
    pub(super) notices: Vec<String>,
}

/// Reads a stack's checkpoint and journal; changes nothing.
pub(super) fn recover(stored: &StoredStack) -> Result<Recovered> {
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)?;
    complete_old_rows(&mut checkpoint.snapshot);
    let hash = sha256_hex(&stored.checkpoint);
    let mut recovered = Recovered { checkpoint, hash, fate: JournalFate::Absent, notices: Vec::new() };
    let Some(bytes) = &stored.journal else { return Ok(recovered) };
    let Some(journal) = journal::read(bytes, &stored.journal_place)? else {
        recovered.fate = JournalFate::Remove;
        return Ok(recovered);
    };
    if journal.header.base == recovered.hash {
        replay(journal, &mut recovered);
    } else if journal.fold.as_ref() == Some(&recovered.hash) {
        // Killed between the last two steps of a fold.
        recovered.fate = JournalFate::Remove;
    } else {
        recovered.fate = JournalFate::SetAside;
        recovered.notices.push(format!(
            "a run of maloko was interrupted ({}), and another tool has written the state since. The state is taken as it \
             is now; what only the journal of that run knows is not in it",
            begun(&journal)
        ));
    }
    Ok(recovered)
}

fn begun(journal: &Journal) -> String {
    let what = if journal.header.command.is_empty() { "an operation" } else { &journal.header.command };
    format!("{what}, begun {}", journal.header.begun)
}

fn replay(mut journal: Journal, recovered: &mut Recovered) {
    let mut notice = format!(
        "a run of maloko was interrupted ({}); {} was brought back from its journal",
        begun(&journal),
        records(journal.records.len())
    );
    if journal.torn > 0 {
        notice.push_str("; the last bytes of it were never completed, so what they were to say had not happened yet");
    }
    recovered.notices.push(notice);
    let snapshot = &mut recovered.checkpoint.snapshot;
    let base_len = snapshot.rows.len();
    let mut ledger = Ledger::new(snapshot);
    for change in std::mem::take(&mut journal.records).into_iter().flatten() {
        ledger.apply(placed(change, &ledger, base_len));
    }
    let rows: Vec<_> = ledger.rows().map(|(_, row)| std::sync::Arc::clone(row)).collect();
    // Rows that the run found unchanged are not in the journal, and so not in the order in which it met them.
    snapshot.rows = sorted(&rows);
    let before = std::mem::replace(&mut snapshot.pending, ledger.pending().cloned().collect());
    recovered.notices.extend(suspects(&snapshot.pending, &before));
    snapshot.secrets_provider = Some(journal.header.secrets_providers.clone());
    recovered.fate = JournalFate::Fold(Box::new(journal));
}

/// A change of a row that the run itself had put down without a record (an unchanged one) is a change in place of the
/// row that it was.
fn placed(change: Change, ledger: &Ledger, base_len: usize) -> Change {
    match change {
        Change::Set { number, row } if number as usize >= base_len && ledger.get(number).is_none() => {
            let old = ledger.rows().find(|(at, old)| (*at as usize) < base_len && old.urn == row.urn && !old.delete);
            let in_place_of: Option<RowNumber> = old.map(|(number, _)| number);
            Change::Put { number, row, in_place_of }
        }
        other => other,
    }
}

fn suspects(pending: &[PendingOperation], before: &[PendingOperation]) -> Vec<String> {
    let known: HashMap<_, _> = before.iter().map(|pending| (&pending.row.urn, pending.kind)).collect();
    pending
        .iter()
        .filter(|pending| known.get(&pending.row.urn) != Some(&pending.kind))
        .map(|pending| match pending.kind {
            PendingKind::Creating => format!(
                "{} was interrupted while it was created: the real object may or may not exist, and is not in the state",
                pending.row.urn
            ),
            kind => format!(
                "{} was interrupted while {}: the real object may differ from the state; `maloko refresh` finds out",
                pending.row.urn,
                kind.name()
            ),
        })
        .collect()
}

fn records(count: usize) -> String {
    if count == 1 { "1 record".into() } else { format!("{count} records") }
}

impl Recovered {
    /// The snapshot, without the rest.
    pub(super) fn into_snapshot(self) -> Snapshot {
        self.checkpoint.snapshot
    }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
