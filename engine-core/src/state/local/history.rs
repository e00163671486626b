//! Past operations of a stack: `<stack>-<nanoseconds>.history.json` with a copy of the checkpoint beside it, as Pulumi
//! writes them.

use std::fs;
use std::path::Path;

use crate::error::Result;
use crate::state::backend::StoredEntry;
use crate::state::platform::{self, io_error};

use super::layout::{StackFiles, entries};

const ENTRY: &str = ".history.json";
const CHECKPOINT: &str = ".checkpoint.json";

/// Keeps an entry with a copy of the checkpoint.
pub(super) fn add(files: &StackFiles, at: i128, entry: &[u8]) -> Result<()> {
    platform::create_private_dir(&files.history)?;
    let stem = format!("{}-{at}", files.name.stack());
    let copy = files.history.join(format!("{stem}{CHECKPOINT}"));
    // A checkpoint is never changed in place, so another name for the same file is as good as a copy.
    if fs::hard_link(&files.checkpoint, &copy).is_err()
        && let Some(bytes) = platform::read_if_exists(&files.checkpoint)?
    {
        platform::write_new(&copy, &bytes)?;
    }
    platform::write_new(&files.history.join(format!("{stem}{ENTRY}")), entry).map(drop)
}

/// The entries, newest first. Compressed ones of Pulumi's are left out.
pub(super) fn list(files: &StackFiles) -> Result<Vec<StoredEntry>> {
    let mut found = Vec::new();
    for path in entries(&files.history)? {
        let Some(at) = time_of(files, &path) else { continue };
        if let Some(entry) = platform::read_if_exists(&path)? {
            found.push(StoredEntry { at, place: path.display().to_string(), entry });
        }
    }
    found.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    Ok(found)
}

fn time_of(files: &StackFiles, path: &Path) -> Option<i128> {
    let name = path.file_name()?.to_str()?.strip_suffix(ENTRY)?;
    name.strip_prefix(files.name.stack())?.strip_prefix('-')?.parse().ok()
}

/// Hands the files on to a stack of another name, which is part of theirs.
pub(super) fn hand_on(from: &StackFiles, to: &StackFiles) -> Result<()> {
    let paths = entries(&from.history)?;
    if paths.is_empty() {
        return Ok(());
    }
    platform::create_private_dir(&to.history)?;
    for path in paths {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let renamed = match name.strip_prefix(from.name.stack()).filter(|rest| rest.starts_with('-')) {
            Some(rest) => format!("{}{rest}", to.name.stack()),
            None => name.to_owned(),
        };
        fs::rename(&path, to.history.join(renamed)).map_err(|error| io_error("rename", &path, error))?;
    }
    fs::remove_dir(&from.history).map_err(|error| io_error("remove", &from.history, error))
}
