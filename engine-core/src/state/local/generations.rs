//! Former checkpoints: `<number>.json`, counted up without end. Where the checkpoint itself was lost or spoilt, the copy of
//! it in the history is one more.

use std::path::{Path, PathBuf};

use crate::environment::files::{self, io_error};
use crate::error::Result;
use crate::state::backend::{Generation, MIN_GENERATIONS, no_generation};
use crate::state::seal;

use super::history;
use super::layout::StackFiles;

/// Keeps the checkpoint as it is now, and drops the oldest ones beyond `keep`.
pub(super) fn add(stack: &StackFiles, keep: usize) -> Result<()> {
    let disk = &*stack.disk;
    files::create_dir(disk, &stack.generations)?;
    let kept = numbers(stack)?;
    // Whoever was killed before the next checkpoint was in its place has kept this one already.
    let is_kept = kept.last().is_some_and(|(_, newest)| disk.is_one_file(newest, &stack.checkpoint).unwrap_or(false));
    let path = path(stack, next(&kept));
    // A checkpoint is never changed in place, so another name for the same file is as good as a copy.
    if !is_kept
        && disk.link(&stack.checkpoint, &path).is_err()
        && let Some(bytes) = files::read_if_exists(disk, &stack.checkpoint)?
    {
        files::write_new(disk, &path, &bytes)?;
    }
    disk.sync_directory(&stack.generations).map_err(|error| io_error("write", &path, error))?;
    let excess = (kept.len() + usize::from(!is_kept)).saturating_sub(keep.max(MIN_GENERATIONS));
    kept.iter().take(excess).try_for_each(|(_, path)| files::remove_if_exists(disk, path).map(drop))
}

/// The newest first.
pub(super) fn list(stack: &StackFiles) -> Result<Vec<Generation>> {
    let kept = numbers(stack)?;
    let next = next(&kept);
    let former = kept.into_iter().rev().map(|(number, path)| (number, path, false));
    let last = last_written(stack)?.map(|(path, _)| (next, path, true));
    Ok(last
        .into_iter()
        .chain(former)
        .map(|(number, path, is_last)| Generation { number, place: path.display().to_string(), is_last })
        .collect())
}

pub(super) fn load(stack: &StackFiles, number: u64) -> Result<Vec<u8>> {
    let path = path(stack, number);
    if let Some(bytes) = files::read_if_exists(&*stack.disk, &path)? {
        return Ok(bytes);
    }
    let last = if number == next(&numbers(stack)?) { last_written(stack)? } else { None };
    last.map(|(_, bytes)| bytes).ok_or_else(|| no_generation(&path.display().to_string()))
}

/// The copy in the history of what was written last, where the checkpoint is no longer that. Nobody but the seal knows
/// which state was the last one.
fn last_written(stack: &StackFiles) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let disk = &*stack.disk;
    let Some(seal) = files::read_if_exists(disk, &stack.seal)? else { return Ok(None) };
    if files::read_if_exists(disk, &stack.checkpoint)?.is_some_and(|present| seal::is_of(&seal, &present)) {
        return Ok(None);
    }
    let Some(path) = history::newest_copy(stack)? else { return Ok(None) };
    let bytes = files::read_if_exists(disk, &path)?.filter(|bytes| seal::is_of(&seal, bytes));
    Ok(bytes.map(|bytes| (path, bytes)))
}

/// The number of the next one.
fn next(kept: &[(u64, PathBuf)]) -> u64 {
    kept.last().map_or(1, |(newest, _)| newest + 1)
}

fn path(stack: &StackFiles, number: u64) -> PathBuf {
    stack.generations.join(format!("{number}.json"))
}

/// What is kept, the oldest first. Files of other names are not ours.
fn numbers(stack: &StackFiles) -> Result<Vec<(u64, PathBuf)>> {
    let number = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".json")?.parse().ok();
    let mut kept: Vec<(u64, PathBuf)> = files::entries(&*stack.disk, &stack.generations)?
        .into_iter()
        .filter_map(|path| Some((number(&path)?, path)))
        .collect();
    kept.sort();
    Ok(kept)
}
