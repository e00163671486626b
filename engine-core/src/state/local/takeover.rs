//! Taking a stack over from a process that lives: `cancel`.
//!
//! Another lease file is put in the place of the one that is locked, so that the process finds its lease lost, whenever
//! it next looks. Then the journal is copied: what the process has open is not the stack's journal any more, so that even
//! a write that it had begun reaches nothing. (It is not acknowledged either: see [`append`](super::lease).)

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::environment::files::{self, io_error};
use crate::error::{Error, Result};
use crate::holder::Holder;

use super::epoch::{epoch_in, epoch_text};
use super::layout::StackFiles;
use super::{gate, locks};

/// The second line of a lease file that was put in the place of another: who did that.
#[derive(Serialize, Deserialize)]
struct Taker {
    pid: u32,
    user: String,
    host: String,
    since: String,
}

/// Takes the stack from whoever has it, and gives those who had it. It is free afterwards.
pub(super) async fn take_over(files: &StackFiles, environment: &Environment) -> Result<Vec<Holder>> {
    let disk = &*files.disk;
    let held = locks::list(disk, &files.locks)?;
    if files::exists(disk, &files.lease)? {
        let _gate = gate::enter(files, environment).await?;
        let lock = disk.try_lock(&files.lease).map_err(|error| io_error("lock", &files.lease, error))?;
        if lock.is_none() {
            replace_lease(files, environment)?;
            copy_journal(files)?;
        }
    }
    let mut gone = Vec::new();
    for lock in held {
        if files::remove_if_exists(disk, &lock.path)? {
            gone.push(lock.holder);
        }
    }
    Ok(gone)
}

fn replace_lease(files: &StackFiles, environment: &Environment) -> Result<()> {
    let text = files::read_if_exists(&*files.disk, &files.lease)?.unwrap_or_default();
    let epoch = epoch_in(&String::from_utf8_lossy(&text)).saturating_add(1);
    let identity = &environment.identity;
    let taker = Taker {
        pid: identity.pid,
        user: identity.user.clone(),
        host: identity.host.clone(),
        since: environment.clock.now().to_string(),
    };
    let taker = serde_json::to_string(&taker)
        .map_err(|error| Error::BadState(format!("cannot write a lease: {error}").into()))?;
    files::write_atomically(&*files.disk, &files.lease, format!("{}{taker}\n", epoch_text(epoch)).as_bytes())
}

fn copy_journal(files: &StackFiles) -> Result<()> {
    match files::read_if_exists(&*files.disk, &files.journal)? {
        Some(journal) => files::write_atomically(&*files.disk, &files.journal, &journal),
        None => Ok(()),
    }
}

/// The current holder, for the error that is shown after the lease was lost. `own`: the lock file of that lease.
pub(super) fn by_whom(files: &StackFiles, own: &std::path::Path) -> Option<Holder> {
    let locks = locks::list(&*files.disk, &files.locks).unwrap_or_default();
    if let Some(lock) = locks.into_iter().find(|lock| lock.path != own && lock.holder.maloko) {
        return Some(lock.holder);
    }
    let text = files::read_if_exists(&*files.disk, &files.lease).ok()??;
    let taker: Taker = serde_json::from_str(std::str::from_utf8(&text).ok()?.lines().nth(1)?).ok()?;
    let Taker { pid, user, host, since } = taker;
    Some(Holder { pid, user, host, since, maloko: true, operation: "maloko cancel".into(), attempt: None })
}
