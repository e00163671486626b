//! The lock files that Pulumi's command line and maloko both respect.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::state::backend::Holder;
use crate::state::name::StackName;
use crate::state::platform;

use super::layout::entries;

/// Directories between a lock file and the store's own: stack, project, organization, locks, and the store's own.
const LOCK_DEPTH: usize = 5;

/// A lock file.
#[derive(Debug)]
pub(super) struct LockFile {
    pub(super) path: PathBuf,
    pub(super) holder: Holder,
}

/// The content of a lock file; Pulumi ignores the last member.
#[derive(Serialize, Deserialize)]
struct Content {
    #[serde(default)]
    pid: u32,
    #[serde(default)]
    username: String,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    timestamp: String,
    /// The version of the maloko that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maloko: Option<String>,
}

/// All lock files of a stack.
pub(super) fn list(directory: &Path) -> Result<Vec<LockFile>> {
    let mut locks = Vec::new();
    for path in entries(directory)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")) {
        // It may be removed while we look.
        let Some(bytes) = platform::read_if_exists(&path)? else { continue };
        // A lock that cannot be read is a lock all the same; but only a crash of the machine, which its process did not
        // survive either, leaves one without content: Pulumi renames finished files, and we need no durability.
        let lost = bytes.iter().all(|byte| *byte == 0);
        let content: Content = serde_json::from_slice(&bytes).unwrap_or_else(|_| Content {
            pid: 0,
            username: String::new(),
            hostname: String::new(),
            timestamp: "an unknown time".into(),
            maloko: lost.then(String::new),
        });
        let holder = Holder {
            pid: content.pid,
            user: content.username,
            host: content.hostname,
            since: content.timestamp,
            maloko: content.maloko.is_some(),
        };
        locks.push(LockFile { path, holder });
    }
    Ok(locks)
}

/// Writes our own lock file.
pub(super) fn write(directory: &Path, id: &str, since: &str) -> Result<PathBuf> {
    let content = Content {
        pid: std::process::id(),
        username: platform::user_name(),
        hostname: platform::host_name(),
        timestamp: since.to_owned(),
        maloko: Some(env!("CARGO_PKG_VERSION").to_owned()),
    };
    let json =
        serde_json::to_vec(&content).map_err(|error| Error::BadState(format!("cannot write a lock: {error}")))?;
    let path = directory.join(format!("{id}.json"));
    platform::create_passing_dir(directory)?;
    let written =
        platform::private_options().write(true).create_new(true).open(&path).and_then(|mut file| file.write_all(&json));
    written.map_err(|error| platform::io_error("write", &path, error))?;
    Ok(path)
}

/// Makes a lock file survive a power cut.
pub(super) fn sync(lock: &Path) -> std::io::Result<()> {
    std::fs::File::open(lock)?.sync_all()?;
    // The directories above it may be as new as the file.
    lock.ancestors().skip(1).take(LOCK_DEPTH).try_for_each(platform::sync_dir)
}

/// The error for a stack that others work on.
pub(super) fn locked(stack: &StackName, locks: &[LockFile]) -> Error {
    let listed = |lines: Vec<String>| lines.iter().fold(String::new(), |list, line| list + "\n  " + line);
    let who = match locks {
        [] => "by another maloko process on this machine that has just begun".to_owned(),
        [lock] => format!("by {}", lock.holder),
        several => format!("by:{}", listed(several.iter().map(|lock| lock.holder.to_string()).collect())),
    };
    let foreign = locks.iter().filter(|lock| !lock.holder.maloko);
    let paths: Vec<String> = foreign.map(|lock| lock.path.display().to_string()).collect();
    let advice = if paths.is_empty() {
        String::new()
    } else {
        format!(" If that process is gone, `pulumi cancel` removes its lock; or remove:{}", listed(paths))
    };
    Error::Locked(format!("the stack '{}' is locked {who}. Wait until it is done.{advice}", stack.stack()))
}
