//! Past operations of a stack, as Pulumi writes them: an entry with a copy of the checkpoint beside it.

use maloko_core::error::Result;
use maloko_core::state::StoredEntry;

use super::bucket::Bucket;
use super::keys::StackKeys;

/// Keeps an entry with a copy of the checkpoint. Of the entries, the newest `keep` stay (0: all).
pub(crate) async fn add(bucket: &Bucket, keys: &StackKeys, at: i128, entry: &[u8], keep: usize) -> Result<()> {
    let (key, copy) = keys.entry(at);
    bucket.copy(&keys.checkpoint, &copy).await?;
    // An entry of the same moment is the same entry.
    bucket.put(&key, entry.to_vec()).await?;
    if keep == 0 {
        return Ok(());
    }
    let mut moments = moments(bucket, keys).await?;
    moments.sort_unstable_by_key(|at| std::cmp::Reverse(*at));
    let surplus: Vec<String> =
        moments.into_iter().skip(keep).flat_map(|at| <[String; 2]>::from(keys.entry(at))).collect();
    bucket.delete_all(&surplus).await
}

/// Takes over entries of another store.
pub(crate) async fn adopt(bucket: &Bucket, keys: &StackKeys, entries: &[StoredEntry]) -> Result<()> {
    let known = moments(bucket, keys).await?;
    for StoredEntry { at, entry, .. } in entries.iter().filter(|entry| !known.contains(&entry.at)) {
        bucket.put(&keys.entry(*at).0, entry.clone()).await?;
    }
    Ok(())
}

async fn moments(bucket: &Bucket, keys: &StackKeys) -> Result<Vec<i128>> {
    Ok(bucket.list(&keys.history).await?.iter().filter_map(|key| keys.time_of(key)).collect())
}

/// The newest `limit` entries (0: all), newest first. Compressed ones of Pulumi's are left out.
pub(crate) async fn list(bucket: &Bucket, keys: &StackKeys, limit: usize) -> Result<Vec<StoredEntry>> {
    let mut moments = moments(bucket, keys).await?;
    moments.sort_unstable_by_key(|at| std::cmp::Reverse(*at));
    if limit > 0 {
        moments.truncate(limit);
    }
    let names = moments.iter().map(|at| keys.entry(*at).0).collect();
    let mut entries = Vec::with_capacity(moments.len());
    for (at, (key, found)) in moments.into_iter().zip(bucket.get_all(names).await?) {
        // It may be removed while we look.
        if let Some(found) = found {
            entries.push(StoredEntry { at, place: bucket.place(&key), entry: found.bytes.to_vec() });
        }
    }
    Ok(entries)
}

/// Hands the objects on to a stack of another name, which is part of theirs.
pub(crate) async fn hand_on(bucket: &Bucket, from: &StackKeys, to: &StackKeys) -> Result<()> {
    let listed = bucket.list(&from.history).await?;
    for key in &listed {
        if let Some(renamed) = to.renamed(from, key) {
            bucket.copy(key, &renamed).await?;
        }
    }
    bucket.delete_all(&listed).await
}
