//! The lock files that Pulumi's command line and maloko both respect.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::environment::files::{self, Files, OpenMode};
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::message;
use crate::message::Command;
use crate::state::lock_file;
use crate::state::name::StackName;

/// Directories between a lock file and the store's own: stack, project, organization, locks, and the store's own.
const LOCK_DEPTH: usize = 5;

/// A lock file.
#[derive(Debug)]
pub(super) struct LockFile {
    pub(super) path: PathBuf,
    pub(super) holder: Holder,
}

/// All lock files of a stack.
pub(super) fn list(disk: &dyn Files, directory: &Path) -> Result<Vec<LockFile>> {
    let mut locks = Vec::new();
    let paths = files::entries(disk, directory)?;
    for path in paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")) {
        // It may be removed while we look.
        let Some(bytes) = files::read_if_exists(disk, &path)? else { continue };
        let mut holder = lock_file::decode(&bytes);
        // Only a crash of the machine, which its process did not survive either, leaves a lock without content: Pulumi
        // renames finished files, and we need no durability.
        holder.maloko |= bytes.iter().all(|byte| *byte == 0);
        locks.push(LockFile { path, holder });
    }
    Ok(locks)
}

/// Writes our own lock file.
pub(super) fn write(environment: &Environment, directory: &Path, operation: &str) -> Result<PathBuf> {
    let json = lock_file::encode(&environment.as_holder(operation))?;
    let path = directory.join(format!("{}.json", environment.new_uuid()?));
    let disk = &*environment.files;
    files::create_passing_dir(disk, directory)?;
    // In one step: a lock of which there is only a part could be anybody's. Nobody else writes one, for we hold the lock of
    // the operating system, so what a crash left under this name is written over.
    let staged = directory.join("maloko.tmp");
    files::remove_if_exists(disk, &staged)?;
    let written = disk.open(&staged, OpenMode::New).and_then(|mut file| file.write_all(&json));
    written.and_then(|()| disk.rename(&staged, &path)).map_err(|error| {
        let _ = disk.remove(&staged);
        files::io_error("write", &path, error)
    })?;
    Ok(path)
}

/// Makes a lock file survive a power cut.
pub(super) fn sync(disk: &dyn Files, lock: &Path) -> std::io::Result<()> {
    disk.open(lock, OpenMode::Existing)?.sync_all()?;
    // The directories above it may be as new as the file.
    lock.ancestors().skip(1).take(LOCK_DEPTH).try_for_each(|directory| disk.sync_directory(directory))
}

/// The error for a stack that others work on.
pub(super) fn locked(stack: &StackName, locks: &[LockFile]) -> Error {
    let holders: Vec<&Holder> = locks.iter().map(|lock| &lock.holder).collect();
    let foreign = locks.iter().filter(|lock| !lock.holder.maloko);
    let paths: Vec<String> = foreign.map(|lock| lock.path.display().to_string()).collect();
    let advice = if paths.is_empty() {
        message![". If it hangs, ", Command::new("cancel"), " takes the stack over from it."]
    } else {
        format!(". If that process is gone, `pulumi cancel` removes its lock; or remove:{}", lock_file::listed(paths))
            .into()
    };
    lock_file::locked(stack, &holders, advice)
}
