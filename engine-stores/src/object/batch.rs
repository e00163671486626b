//! The pieces of the journal: one object for each group commit.
//!
//! ```text
//! {"maloko":"batch","epoch":4,"writer":"<id of the lease>","sequence":17}     then, after a line feed, lines of the journal
//! {"maloko":"fence","epoch":5,"writer":"<id of the lease>","sequence":18,"who":{...}}
//! ```
//!
//! Each is made where none is, so of two that have the same number only one comes about. Whoever takes a stack over puts a
//! fence at the next free number: that is where the former holder's next write would go, and fails. A fence is therefore
//! never removed, and no number is used twice.

use bytes::Bytes;
use maloko_core::error::Result;
use serde::{Deserialize, Serialize};

use super::bucket::{Bucket, Found};
use super::keys::StackKeys;
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
    pub(crate) fn decode(bucket: &Bucket, key: String, object: Bytes) -> Result<Self> {
        let end = object.iter().position(|byte| *byte == b'\n').unwrap_or(object.len());
        let head: Head = serde_json::from_slice(&object[..end]).map_err(|error| {
            let what_to_do = "restore it from a copy, or bring the state back with `maloko stack import --file COPY`";
            bucket.damaged(&key, &format!("it is no piece of a journal: {error}"), what_to_do)
        })?;
        let fence = (head.maloko == Kind::Fence).then(|| head.who.unwrap_or_default());
        let body = (end + 1).min(object.len());
        Ok(Self { key, sequence: head.sequence, epoch: head.epoch, fence, object, body })
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

/// What reading the pieces gave.
#[derive(Debug)]
pub(crate) enum Read {
    /// The pieces that count, in order.
    Whole(Vec<Piece>),
    /// Some were missing: they were being removed, or got lost.
    Gap {
        /// The number of the first that is missing.
        missing: u64,
    },
}

/// Reads the pieces from a number on.
pub(crate) async fn read(bucket: &Bucket, keys: &StackKeys, start: u64) -> Result<Read> {
    let mut listed = bucket.list_after(&keys.journal, Some(&keys.before_batch(start))).await?;
    listed.retain(|key| keys.sequence_of(key).is_some_and(|sequence| sequence >= start));
    let mut pieces = Vec::with_capacity(listed.len());
    for (key, object) in bucket.get_all(listed).await? {
        match object {
            Some(Found { bytes, .. }) => pieces.push(Piece::decode(bucket, key, bytes)?),
            None => return Ok(Read::Gap { missing: keys.sequence_of(&key).unwrap_or(start) }),
        }
    }
    Ok(in_force(pieces, start))
}

/// Leaves out what a former holder wrote after it was fenced off, which only a store without conditions lets happen.
fn in_force(mut pieces: Vec<Piece>, start: u64) -> Read {
    pieces.sort_by_key(|piece| (piece.sequence, std::cmp::Reverse(piece.epoch)));
    let (mut epoch, mut next) = (0, start);
    let mut kept: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let is_late = piece.epoch < epoch || kept.last().is_some_and(|last| last.sequence == piece.sequence);
        if is_late {
            continue;
        }
        if piece.sequence != next {
            return Read::Gap { missing: next };
        }
        (epoch, next) = (piece.epoch, next + 1);
        kept.push(piece);
    }
    Read::Whole(kept)
}

/// The journal's lines in the pieces; `None` when there are none.
pub(crate) fn joined(pieces: &[Piece]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = pieces.iter().map(Piece::lines).filter(|lines| !lines.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.concat())
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

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
