//! What a killed run left behind, brought together with its checkpoint.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::message::Message;
use crate::urn::Urn;

use crate::state::backend::StoredStack;
use crate::state::checkpoint::Checkpoint;
use crate::state::integrity::complete_old_resources;
use crate::state::journal::reading::{self, Journal};
use crate::state::ledger::{Change, Ledger, ResourceNumber};
use crate::state::order::canonical;
use crate::state::snapshot::Snapshot;
use crate::state::unresolved_create::UnresolvedCreate;

/// What to do with the journal that was found.
#[derive(Debug)]
pub(in crate::state) enum JournalFate {
    /// There is none.
    Absent,
    /// It holds nothing that the checkpoint does not: remove it.
    Remove,
    /// The snapshot takes it into account: write the checkpoint, then remove it.
    Compact(Box<Journal>),
    /// It belongs to another checkpoint: keep it under another name.
    SetAside,
}

/// A stack as it is after an eventual crash was taken into account.
#[derive(Debug)]
pub(in crate::state) struct RecoveredStack {
    pub(in crate::state) checkpoint: Checkpoint,
    /// SHA-256 of the checkpoint as it is stored.
    pub(in crate::state) hash: String,
    pub(in crate::state) fate: JournalFate,
    /// What the user should know.
    pub(in crate::state) notices: Vec<Message>,
}

/// What is known of the run whose journal is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Run {
    /// It was killed: nobody else works on the stack.
    Killed,
    /// It goes on, or was killed.
    Unknown,
    /// It goes on.
    AtWork,
}

/// Takes a stack's journal into account; changes nothing in the store. `hash` is the SHA-256 of the checkpoint. Of a run that
/// is at work, what it has done so far counts, and nothing is in doubt that it has begun.
pub(in crate::state) fn recover(
    mut checkpoint: Checkpoint,
    hash: String,
    stored: &StoredStack,
    run: Run,
) -> Result<RecoveredStack> {
    complete_old_resources(&mut checkpoint.snapshot);
    let mut recovered = RecoveredStack { checkpoint, hash, fate: JournalFate::Absent, notices: Vec::new() };
    let Some(bytes) = &stored.journal else { return Ok(recovered) };
    let Some(journal) = reading::read(bytes, &stored.journal_place)? else {
        // Nobody can tell the two apart, so it is said, and kept where there is anything to keep.
        let fate = match run {
            Run::Killed => Some("was interrupted"),
            Run::Unknown => Some("is under way or was interrupted"),
            Run::AtWork => None,
        };
        recovered.notices.extend(fate.map(|fate| {
            Message::from(format!(
                "a run of maloko {fate} before the first line of its journal {} was whole, so it had begun nothing. If \
                 something else than that run has damaged the file, look for what the run may have made",
                stored.journal_place
            ))
        }));
        recovered.fate = if bytes.is_empty() { JournalFate::Remove } else { JournalFate::SetAside };
        return Ok(recovered);
    };
    if journal.header.base == recovered.hash {
        replay(journal, &mut recovered, run);
    } else if journal.compaction.as_ref() == Some(&recovered.hash) {
        // Killed between the last two steps of a compaction.
        recovered.fate = JournalFate::Remove;
    } else {
        recovered.fate = JournalFate::SetAside;
        recovered.notices.push(format!(
            "a run of maloko was interrupted ({}), and another tool has written the state since. The state is taken as it \
             is now; what only the journal of that run knows is not in it",
            begun(&journal)
        ).into());
    }
    Ok(recovered)
}

fn begun(journal: &Journal) -> String {
    let what = if journal.header.command.is_empty() { "an operation" } else { &journal.header.command };
    format!("{what}, begun {}", journal.header.begun)
}

fn replay(mut journal: Journal, recovered: &mut RecoveredStack, run: Run) {
    let snapshot = &mut recovered.checkpoint.snapshot;
    let base_len = snapshot.resources.len();
    let records = journal.records.len();
    let mut ledger = Ledger::new(snapshot);
    let carried = ledger.pending().count();
    let mut open = BTreeMap::new();
    for change in std::mem::take(&mut journal.records).into_iter().flatten() {
        match &change {
            Change::Begin { operation, pending, .. } => drop(open.insert(*operation, pending.resource.urn.clone())),
            Change::End { operation } => drop(open.remove(operation)),
            _ => {}
        }
        ledger.apply(placed(change, &ledger, base_len));
    }
    if run == Run::AtWork {
        leave_to_their_run(&mut ledger, &open, &snapshot.unresolved_creates);
    }
    let resources = ledger.finished_resources();
    // Resources that the run found unchanged are not in the journal, and so not in the order in which it met them.
    snapshot.resources = canonical(&resources);
    snapshot.pending = ledger.pending().cloned().collect();
    snapshot.unresolved_creates = ledger.recorded_unresolved_creates();
    let under_way = match snapshot.pending.len().saturating_sub(carried) {
        0 => String::new(),
        1 => "; 1 provider call was under way; its outcome is unknown".into(),
        many => format!("; {many} provider calls were under way; their outcomes are unknown"),
    };
    let records = if records == 1 { "1 record was".into() } else { format!("{records} records were") };
    let begun = begun(&journal);
    let notice = match run {
        Run::Killed => Some(format!(
            "a run of maloko was interrupted ({begun}): {records} brought back from its journal{under_way}"
        )),
        Run::Unknown => Some(format!(
            "a run of maloko is under way or was interrupted ({begun}): {records} taken from its journal{under_way}"
        )),
        // Who is at work is told with more than the journal knows.
        Run::AtWork => None,
    };
    recovered.notices.extend(notice.map(Message::from));
    snapshot.secrets_provider = Some(journal.header.secrets_providers.clone());
    recovered.fate = JournalFate::Compact(Box::new(journal));
}

/// Forgets the calls that a run at work has begun: it will know how they end.
fn leave_to_their_run(ledger: &mut Ledger, open: &BTreeMap<u32, Urn>, before: &[Arc<UnresolvedCreate>]) {
    for (operation, urn) in open {
        ledger.apply(Change::End { operation: *operation });
        // What was in doubt before that run still is.
        if let Some(earlier) = before.iter().find(|unresolved| unresolved.urn() == urn) {
            ledger.apply(Change::UnresolvedCreate(Arc::clone(earlier)));
        }
    }
}

/// A change of a resource that the run itself had put down without a record (an unchanged one) is a change in place of
/// the resource that it was.
fn placed(change: Change, ledger: &Ledger, base_len: usize) -> Change {
    match change {
        Change::Set { number, resource } if number as usize >= base_len && ledger.get(number).is_none() => {
            let old = ledger
                .resources()
                .find(|(at, old)| (*at as usize) < base_len && old.urn == resource.urn && !old.delete);
            let in_place_of: Option<ResourceNumber> = old.map(|(number, _)| number);
            Change::Put { number, resource, in_place_of }
        }
        other => other,
    }
}

impl RecoveredStack {
    /// The snapshot, without the rest.
    pub(in crate::state) fn into_snapshot(self) -> Snapshot {
        self.checkpoint.snapshot
    }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
