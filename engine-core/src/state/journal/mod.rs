//! The journal's format: one line per record, readable by people, checked by machines.
//!
//! ```text
//! <checksum> {"maloko":"journal","version":2,"engine":"0.1.0","stack":"organization/shop/dev","epoch":4,"base":"<sha256>",...,"code":"..."}
//! <checksum> {"sequence":1,"durable":0,"changes":[{"begin":{"operation":0,"kind":"creating","key":"...","since":"...","row":{...}}}],"code":"..."}
//! <checksum> {"sequence":2,"durable":1,"changes":[{"end":0},{"put":{"number":7,"row":{...}}}],"code":"..."}
//! <checksum> {"sequence":3,"durable":2,"fold":"<sha256 of the checkpoint that takes the journal's place>","code":"..."}
//! ```
//!
//! A checksum is the CRC-32C, in eight hex digits, of the checksum of the line before and the line's JSON; so lines can
//! be neither changed nor moved nor left out. `durable` is the number of the last record that was known to be on disk
//! when this one was written: what was not may be torn by a crash and is dropped, what was must be whole.
//!
//! A checksum is no protection from one who means to change a journal. The code is: it authenticates the line and the
//! code of the line before, under the stack's key ([`verify`]). Only the end of a journal can be cut off unseen, since a
//! crash may do so, too.

pub(super) mod recovery;
pub(super) mod run_note;
pub(super) mod unfinished;
pub(super) mod writer;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fail_points;
use crate::message;
use crate::message::Command;

use super::format::{Encoder, StoredResource, StoredUnresolvedCreate, write_string};
use super::ledger::{Change, PendingKind, PendingOperation, ResourceNumber};
use super::secrets::SealKey;
use super::unresolved_create::Attempt;

/// The version of the format that is written, and the newest that is read.
const VERSION: u32 = 2;
const KIND: &str = "journal";
const CHECKSUM_LEN: usize = 8;
/// The least that a disk writes at once, in bytes.
const SECTOR: usize = 512;

/// The first line: what the journal belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    maloko: String,
    version: u32,
    /// Version of the engine that wrote it.
    pub(super) engine: String,
    /// The stack's full name.
    pub(super) stack: String,
    /// The lease's epoch.
    pub(super) epoch: u64,
    /// SHA-256 of the checkpoint that the records change.
    pub(super) base: String,
    /// When the first record was written, RFC 3339.
    pub(super) begun: String,
    /// The command that wrote it.
    pub(super) command: String,
    /// `secrets_providers` under which the records' secrets are encrypted.
    pub(super) secrets_providers: serde_json::Value,
}

impl Header {
    pub(super) fn new(stack: String, epoch: u64, base: String, secrets_providers: serde_json::Value) -> Self {
        Self {
            maloko: KIND.into(),
            version: VERSION,
            engine: env!("CARGO_PKG_VERSION").into(),
            stack,
            epoch,
            base,
            begun: String::new(),
            command: String::new(),
            secrets_providers,
        }
    }
}

#[derive(Deserialize)]
struct Record {
    sequence: u64,
    durable: u64,
    #[serde(default)]
    changes: Vec<ChangeLine>,
    #[serde(default)]
    fold: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChangeLine {
    Begin {
        operation: u32,
        kind: String,
        /// Of a create, since format 2.
        #[serde(default)]
        key: Option<String>,
        #[serde(default)]
        since: String,
        row: StoredResource,
    },
    End(u32),
    Put {
        number: ResourceNumber,
        row: StoredResource,
        #[serde(default)]
        in_place_of: Option<ResourceNumber>,
    },
    Set {
        number: ResourceNumber,
        row: StoredResource,
    },
    Remove(ResourceNumber),
    /// Since format 2.
    #[serde(rename = "suspect")]
    UnresolvedCreate(StoredUnresolvedCreate),
    /// Since format 2.
    Cleared(String),
}

/// What the next line follows.
#[derive(Clone, Debug, Default)]
struct End {
    sequence: u64,
    checksum: u32,
    /// The code of the last line.
    code: String,
}

/// Turns what is to be recorded into lines. The order of the calls is the order of the lines.
pub(super) struct LineWriter {
    end: End,
    key: SealKey,
}

impl LineWriter {
    /// Begins a journal; its header goes to `out`. `key` authenticates its lines.
    pub(super) fn begin(header: &Header, key: &SealKey, out: &mut Vec<u8>) -> Result<Self> {
        let mut writer = Self { end: End::default(), key: key.clone() };
        let mut json = Vec::new();
        super::format::write_json(&mut json, header)?;
        json.pop();
        writer.line(json, out);
        Ok(writer)
    }

    /// The number of the last record.
    pub(super) fn sequence(&self) -> u64 {
        self.end.sequence
    }

    /// Appends a record whose content (`"changes":[...]` or `"fold":"..."`) is given.
    pub(super) fn record(&mut self, durable: u64, content: &[u8], out: &mut Vec<u8>) {
        self.end.sequence += 1;
        let mut json = format!("{{\"sequence\":{},\"durable\":{durable},", self.end.sequence).into_bytes();
        json.extend_from_slice(content);
        self.line(json, out);
    }

