//! The checkpoint and the generations before it.

use bytes::Bytes;
use maloko_core::error::{Error, Result};
use maloko_core::state::{Generation, MIN_GENERATIONS, StackName, StoredStack};
use object_store::UpdateVersion;

use super::batch::{self, Pieces};
use super::bucket::{Bucket, VersionedObject};
use super::keys::{COMPRESSED, StackKeys};
use super::mark;
use super::record::Record;
use super::seal;

/// How often a stack is read while others change it.
const READ_ATTEMPTS: u32 = 8;

/// A checkpoint as it is stored.
pub(crate) struct StoredCheckpoint {
    /// With its mark. No bytes at all if it was lost, which nobody can take for a state.
    bytes: Bytes,
    /// `None` when it was lost.
    pub(crate) version: Option<UpdateVersion>,
}

impl StoredCheckpoint {
    /// The checkpoint without its mark.
    pub(crate) fn content(&self) -> Vec<u8> {
        mark::unmarked(&self.bytes).to_vec()
    }

    /// How many bytes there are, with the mark.
    pub(crate) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Reads the checkpoint; an error when there is no such stack.
pub(crate) async fn read(bucket: &Bucket, stack: &StackName, keys: &StackKeys) -> Result<StoredCheckpoint> {
    if let Some(VersionedObject { bytes, version }) = bucket.get(&keys.checkpoint).await? {
        return Ok(StoredCheckpoint { bytes, version: Some(version) });
    }
    let error = missing(bucket, stack, keys).await?;
    let lost = matches!(error, Error::NoStack { .. }) && is_lost(bucket, keys).await?;
    if lost { Ok(StoredCheckpoint { bytes: Bytes::new(), version: None }) } else { Err(error) }
}

/// Was there a stack that nobody has removed? Asked where there is no checkpoint. A removal takes the seal away, and leaves a
/// lease that says so.
pub(crate) async fn is_lost(bucket: &Bucket, keys: &StackKeys) -> Result<bool> {
    match Record::read(bucket, &keys.lease).await? {
        Some((record, _)) => Ok(!record.no_stack),
        None => Ok(bucket.version(&keys.seal).await?.is_some()),
    }
}

/// The error for a stack that is not there, or not in a form that we read.
async fn missing(bucket: &Bucket, stack: &StackName, keys: &StackKeys) -> Result<Error> {
    for ending in COMPRESSED {
        let key = format!("{}.{ending}", keys.checkpoint);
        if bucket.version(&key).await?.is_some() {
            return Ok(Error::BadState(format!(
                "the stack file {} is compressed, which maloko does not support; unset PULUMI_DIY_BACKEND_GZIP and let \
                 `pulumi stack export` and `pulumi stack import` write it anew",
                bucket.place(&key)
            ).into()));
        }
    }
    Ok(Error::NoStack { stack: stack.stack().to_owned() })
}

/// Reads a stack without a lease, as it was at one moment.
pub(crate) async fn load(bucket: &Bucket, stack: &StackName, keys: &StackKeys) -> Result<StoredStack> {
    let mut last_gap = None;
    for _ in 0..READ_ATTEMPTS {
        let record = Record::read(bucket, &keys.lease).await?.map(|(record, _)| record);
        let start = match &record {
            Some(record) => record.journal_start,
            None => batch::found_without_lease(bucket, keys).await?.1,
        };
        let (found, (seal, _)) = futures::future::try_join(read(bucket, stack, keys), seal::read(bucket, keys)).await?;
        let idle = record.as_ref().is_some_and(Record::is_idle);
        let pieces = if idle { Pieces::default() } else { batch::read(bucket, keys, start).await? };
        // A run that is under way may have compacted its journal while we read; then it begins elsewhere at the next look.
        let gap = pieces.missing.map(|missing| (start, missing));
        if gap.is_some() && gap != last_gap {
            last_gap = gap;
            continue;
        }
        let journal = pieces.journal();
        // The two belong together when the checkpoint is still the same after the journal was read.
        if journal.is_some() && bucket.version(&keys.checkpoint).await? != found.version {
            continue;
        }
        return Ok(StoredStack {
            checkpoint: found.content(),
            checkpoint_place: bucket.place(&keys.checkpoint),
            journal,
            journal_place: pieces.place(bucket, keys),
            seal,
        });
    }
    Err(Error::Locked(
        format!("the stack '{}' is being changed all the time; run the command again when that is over", stack.stack())
            .into(),
    ))
}

/// The generations, the newest first.
pub(crate) async fn generations(bucket: &Bucket, keys: &StackKeys) -> Result<Vec<Generation>> {
    let listed = bucket.list(&keys.generations).await?;
    let found = listed.iter().rev().filter_map(|key| {
        Some(Generation { number: keys.generation_of(key)?, place: bucket.place(key), is_last: false })
    });
    Ok(found.collect())
}

/// Reads a generation.
pub(crate) async fn load_generation(bucket: &Bucket, keys: &StackKeys, number: u64) -> Result<Vec<u8>> {
    let key = keys.generation(number);
    match bucket.get(&key).await? {
        Some(found) => Ok(mark::unmarked(&found.bytes).to_vec()),
        None => Err(Error::BadState(
            format!("there is no former state {}; it may be older than those that are kept", bucket.place(&key)).into(),
        )),
    }
}

/// Keeps the checkpoint as the newest generation, and as Pulumi's backup; within the store, so that its bytes do not
/// travel. Gives the generations that are more than are to be kept. `size`: of the checkpoint, where it may have been kept
/// before, by a writer that was killed before the next one was in its place.
pub(crate) async fn keep_generation(
    bucket: &Bucket,
    keys: &StackKeys,
    keep: usize,
    size: Option<u64>,
) -> Result<Vec<String>> {
    let listed = bucket.list_sizes(&keys.generations, None).await?;
    let known: Vec<(u64, u64)> =
        listed.iter().rev().filter_map(|(key, size)| Some((keys.generation_of(key)?, *size))).collect();
    let is_kept = match (known.first(), size) {
        (Some((newest, kept)), Some(size)) if mark::may_be_alike(*kept, size) => is_copy(bucket, keys, *newest).await?,
        _ => false,
    };
    let backup = bucket.copy(&keys.checkpoint, &keys.backup);
    if is_kept {
        backup.await?;
    } else {
        let generation = keys.generation(known.first().map_or(1, |(newest, _)| newest + 1));
        futures::future::try_join(bucket.copy(&keys.checkpoint, &generation), backup).await?;
    }
    let others = keep.max(MIN_GENERATIONS).saturating_sub(usize::from(!is_kept));
    Ok(known.iter().skip(others).map(|(old, _)| keys.generation(*old)).collect())
}

/// Is the generation what the checkpoint is now? Whoever took the stack over has given the checkpoint another mark.
async fn is_copy(bucket: &Bucket, keys: &StackKeys, number: u64) -> Result<bool> {
    let generation = keys.generation(number);
    let (present, kept) = futures::future::try_join(bucket.get(&keys.checkpoint), bucket.get(&generation)).await?;
    Ok(match (&present, &kept) {
        (Some(present), Some(kept)) => mark::unmarked(&present.bytes) == mark::unmarked(&kept.bytes),
        _ => false,
    })
}
