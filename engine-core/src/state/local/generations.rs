//! Former checkpoints: `<number>.json`, counted up without end.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::state::backend::{Generation, LEAST_GENERATIONS, no_generation};
use crate::state::files::{self, io_error};

use super::layout::StackFiles;

/// Keeps the checkpoint as it is now, and drops the oldest ones beyond `keep`.
pub(super) fn add(stack: &StackFiles, keep: usize) -> Result<()> {
    let disk = &*stack.disk;
    files::create_private_dir(disk, &stack.generations)?;
    let kept = numbers(stack)?;
    let next = kept.last().map_or(1, |(newest, _)| newest + 1);
    let path = path(stack, next);
    // A checkpoint is never changed in place, so another name for the same file is as good as a copy.
    if disk.link(&stack.checkpoint, &path).is_err()
        && let Some(bytes) = files::read_if_exists(disk, &stack.checkpoint)?
    {
        files::write_new(disk, &path, &bytes)?;
    }
    disk.sync_directory(&stack.generations).map_err(|error| io_error("write", &path, error))?;
    let excess = (kept.len() + 1).saturating_sub(keep.max(LEAST_GENERATIONS));
    kept.iter().take(excess).try_for_each(|(_, path)| files::remove_if_exists(disk, path).map(drop))
}

/// The newest first.
pub(super) fn list(stack: &StackFiles) -> Result<Vec<Generation>> {
    let kept = numbers(stack)?.into_iter().rev();
    Ok(kept.map(|(number, path)| Generation { number, place: path.display().to_string() }).collect())
}

pub(super) fn load(stack: &StackFiles, number: u64) -> Result<Vec<u8>> {
    let path = path(stack, number);
    files::read_if_exists(&*stack.disk, &path)?.ok_or_else(|| no_generation(&path.display().to_string()))
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
