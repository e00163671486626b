//! The lock files that Pulumi's command line and maloko both respect.

use maloko_core::error::{Error, Result};
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Holder, StackName, lock_file};

use super::bucket::Bucket;
use super::keys::StackKeys;

/// A lock file.
#[derive(Clone, Debug)]
pub(crate) struct LockFile {
    pub(crate) key: String,
    pub(crate) holder: Holder,
}

/// The name of the lock file of a lease.
pub(crate) fn key(keys: &StackKeys, id: &str) -> String {
    format!("{}{id}.json", keys.locks)
}

/// All lock files of a stack but one.
pub(crate) async fn others(bucket: &Bucket, keys: &StackKeys, own: Option<&str>) -> Result<Vec<LockFile>> {
    let mut found = bucket.list(&keys.locks).await?;
    found.retain(|key| key.strip_suffix(".json").is_some() && Some(key.as_str()) != own);
    let mut locks = Vec::new();
    for (key, object) in bucket.get_all(found).await? {
        // It may be removed while we look.
        let Some(object) = object else { continue };
        let holder = lock_file::decode(&object.bytes);
        locks.push(LockFile { key, holder });
    }
    Ok(locks)
}

/// The error for a stack that another maloko works on.
pub(crate) fn held(stack: &StackName, holder: &Holder) -> Error {
    lock_file::locked(stack, &[holder], message!["; if it hangs, ", Command::new("cancel"), " takes the lock from it."])
}

/// The error for a stack that `pulumi` works on.
pub(crate) fn foreign(bucket: &Bucket, stack: &StackName, locks: &[LockFile]) -> Error {
    let holders: Vec<&Holder> = locks.iter().map(|lock| &lock.holder).collect();
    let places = lock_file::listed(locks.iter().map(|lock| bucket.place(&lock.key)));
    let advice = message![
        ". If that process is gone, ",
        Command::new("cancel"),
        format!(" or `pulumi cancel` removes its lock; or remove:{places}")
    ];
    lock_file::locked(stack, &holders, advice)
}
