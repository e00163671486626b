//! What a killed run left behind, brought together with its checkpoint.

use crate::error::Result;
use crate::planted::{self, Bug};

use super::Snapshot;
use super::backend::StoredStack;
use super::checkpoint::Checkpoint;
use super::integrity::{complete_old_rows, sha256_hex};
use super::journal::{self, Journal};
use super::ledger::{Change, Ledger, RowNumber};
use super::order::canonical;
use super::unfinished;

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

/// Reads a stack's checkpoint and journal; changes nothing. `leased`: nobody else works on the stack, so a journal is
/// that of a run that was killed.
pub(super) fn recover(stored: &StoredStack, leased: bool) -> Result<Recovered> {
    unfinished::check(stored)?;
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)?;
    complete_old_rows(&mut checkpoint.snapshot);
    let hash = sha256_hex(&stored.checkpoint);
    let mut recovered = Recovered { checkpoint, hash, fate: JournalFate::Absent, notices: Vec::new() };
    let Some(bytes) = &stored.journal else { return Ok(recovered) };
    let Some(journal) = journal::read(bytes, &stored.journal_place)? else {
        // Nobody can tell the two apart, so it is said, and kept where there is anything to keep.
        recovered.notices.push(format!(
            "a run of maloko {} before the first line of its journal {} was whole, so it had begun nothing. If something else \
             than that run has damaged the file, look for what the run may have made",
            if leased { "was interrupted" } else { "is under way or was interrupted" },
            stored.journal_place
        ));
        recovered.fate = if bytes.is_empty() { JournalFate::Remove } else { JournalFate::SetAside };
        return Ok(recovered);
    };
    if journal.header.base == recovered.hash || planted::has(Bug::FoldedJournalReplayed) {
        replay(journal, &mut recovered, leased);
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

fn replay(mut journal: Journal, recovered: &mut Recovered, leased: bool) {
    let snapshot = &mut recovered.checkpoint.snapshot;
    let base_len = snapshot.rows.len();
    let records = journal.records.len();
    let mut ledger = Ledger::new(snapshot);
    let carried = ledger.pending().count();
    for change in std::mem::take(&mut journal.records).into_iter().flatten() {
        ledger.apply(placed(change, &ledger, base_len));
    }
    let rows = ledger.finished_rows();
    // Rows that the run found unchanged are not in the journal, and so not in the order in which it met them.
    snapshot.rows = canonical(&rows);
    snapshot.pending = ledger.pending().cloned().collect();
    snapshot.suspects = ledger.recorded_suspects();
    let under_way = match snapshot.pending.len().saturating_sub(carried) {
        0 => String::new(),
        1 => "; 1 call of a provider was under way, and nobody knows how it ended".into(),
        many => format!("; {many} calls of providers were under way, and nobody knows how they ended"),
    };
    let records = if records == 1 { "1 record was".into() } else { format!("{records} records were") };
    let begun = begun(&journal);
    recovered.notices.push(if leased {
        format!("a run of maloko was interrupted ({begun}): {records} brought back from its journal{under_way}")
    } else {
        format!(
            "a run of maloko is under way or was interrupted ({begun}): {records} taken from its journal{under_way}"
        )
    });
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

impl Recovered {
    /// The snapshot, without the rest.
    pub(super) fn into_snapshot(self) -> Snapshot {
        self.checkpoint.snapshot
    }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
