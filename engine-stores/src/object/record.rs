//! The lease object: who holds a stack, whether they are still at work, and where the journal begins.
//!
//! It is never removed, and each of its versions differs from all others. So it also remembers, after a stack was removed,
//! which epochs and which numbers of the journal were used.

use std::time::Duration;

use bytes::Bytes;
use maloko_core::error::Result;
use maloko_core::holder::{Holder, RunAttempt};
use object_store::UpdateVersion;
use serde::{Deserialize, Serialize};

use super::bucket::{Bucket, VersionedObject};
use super::open_store::Timing;

/// The version of the format that is written, and the newest that is read.
const VERSION: u32 = 1;
const KIND: &str = "lease";

/// A person's process, as it stands in objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Who {
    #[serde(default)]
    pub(crate) pid: u32,
    #[serde(default)]
    pub(crate) user: String,
    #[serde(default)]
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) operation: String,
    #[serde(default)]
    pub(crate) since: String,
    #[serde(flatten)]
    attempt: Option<RunAttempt>,
}

impl Who {
    pub(crate) fn of(holder: Holder) -> Self {
        let Holder { pid, user, host, operation, since, attempt, .. } = holder;
        Self { pid, user, host, operation, since, attempt }
    }

    pub(crate) fn holder(&self) -> Holder {
        Holder {
            pid: self.pid,
            user: self.user.clone(),
            host: self.host.clone(),
            since: self.since.clone(),
            maloko: true,
            operation: self.operation.clone(),
            attempt: self.attempt.clone(),
        }
    }
}

/// Is the stack held?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// By `who`, if its counter still rises.
    Held,
    /// Given back by `who`.
    Free,
    /// Taken from its holder by `who` (`cancel`).
    Broken,
}

/// The content of the lease object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    maloko: String,
    version: u32,
    /// Rises with every lease, and with every one that is broken.
    pub(crate) epoch: u64,
    /// Which lease it is: random.
    pub(crate) id: String,
    pub(crate) state: State,
    /// Rises with every version that the lease writes: the heartbeat.
    pub(crate) counter: u64,
    pub(crate) who: Who,
    /// The number of the journal's first piece; what stands before it is no longer used.
    pub(crate) journal_start: u64,
    /// Is there no stack? Either it was removed, or it is only being made. Otherwise a checkpoint that is not there was lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_stack: bool,
    /// The object whose name is the checkpoint's summary, as far as is known: it is taken away before the checkpoint is no longer
    /// all that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
    /// In milliseconds: how often the holder raises the counter, and how long others wait for that. Zero where an older version
    /// wrote it.
    #[serde(default)]
    beat: u64,
    #[serde(default)]
    patience: u64,
    /// A number of the journal that was free when this was written, as all after it were. While the stack is held, the
    /// holder may have used it since.
    pub(crate) journal_next: u64,
}

impl Record {
    pub(crate) fn held(
        id: String,
        who: Who,
        epoch: u64,
        (journal_start, journal_next): (u64, u64),
        timing: Timing,
    ) -> Self {
        let [beat, patience] =
            [timing.beat, timing.patience].map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        let (maloko, version) = (KIND.to_owned(), VERSION);
        Self {
            maloko,
            version,
            epoch,
            id,
            state: State::Held,
            counter: 0,
            who,
            journal_start,
            no_stack: false,
            summary: None,
            beat,
            patience,
            journal_next,
        }
    }

    /// How long this holder may be silent before a newcomer takes its place. `timing` is the newcomer's own.
    pub(crate) fn patience(&self, newcomer: Option<&RunAttempt>, timing: Timing) -> Duration {
        let [beat, patience] = [self.beat, self.patience].map(Duration::from_millis);
        if patience.is_zero() {
            return timing.patience;
        }
        self.who.holder().patience_of(newcomer, patience, beat)
    }

    pub(crate) fn is_held(&self) -> bool {
        self.state == State::Held
    }

    /// Was it given back, and with no journal left? One that was taken from its holder may have used numbers since this
    /// was written.
    pub(crate) fn is_idle(&self) -> bool {
        self.state == State::Free && self.journal_next == self.journal_start
    }

    pub(crate) fn encode(&self) -> Bytes {
        // Text and numbers can always be written.
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    fn decode(bytes: &[u8]) -> std::result::Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let Version { version } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if version > VERSION {
            return Err(format!(
                "it has format {version}, which this version of maloko does not know; use a newer one"
            ));
        }
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    /// Reads the lease object; `None` when there is none, which is so before the first lease.
    pub(crate) async fn read(bucket: &Bucket, key: &str) -> Result<Option<(Self, UpdateVersion)>> {
        let Some(VersionedObject { bytes, version }) = bucket.get(key).await? else { return Ok(None) };
        match Self::decode(&bytes) {
            Ok(record) => Ok(Some((record, version))),
            Err(why) => Err(bucket.damaged(
                key,
                &why,
                "make sure that nobody works on the stack, and remove that object: the next command makes it anew",
            )),
        }
    }
}
