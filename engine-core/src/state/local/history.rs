//! Past operations of a stack: `<stack>-<nanoseconds>.history.json` with a copy of the checkpoint beside it, as Pulumi
//! writes them.

use std::path::{Path, PathBuf};

use crate::environment::files::{self, io_error};
use crate::error::Result;
use crate::state::backend::StoredEntry;

use super::layout::StackFiles;

const ENTRY: &str = ".history.json";
const CHECKPOINT: &str = ".checkpoint.json";

/// Keeps an entry with a copy of the checkpoint.
pub(super) fn add(stack: &StackFiles, at: i128, entry: &[u8]) -> Result<()> {
    let disk = &*stack.disk;
    files::create_dir(disk, &stack.history)?;
    let stem = format!("{}-{at}", stack.name.stack());
    let copy = stack.history.join(format!("{stem}{CHECKPOINT}"));
    // A checkpoint is never changed in place, so another name for the same file is as good as a copy.
    if disk.link(&stack.checkpoint, &copy).is_err()
        && let Some(bytes) = files::read_if_exists(disk, &stack.checkpoint)?
    {
        files::write_new(disk, &copy, &bytes)?;
    }
    files::write_new(disk, &stack.history.join(format!("{stem}{ENTRY}")), entry).map(drop)
}

/// Takes over entries of another store.
pub(super) fn adopt(stack: &StackFiles, entries: &[StoredEntry]) -> Result<()> {
    let disk = &*stack.disk;
    files::create_dir(disk, &stack.history)?;
    for StoredEntry { at, entry, .. } in entries {
        let path = stack.history.join(format!("{}-{at}{ENTRY}", stack.name.stack()));
        // One of that moment is there already.
        files::write_new(disk, &path, entry)?;
    }
    Ok(())
}

/// Removes all but the newest entries, with their checkpoints.
pub(super) fn trim(stack: &StackFiles, keep: usize) -> Result<()> {
    let disk = &*stack.disk;
    let mut moments: Vec<i128> =
        files::entries(disk, &stack.history)?.iter().filter_map(|path| time_of(stack, path)).collect();
    moments.sort_unstable_by_key(|at| std::cmp::Reverse(*at));
    for at in moments.into_iter().skip(keep) {
        let stem = format!("{}-{at}", stack.name.stack());
        // The entry goes last: what is left after a crash is found again.
        files::remove_if_exists(disk, &stack.history.join(format!("{stem}{CHECKPOINT}")))?;
        files::remove_if_exists(disk, &stack.history.join(format!("{stem}{ENTRY}")))?;
    }
    Ok(())
}

/// The newest entries (0: all), newest first. Compressed ones of Pulumi's are left out.
pub(super) fn list(stack: &StackFiles, newest: usize) -> Result<Vec<StoredEntry>> {
    let disk = &*stack.disk;
    let mut paths: Vec<(i128, PathBuf)> = files::entries(disk, &stack.history)?
        .into_iter()
        .filter_map(|path| Some((time_of(stack, &path)?, path)))
        .collect();
    paths.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
    paths.truncate(if newest == 0 { usize::MAX } else { newest });
    let mut found = Vec::new();
    for (at, path) in paths {
        if let Some(entry) = files::read_if_exists(disk, &path)? {
            found.push(StoredEntry { at, place: path.display().to_string(), entry });
        }
    }
    Ok(found)
}

/// The copy of the checkpoint that the newest entry has.
pub(super) fn newest_copy(stack: &StackFiles) -> Result<Option<PathBuf>> {
    let paths = files::entries(&*stack.disk, &stack.history)?.into_iter();
    let copies = paths.filter_map(|path| Some((time_in(stack, &path, CHECKPOINT)?, path)));
    Ok(copies.max().map(|(_, path)| path))
}

fn time_of(stack: &StackFiles, path: &Path) -> Option<i128> {
    time_in(stack, path, ENTRY)
}

fn time_in(stack: &StackFiles, path: &Path, ending: &str) -> Option<i128> {
    let name = path.file_name()?.to_str()?.strip_suffix(ending)?;
    name.strip_prefix(stack.name.stack())?.strip_prefix('-')?.parse().ok()
}

/// Hands the files on to a stack of another name, which is part of theirs.
pub(super) fn hand_on(from: &StackFiles, to: &StackFiles) -> Result<()> {
    let disk = &*from.disk;
    let paths = files::entries(disk, &from.history)?;
    if paths.is_empty() {
        return Ok(());
    }
    files::create_dir(disk, &to.history)?;
    for path in paths {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let renamed = match name.strip_prefix(from.name.stack()).filter(|rest| rest.starts_with('-')) {
            Some(rest) => format!("{}{rest}", to.name.stack()),
            None => name.to_owned(),
        };
        disk.rename(&path, &to.history.join(renamed)).map_err(|error| io_error("rename", &path, error))?;
    }
    disk.remove_directory(&from.history).map_err(|error| io_error("remove", &from.history, error))
}