    /// Writes an object that is still open.
    fn line(&mut self, mut json: Vec<u8>, out: &mut Vec<u8>) {
        let End { checksum, code, .. } = &mut self.end;
        *code = coded(code, &json, &self.key);
        json.extend_from_slice(format!("{CODE_MEMBER}{code}\"}}").as_bytes());
        *checksum = chained(*checksum, &json);
        out.extend_from_slice(format!("{checksum:08x} ").as_bytes());
        out.extend_from_slice(&json);
        out.push(b'\n');
    }
}

/// What a line ends with: this, the code, `"}`.
const CODE_MEMBER: &str = ",\"code\":\"";
/// Hex digits of a code: half a hash.
const CODE_LEN: usize = 32;

/// The code of an open object after a line with that code.
fn coded(previous: &str, json: &[u8], key: &SealKey) -> String {
    let mut code = key.code(&[b"journal\0", previous.as_bytes(), b"\0", json]);
    code.truncate(CODE_LEN);
    code
}

/// A line's object without its end, and its code; `None` when it has none.
fn split_code(json: &[u8]) -> Option<(&[u8], &str)> {
    let rest = json.strip_suffix(b"\"}")?;
    let (rest, code) = rest.split_at_checked(rest.len().checked_sub(CODE_LEN)?)?;
    Some((rest.strip_suffix(CODE_MEMBER.as_bytes())?, std::str::from_utf8(code).ok()?))
}

/// Was every line of this journal, which was read, written under the key? `place` names it in errors.
pub(super) fn verify(bytes: &[u8], journal: &Journal, key: &SealKey, place: &str) -> Result<()> {
    if fail_points::is_on("planted::journal-not-authenticated") {
        return Ok(());
    }
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

fn chained(previous: u32, json: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&previous.to_le_bytes()), json)
}

/// The content of a record of changes.
pub(super) fn encode_changes(changes: &[Change], encoder: &mut Encoder<'_>) -> Result<()> {
    encoder.out().extend_from_slice(b"\"changes\":[");
    for (index, change) in changes.iter().enumerate() {
        if index > 0 {
            encoder.out().push(b',');
        }
        encode_change(change, encoder)?;
    }
    encoder.out().push(b']');
    Ok(())
}

fn encode_change(change: &Change, encoder: &mut Encoder<'_>) -> Result<()> {
    let row = match change {
        Change::Begin { operation, pending, attempt } => {
            let kind = pending.kind.name();
            put(encoder, &format!("{{\"begin\":{{\"operation\":{operation},\"kind\":\"{kind}\""));
            if let Some(Attempt { key, since }) = attempt {
                put(encoder, ",\"key\":");
                write_string(encoder.out(), key);
                put(encoder, ",\"since\":");
                write_string(encoder.out(), since);
            }
            &pending.row
        }
        Change::End { operation } => {
            put(encoder, &format!("{{\"end\":{operation}}}"));
            return Ok(());
        }
        Change::Put { number, row, in_place_of: None } => {
            put(encoder, &format!("{{\"put\":{{\"number\":{number}"));
            row
        }
        Change::Put { number, row, in_place_of: Some(old) } => {
            put(encoder, &format!("{{\"put\":{{\"number\":{number},\"in_place_of\":{old}"));
            row
        }
        Change::Set { number, row } => {
            put(encoder, &format!("{{\"set\":{{\"number\":{number}"));
            row
        }
        Change::Remove { number } => {
            put(encoder, &format!("{{\"remove\":{number}}}"));
            return Ok(());
        }
        Change::UnresolvedCreate(unresolved) => {
            put(encoder, "{\"suspect\":");
            encoder.unresolved(unresolved)?;
            put(encoder, "}");
            return Ok(());
        }
        Change::Cleared(urn) => {
            put(encoder, "{\"cleared\":");
            write_string(encoder.out(), urn.as_str());
            put(encoder, "}");
            return Ok(());
        }
    };
    put(encoder, ",\"row\":");
    encoder.row(row)?;
    put(encoder, "}}");
    Ok(())
}

fn put(encoder: &mut Encoder<'_>, text: &str) {
    encoder.out().extend_from_slice(text.as_bytes());
}

/// The content of the last record of a journal that was folded.
pub(super) fn encode_compaction(checkpoint_hash: &str) -> Vec<u8> {
    format!("\"fold\":\"{checkpoint_hash}\"").into_bytes()
}

/// A journal, read.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) header: Header,
    /// The changes of each record.
    pub(super) records: Vec<Vec<Change>>,
    /// SHA-256 of the checkpoint that was to take the journal's place; `None` when it did not come to that.
    pub(super) fold: Option<String>,
    /// The bytes that are good, from the start.
    pub(super) good: usize,
    /// The bytes after them: torn by a crash and never acknowledged.
    pub(super) torn: usize,
    /// The last good line lacks its line feed.
    unterminated: bool,
    end: End,
}

