//! The pieces of the journal: one object for each group commit.
//!
//! ```text
//! {"maloko":"batch","epoch":4,"writer":"<id of the lease>","sequence":17}     then, after a line feed, lines of the journal
//! {"maloko":"fence","epoch":5,"writer":"<id of the lease>","sequence":18,"who":{...}}
//! ```
//!
//! Each object is created only if its number is free, so of two writers with the same number only one succeeds. A takeover puts a
//! fence at the next free number: the former holder's next write would go there, and fails. So a fence is never removed, and no
//! number is used twice.

use bytes::Bytes;
use maloko_core::error::Result;
use serde::{Deserialize, Serialize};

use super::bucket::{Bucket, VersionedObject};
use super::keys::{DIGITS, StackKeys};
use super::record::Who;

/// The first number of a journal.
pub(crate) const FIRST: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Batch,
    Fence,
}

/// The first line of a piece.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    maloko: Kind,
    epoch: u64,
    writer: String,
    sequence: u64,
    /// Who took the stack over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    who: Option<Who>,
}

/// A piece of the journal, read.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) key: String,
    pub(crate) sequence: u64,
    pub(crate) epoch: u64,
    /// Who took the stack over, if it is a fence.
    pub(crate) fence: Option<Who>,
    object: Bytes,
    /// Where the journal's own lines begin.
    body: usize,
}

/// A group commit as it is stored.
pub(crate) fn batch(epoch: u64, writer: &str, sequence: u64, lines: &[u8]) -> Bytes {
    encode(&Head { maloko: Kind::Batch, epoch, writer: writer.to_owned(), sequence, who: None }, lines)
}

/// A fence as it is stored.
pub(crate) fn fence(epoch: u64, writer: &str, sequence: u64, who: &Who) -> Bytes {
    encode(&Head { maloko: Kind::Fence, epoch, writer: writer.to_owned(), sequence, who: Some(who.clone()) }, b"")
}

fn encode(head: &Head, lines: &[u8]) -> Bytes {
    // Text and numbers can always be written.
    let mut bytes = serde_json::to_vec(head).unwrap_or_default();
    bytes.push(b'\n');
    bytes.extend_from_slice(lines);
    bytes.into()
}

impl Piece {
    /// `None` when it is no piece of a journal.
    pub(crate) fn decode(key: String, object: Bytes) -> Option<Self> {
        let end = object.iter().position(|byte| *byte == b'\n').unwrap_or(object.len());
        let head: Head = serde_json::from_slice(&object[..end]).ok()?;
        let fence = (head.maloko == Kind::Fence).then(|| head.who.unwrap_or_default());
        let body = (end + 1).min(object.len());
        Some(Self { key, sequence: head.sequence, epoch: head.epoch, fence, object, body })
    }

    /// The journal's lines in it.
    pub(crate) fn lines(&self) -> &[u8] {
        &self.object[self.body..]
    }

    /// The piece with fewer lines.
    pub(crate) fn cut(&self, length: usize) -> Bytes {
        self.object.slice(..(self.body + length).min(self.object.len()))
    }
}

/// The pieces of a journal, read.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Those that count, in order.
    pub(crate) found: Vec<Piece>,
    /// The number of the first that is not there, or is no piece: it got lost, or they were being removed.
    pub(crate) missing: Option<u64>,
}

/// Reads the pieces from a number on.
pub(crate) async fn read(bucket: &Bucket, keys: &StackKeys, start: u64) -> Result<Pieces> {
    let mut listed = bucket.list_after(&keys.journal, Some(&keys.before_batch(start))).await?;
    listed.retain(|key| keys.sequence_of(key).is_some_and(|sequence| sequence >= start));
    let mut found = Vec::with_capacity(listed.len());
    let mut missing: Option<u64> = None;
    for (key, object) in bucket.get_all(listed).await? {
        let sequence = keys.sequence_of(&key);
        match object.and_then(|VersionedObject { bytes, .. }| Piece::decode(key, bytes)) {
            Some(piece) => found.push(piece),
            None => missing = missing.min(sequence).or(sequence),
        }
    }
    let mut pieces = in_force(found, start);
    pieces.missing = pieces.missing.min(missing).or(pieces.missing).or(missing);
    Ok(pieces)
}

