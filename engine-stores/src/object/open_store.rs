//! A store as one process has opened it: its bucket, what the bucket can do, and whose layout it has. Claims and leases work on
//! this, and the backend makes it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use maloko_core::environment::Environment;
use maloko_core::error::{Error, Result};
use maloko_core::message;
use maloko_core::message::Command;

use crate::Notify;
use crate::lease::DEFAULT_PATIENCE;

use super::bucket::{Bucket, VersionedObject};
use super::connection::Connection;
use super::keys::{self, META, STACKS};

const VERSION: u64 = 1;

/// The times of a lease. All are measured by the process that waits, never compared between machines.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How often a holder shows that it lives.
    pub beat: Duration,
    /// How long a holder trusts its last renewal; after that it renews before it writes.
    pub trust: Duration,
    /// How long an observer sees no sign of life before it takes over. Longer than `trust`.
    pub patience: Duration,
    /// How often an observer looks.
    pub poll: Duration,
}

impl Timing {
    /// Where a holder that was silent for so long is replaced.
    #[must_use]
    pub fn with_patience(patience: Duration) -> Self {
        Self { beat: patience / 6, trust: patience / 2, patience, poll: patience / 30 }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self::with_patience(DEFAULT_PATIENCE)
    }
}

/// Makes the connection to an object store; called again in a process that was forked off.
pub(crate) type Connect = Box<dyn Fn() -> Result<Connection> + Send + Sync>;

/// The connection of one process.
pub(crate) struct OpenStore {
    pub(crate) bucket: Bucket,
    pub(crate) environment: Environment,
    pub(crate) notify: Notify,
    pub(crate) timing: Timing,
    /// Can the store refuse a write? Found out when the first lease is taken.
    conditional: Mutex<Option<bool>>,
    /// The layout was looked at, and is ours.
    checked: Mutex<bool>,
}

impl OpenStore {
    pub(crate) fn new(bucket: Bucket, environment: Environment, notify: Notify, timing: Timing) -> Self {
        Self { bucket, environment, notify, timing, conditional: Mutex::new(None), checked: Mutex::new(false) }
    }

    /// The bucket, told whether its store can refuse a write; `key` is a name that nobody else uses.
    pub(crate) async fn bucket_with_conditions(&self, key: &str) -> Result<Bucket> {
        let known = *self.conditional.lock().unwrap_or_else(PoisonError::into_inner);
        let conditional = match known {
            Some(known) => known,
            None => {
                let found = self.bucket.probe(key).await?;
                *self.conditional.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                if !found {
                    (self.notify)(&message![
                        "this store does not refuse conditional writes (If-None-Match, If-Match), so two writers are \
                         kept apart less strictly; ",
                        Command::new("help").with("backends"),
                        " has more"
                    ]);
                }
                found
            }
        };
        Ok(self.bucket.with_conditions(conditional))
    }

    /// Refuses a store whose layout this version does not understand.
    pub(crate) async fn check_layout(&self) -> Result<()> {
        if *self.checked.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(());
        }
        let bucket = &self.bucket;
        match bucket.get(META).await? {
            Some(VersionedObject { bytes, .. }) => check_version(bucket, &String::from_utf8_lossy(&bytes))?,
            None if bucket.list(STACKS).await?.iter().any(|key| keys::is_old_layout(key)) => {
                return Err(Error::BadState(format!(
                    "the state in {} has the old layout without projects; upgrade it with `pulumi state upgrade` first",
                    bucket.place("")
                ).into()));
            }
            // There is none before the first stack is made.
            None => return Ok(()),
        }
        *self.checked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        Ok(())
    }
}

/// The layout file of a store that is begun with this version.
pub(crate) fn layout_file() -> Vec<u8> {
    format!("version: {VERSION}\n").into_bytes()
}

fn check_version(bucket: &Bucket, text: &str) -> Result<()> {
    let version = text.lines().find_map(|line| line.strip_prefix("version:"));
    match version.map(|rest| rest.split('#').next().unwrap_or_default().trim().parse::<u64>()) {
        Some(Ok(VERSION)) => Ok(()),
        Some(Ok(newer)) if newer > VERSION => Err(Error::BadState(
            format!(
                "the state in {} has layout {newer}, which this version of maloko does not know; use a newer one",
                bucket.place("")
            )
            .into(),
        )),
        _ => Err(Error::BadState(
            format!(
                "{} does not say which layout the state has; it should be the line `version: {VERSION}`",
                bucket.place(META)
            )
            .into(),
        )),
    }
}
