//! Reading a journal: what is good of it, what a crash tore, and what is damaged.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::message;
use crate::message::Command;

use crate::state::journal::changes::{ChangeLine, encode_compaction};
use crate::state::journal::header::{Header, VERSION};
use crate::state::journal::lines::{End, Line, LineWriter, coded, split_code};
use crate::state::ledger::Change;
use crate::state::secrets::SealKey;

/// The least that a disk writes at once, in bytes.
pub(super) const SECTOR: usize = 512;

#[derive(Deserialize)]
struct Record {
    sequence: u64,
    durable: u64,
    #[serde(default)]
    changes: Vec<ChangeLine>,
    #[serde(default, rename = "fold")]
    compaction: Option<String>,
}

/// A journal, read.
#[derive(Debug)]
pub(in crate::state) struct Journal {
    pub(in crate::state) header: Header,
    /// The changes of each record.
    pub(in crate::state) records: Vec<Vec<Change>>,
    /// SHA-256 of the checkpoint that was to take the journal's place; `None` when it did not come to that.
    pub(in crate::state) compaction: Option<String>,
    /// The bytes that are good, from the start.
    pub(in crate::state) good: usize,
    /// The bytes after them: torn by a crash and never acknowledged.
    pub(in crate::state) torn: usize,
    /// The last good line lacks its line feed.
    unterminated: bool,
    pub(super) end: End,
}

impl Journal {
    /// What to append (after the torn bytes were cut off) to say which checkpoint takes the journal's place.
    pub(in crate::state) fn compaction_line(&self, checkpoint_hash: &str, key: &SealKey) -> Vec<u8> {
        let mut out = if self.unterminated { vec![b'\n'] } else { Vec::new() };
        let mut lines = LineWriter { end: self.end.clone(), key: key.clone() };
        lines.record(self.end.sequence, &encode_compaction(checkpoint_hash), &mut out);
        out
    }
}

/// Reads a journal. `Ok(None)`: it was torn before its first line was whole, so nothing was ever recorded in it.
/// `place` names it in errors.
pub(in crate::state) fn read(bytes: &[u8], place: &str) -> Result<Option<Journal>> {
    let (first, mut next) = Line::cut(bytes, 0);
    if !first.follows(0) {
        if is_torn(bytes, &first, 0) {
            return Ok(None);
        }
        return Err(damaged(place, "its first line does not match its checksum"));
    }
    let header = read_header(first.json, place)?;
    let end = first.end(0);
    let mut journal =
        Journal { header, records: Vec::new(), compaction: None, good: next, torn: 0, unterminated: false, end };
    while next < bytes.len() {
        let (line, after) = Line::cut(bytes, next);
        let End { sequence, checksum, .. } = journal.end;
        if line.follows(checksum) {
            take(&mut journal, &line, place)?;
            journal.good = after;
            next = after;
            continue;
        }
        // A flipped bit in the very last line feed makes it look like a longer last line.
        let shorter = Line::cut(&bytes[..bytes.len() - 1], next).0;
        if after > bytes.len() && shorter.follows(checksum) {
            take(&mut journal, &shorter, place)?;
            journal.good = bytes.len() - 1;
            journal.unterminated = true;
        } else if !is_torn(bytes, &line, sequence) {
            return Err(damaged(place, &format!("record {} does not match its checksum", sequence + 1)));
        }
        journal.torn = bytes.len() - journal.good;
        break;
    }
    if journal.good > bytes.len() {
        journal.good = bytes.len();
        journal.unterminated = true;
    }
    Ok(Some(journal))
}

/// The first line of a journal; `None` where it is not whole.
pub(in crate::state) fn header_of(bytes: &[u8]) -> Option<Header> {
    let (first, _) = Line::cut(bytes, 0);
    if first.follows(0) { serde_json::from_slice(first.json).ok() } else { None }
}

/// The length of the whole lines with which a journal begins, whatever comes after them, and how many records they
/// hold; nothing when not even the first line can be read.
///
/// # Errors
/// A newer version wrote it.
pub(in crate::state) fn readable(bytes: &[u8], place: &str) -> Result<(usize, usize)> {
    let (first, good) = Line::cut(bytes, 0);
    if !first.follows(0) || good > bytes.len() {
        return Ok((0, 0));
    }
    let header = read_header(first.json, place)?;
    let end = first.end(0);
    let mut journal =
        Journal { header, records: Vec::new(), compaction: None, good, torn: 0, unterminated: false, end };
    while journal.good < bytes.len() {
        let (line, after) = Line::cut(bytes, journal.good);
        if after > bytes.len() || !line.follows(journal.end.checksum) || take(&mut journal, &line, place).is_err() {
            break;
        }
        journal.good = after;
    }
    Ok((journal.good, journal.records.len()))
}