/// Leaves out what a former holder wrote after it was fenced off, which only a store without conditions lets happen.
fn in_force(mut pieces: Vec<Piece>, start: u64) -> Pieces {
    pieces.sort_by_key(|piece| (piece.sequence, std::cmp::Reverse(piece.epoch)));
    let (mut epoch, mut next) = (0, start);
    let mut kept = Pieces { found: Vec::with_capacity(pieces.len()), missing: None };
    for piece in pieces {
        let is_late = piece.epoch < epoch || kept.found.last().is_some_and(|last| last.sequence == piece.sequence);
        if is_late {
            continue;
        }
        if piece.sequence != next {
            kept.missing.get_or_insert(next);
        }
        (epoch, next) = (piece.epoch, piece.sequence + 1);
        kept.found.push(piece);
    }
    kept
}

impl Pieces {
    /// The journal's lines in the pieces; `None` when there are none. Where a piece is missing stands a line that is none
    /// of a journal, nor what a crash leaves at its end: so whoever reads it knows that it is damaged, and from where on.
    pub(crate) fn journal(&self) -> Option<Vec<u8>> {
        let missing = self.missing.unwrap_or(u64::MAX);
        let lines = |after: bool| self.found.iter().filter(move |piece| (piece.sequence > missing) == after);
        let joined = |after: bool| lines(after).flat_map(Piece::lines).copied().collect::<Vec<u8>>();
        let mut journal = joined(false);
        if self.missing.is_some() {
            journal.extend_from_slice(format!("\n({})\n", self.loss().unwrap_or_default()).as_bytes());
            journal.extend(joined(true));
        }
        (!journal.is_empty()).then_some(journal)
    }

    /// What is missing, in words.
    fn loss(&self) -> Option<String> {
        self.missing.map(|number| format!("its piece {number:0DIGITS$} is missing or unreadable"))
    }

    /// Where the journal is, for messages, with what is missing.
    pub(crate) fn place(&self, bucket: &Bucket, keys: &StackKeys) -> String {
        let place = bucket.place(&keys.journal);
        self.loss().map_or_else(|| place.clone(), |loss| format!("{place} ({loss})"))
    }
}

/// The number after the last that is used.
pub(crate) async fn next_free(bucket: &Bucket, keys: &StackKeys, from: u64) -> Result<u64> {
    let listed = bucket.list_after(&keys.journal, Some(&keys.before_batch(from))).await?;
    let last = listed.iter().filter_map(|key| keys.sequence_of(key)).max();
    Ok(last.map_or(from, |last| from.max(last + 1)))
}

/// Puts a fence at the next free number, from `from` on, and gives that number.
pub(crate) async fn put_fence(
    bucket: &Bucket,
    keys: &StackKeys,
    from: u64,
    (epoch, writer, who): (u64, &str, &Who),
) -> Result<u64> {
    let mut sequence = next_free(bucket, keys, from).await?;
    loop {
        // The name is the one that a batch of that number has, which is what makes it fail.
        let key = keys.batch(sequence, if bucket.is_conditional() { None } else { Some(writer) });
        if bucket.put_new(&key, fence(epoch, writer, sequence, who)).await?.is_some() {
            return Ok(sequence);
        }
        sequence += 1;
    }
}

/// The last epoch, and where the journal begins, of a stack whose lease object is not there: none was ever made, or it was
/// removed by hand.
pub(crate) async fn found_without_lease(bucket: &Bucket, keys: &StackKeys) -> Result<(u64, u64)> {
    let listed = bucket.list(&keys.journal).await?;
    let mut numbers: Vec<u64> = listed.iter().filter_map(|key| keys.sequence_of(key)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() {
        return Ok((0, FIRST));
    }
    // Fences stay; so the journal is what comes after the last gap.
    let start = numbers.windows(2).rfind(|pair| pair[0] + 1 != pair[1]).map_or(numbers[0], |pair| pair[1]);
    let pieces = read(bucket, keys, start).await?;
    Ok((pieces.found.last().map_or(0, |piece| piece.epoch), start))
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
