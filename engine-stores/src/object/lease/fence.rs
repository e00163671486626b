//! Shutting a former holder out: whatever it could still write to is changed under its hands.

use maloko_core::error::{Error, Result};

use crate::object::batch;
use crate::object::bucket::{Bucket, VersionedObject};
use crate::object::keys::StackKeys;
use crate::object::mark;
use crate::object::record::Record;
use crate::object::seal;

/// How often a checkpoint is marked anew when a write of the former holder comes in between: it has one at most.
const MARK_ATTEMPTS: u32 = 4;

/// Makes sure that a former holder, who may be asleep between a look and a write, can write nothing any more. Gives the
/// first free number of the journal.
pub(crate) async fn shut_out(bucket: &Bucket, keys: &StackKeys, record: &Record) -> Result<u64> {
    let fence = (record.epoch, record.id.as_str(), &record.who);
    let next = batch::put_fence(bucket, keys, record.journal_next, fence).await? + 1;
    mark_anew(bucket, keys, record.epoch).await?;
    seal::renew(bucket, keys, record.epoch).await?;
    Ok(next)
}

/// Gives the checkpoint another version, so that a write that was meant for this one fails.
async fn mark_anew(bucket: &Bucket, keys: &StackKeys, epoch: u64) -> Result<()> {
    for _ in 0..MARK_ATTEMPTS {
        let Some(VersionedObject { bytes, version }) = bucket.get(&keys.checkpoint).await? else { return Ok(()) };
        let anew = mark::marked(mark::unmarked(&bytes), epoch, 0);
        if bucket.put_if(&keys.checkpoint, anew, version).await?.is_some() {
            return Ok(());
        }
    }
    Err(Error::Locked(
        format!(
            "{} is written by somebody without a lock all the time; run the command again when that is over",
            bucket.place(&keys.checkpoint)
        )
        .into(),
    ))
}