/// Was every line of this journal, which was read, written under the key? `place` names it in errors.
pub(in crate::state) fn verify(bytes: &[u8], journal: &Journal, key: &SealKey, place: &str) -> Result<()> {
    let bytes = &bytes[..journal.good];
    let (mut next, mut previous, mut number) = (0, String::new(), 0);
    while next < bytes.len() {
        let (line, after) = Line::cut(bytes, next);
        let genuine = split_code(line.json).filter(|(json, code)| coded(&previous, json, key) == *code);
        let Some((_, code)) = genuine else {
            let which = if number == 0 { "its first line".to_owned() } else { format!("record {number}") };
            return Err(Error::BadState(message![
                format!(
                    "the journal {place} of an interrupted run is not as maloko left it: {which} was changed, or \
                     written under another key. Nothing was changed. Restore it from a copy; or look through it for \
                     what was made, run "
                ),
                Command::new("state reseal"),
                ", which puts it aside, then ",
                Command::new("refresh"),
                ", and import what is missing from the state"
            ]));
        };
        code.clone_into(&mut previous);
        (next, number) = (after, number + 1);
    }
    Ok(())
}

fn read_header(json: &[u8], place: &str) -> Result<Header> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
        engine: String,
    }
    if let Ok(Version { version, engine }) = serde_json::from_slice(json)
        && version > VERSION
    {
        return Err(Error::BadState(format!(
            "the journal {place} was written by maloko {engine} in format {version}, which this version does not know; \
             run that version (or a newer one) once to finish it. Nothing was changed"
        ).into()));
    }
    serde_json::from_slice(json).map_err(|error| damaged(place, &format!("its first line cannot be read: {error}")))
}

fn take(journal: &mut Journal, line: &Line<'_>, place: &str) -> Result<()> {
    let number = journal.end.sequence + 1;
    let unreadable = |detail: String| damaged(place, &format!("record {number} cannot be read: {detail}"));
    let record: Record = serde_json::from_slice(line.json).map_err(|error| unreadable(error.to_string()))?;
    if record.sequence != number {
        return Err(unreadable(format!("it calls itself {}", record.sequence)));
    }
    if record.compaction.is_some() {
        journal.compaction = record.compaction;
    }
    let changes: Option<Vec<Change>> = record.changes.into_iter().map(ChangeLine::into_change).collect();
    journal.records.push(changes.ok_or_else(|| unreadable("unknown kind of operation".into()))?);
    journal.end = line.end(number);
    Ok(())
}

/// Is a broken line what a crash leaves of records that were not yet durable? Such a line is cut short, or the system
/// left zeros where data should be; and no whole record behind it says that it was durable. `last` is the number of the
/// last good record.
fn is_torn(bytes: &[u8], broken: &Line<'_>, last: u64) -> bool {
    let rest = &bytes[broken.start..];
    let cut_short = !rest.contains(&b'\n');
    let mut next = broken.start;
    let mut previous = None;
    while next < bytes.len() {
        let (line, after) = Line::cut(bytes, next);
        let is_whole = previous.is_some_and(|checksum| line.follows(checksum));
        if is_whole && serde_json::from_slice::<Record>(line.json).is_ok_and(|record| record.durable > last) {
            return false;
        }
        previous = line.claimed;
        next = after;
    }
    cut_short || has_lost_sector(bytes, broken.start)
}

/// Are there zeros from `start` on that fill a disk sector, or what is left of one before the next or the end? A single
/// flipped bit cannot make them.
fn has_lost_sector(bytes: &[u8], start: usize) -> bool {
    let mut at = start;
    while let Some(offset) = bytes[at..].iter().position(|byte| *byte == 0) {
        let from = at + offset;
        let to = bytes[from..].iter().position(|byte| *byte != 0).map_or(bytes.len(), |length| from + length);
        let begins = from.is_multiple_of(SECTOR) || bytes[from - 1] == b'\n';
        let ends = to / SECTOR > from / SECTOR || to == bytes.len();
        if begins && ends {
            return true;
        }
        at = to;
    }
    false
}

fn damaged(place: &str, problem: &str) -> Error {
    Error::BadState(message![
        format!(
            "the journal {place} of an interrupted run is damaged: {problem}. It lists what that run made, so nothing \
             was changed. Restore it from a copy; or let "
        ),
        Command::new("state restore").with("--journal"),
        " go on with what is readable before the damage, look through the rest for what was made, run ",
        Command::new("refresh"),
        ", and import what is missing from the state"
    ])
}
