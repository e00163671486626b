//! The seal beside the checkpoint: bytes that others give meaning to, under a line that makes each version different.

use maloko_core::error::{Error, Result};
use object_store::UpdateVersion;

use super::bucket::{Bucket, VersionedObject};
use super::keys::StackKeys;

const ATTEMPTS: u32 = 4;

/// The seal as it is stored.
pub(crate) fn encode(seal: &[u8], epoch: u64, write: u64) -> Vec<u8> {
    let mut bytes = absent(epoch, write);
    bytes.push(b'\n');
    bytes.extend_from_slice(seal);
    bytes
}

/// What stands where no seal was written yet.
fn absent(epoch: u64, write: u64) -> Vec<u8> {
    format!("{{\"maloko\":\"seal\",\"epoch\":{epoch},\"write\":{write}}}").into_bytes()
}

/// The seal in what is stored.
fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some(bytes[end + 1..].to_vec())
}

/// A seal, if there is one, and the version of its object, if there is one.
pub(crate) type VersionedSeal = (Option<Vec<u8>>, Option<UpdateVersion>);

/// Reads the seal.
pub(crate) async fn read(bucket: &Bucket, keys: &StackKeys) -> Result<VersionedSeal> {
    let found = bucket.get(&keys.seal).await?;
    Ok(found.map_or((None, None), |VersionedObject { bytes, version }| (decode(&bytes), Some(version))))
}

/// Gives the seal another version, also where there is none, so that a write that was meant for this one fails.
pub(crate) async fn renew(bucket: &Bucket, keys: &StackKeys, epoch: u64) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let (seal, version) = read(bucket, keys).await?;
        let anew = seal.map_or_else(|| absent(epoch, 0), |seal| encode(&seal, epoch, 0));
        let written = match version {
            Some(version) => bucket.put_if(&keys.seal, anew, version).await?,
            None => bucket.put_new(&keys.seal, anew).await?,
        };
        if written.is_some() {
            return Ok(());
        }
    }
    Err(Error::Locked(
        format!(
            "{} is written by somebody without a lock all the time; run the command again when that is over",
            bucket.place(&keys.seal)
        )
        .into(),
    ))
}