impl Journal {
    /// What to append (after the torn bytes were cut off) to say which checkpoint takes the journal's place.
    pub(super) fn compaction_line(&self, checkpoint_hash: &str, key: &SealKey) -> Vec<u8> {
        let mut out = if self.unterminated { vec![b'\n'] } else { Vec::new() };
        let mut lines = LineWriter { end: self.end.clone(), key: key.clone() };
        lines.record(self.end.sequence, &encode_compaction(checkpoint_hash), &mut out);
        out
    }
}

/// One line of a journal as it stands in the file.
struct Line<'a> {
    start: usize,
    json: &'a [u8],
    /// The checksum that it claims; `None` when there is none.
    claimed: Option<u32>,
}

impl<'a> Line<'a> {
    fn cut(bytes: &'a [u8], start: usize) -> (Self, usize) {
        let rest = &bytes[start..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let text = &rest[..length];
        if fail_points::is_on("planted::line-cut-unchecked") {
            let _ = &text[..CHECKSUM_LEN];
        }
        let claimed = text
            .split_at_checked(CHECKSUM_LEN)
            .and_then(|(hex, rest)| (rest.first() == Some(&b' ')).then_some(hex))
            .filter(|hex| hex.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let json = text.get(CHECKSUM_LEN + 1..).unwrap_or_default();
        (Self { start, json, claimed }, start + length + 1)
    }

    fn end(&self, sequence: u64) -> End {
        let code = split_code(self.json).map(|(_, code)| code.to_owned()).unwrap_or_default();
        End { sequence, checksum: self.claimed.unwrap_or_default(), code }
    }

    fn follows(&self, previous: u32) -> bool {
        self.claimed == Some(chained(previous, self.json))
            || (fail_points::is_on("planted::checksum-not-compared") && self.claimed.is_some())
    }
}

/// Reads a journal. `Ok(None)`: it was torn before its first line was whole, so nothing was ever recorded in it.
/// `place` names it in errors.
pub(super) fn read(bytes: &[u8], place: &str) -> Result<Option<Journal>> {
    drop(fail_points::is_on("planted::memory-unbounded").then(|| vec![0_u8; 64 << 20]));
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
        Journal { header, records: Vec::new(), fold: None, good: next, torn: 0, unterminated: false, end };
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
        if fail_points::is_on("planted::torn-tail-takes-predecessor") {
            journal.records.pop();
        }
        break;
    }
    if journal.good > bytes.len() {
        journal.good = bytes.len();
        journal.unterminated = true;
    }
    Ok(Some(journal))
}

/// The first line of a journal; `None` where it is not whole.
pub(super) fn header_of(bytes: &[u8]) -> Option<Header> {
    let (first, _) = Line::cut(bytes, 0);
    if first.follows(0) { serde_json::from_slice(first.json).ok() } else { None }
}

/// The length of the whole lines with which a journal begins, whatever comes after them, and how many records they
/// hold; nothing when not even the first line can be read.
///
/// # Errors
/// A newer version wrote it.
pub(super) fn readable(bytes: &[u8], place: &str) -> Result<(usize, usize)> {
    let (first, good) = Line::cut(bytes, 0);
    if !first.follows(0) || good > bytes.len() {
        return Ok((0, 0));
    }
    let header = read_header(first.json, place)?;
    let end = first.end(0);
    let mut journal = Journal { header, records: Vec::new(), fold: None, good, torn: 0, unterminated: false, end };
    while journal.good < bytes.len() {
        let (line, after) = Line::cut(bytes, journal.good);
        if after > bytes.len() || !line.follows(journal.end.checksum) || take(&mut journal, &line, place).is_err() {
            break;
        }
        journal.good = after;
    }
    Ok((journal.good, journal.records.len()))
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
    if record.fold.is_some() {
        journal.fold = record.fold;
    }
    let changes: Option<Vec<Change>> = record.changes.into_iter().map(ChangeLine::into_change).collect();
    journal.records.push(changes.ok_or_else(|| unreadable("unknown kind of operation".into()))?);
    journal.end = line.end(number);
    Ok(())
}

impl ChangeLine {
    fn into_change(self) -> Option<Change> {
        Some(match self {
            Self::Begin { operation, kind, key, since, row } => {
                let pending = PendingOperation { row: row.0.into(), kind: PendingKind::from_name(&kind)? };
                Change::Begin { operation, pending, attempt: key.map(|key| Attempt { key, since }) }
            }
            Self::End(operation) => Change::End { operation },
            Self::Put { number, row, in_place_of } => Change::Put { number, row: row.0.into(), in_place_of },
            Self::Set { number, row } => Change::Set { number, row: row.0.into() },
            Self::Remove(number) => Change::Remove { number },
            Self::UnresolvedCreate(StoredUnresolvedCreate(unresolved)) => Change::UnresolvedCreate(unresolved.into()),
            Self::Cleared(urn) => Change::Cleared(crate::urn::Urn::unchecked(&urn)),
        })
    }
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

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
