//! Whether the lease is still ours: the lease object, renewed, and what is known of its loss.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use maloko_core::environment::Environment;
use maloko_core::error::{Error, Result};
use maloko_core::state::StackName;
use object_store::UpdateVersion;

use crate::object::bucket::Bucket;
use crate::object::keys::StackKeys;
use crate::object::open_store::{OpenStore, Timing};
use crate::object::record::{Record, State, Who};

/// How often the lease object is written when our own writes of it crossed.
const ATTEMPTS: u32 = 4;

/// Whether the lease is still ours, and until when.
pub(crate) struct LeaseState {
    pub(crate) stack: StackName,
    pub(crate) environment: Environment,
    pub(crate) timing: Timing,
    pub(crate) epoch: u64,
    pub(crate) id: String,
    keys: StackKeys,
    bucket: Bucket,
    held: futures::lock::Mutex<HeldRecord>,
    /// When the last successful renewal was sent, by our own measure.
    renewed: Mutex<Duration>,
    /// Why it was lost.
    lost: Mutex<Option<Arc<str>>>,
}

struct HeldRecord {
    record: Record,
    version: UpdateVersion,
}

impl LeaseState {
    pub(crate) fn new(
        store: &OpenStore,
        stack: &StackName,
        keys: StackKeys,
        bucket: Bucket,
        (record, version, asked): (Record, UpdateVersion, Duration),
    ) -> Self {
        Self {
            stack: stack.clone(),
            environment: store.environment.clone(),
            timing: store.timing,
            epoch: record.epoch,
            id: record.id.clone(),
            keys,
            bucket,
            held: futures::lock::Mutex::new(HeldRecord { record, version }),
            renewed: Mutex::new(asked),
            lost: Mutex::new(None),
        }
    }

    pub(crate) fn bucket(&self) -> &Bucket {
        &self.bucket
    }

    pub(crate) fn keys(&self) -> &StackKeys {
        &self.keys
    }

    /// Who holds it: this process.
    pub(crate) async fn who(&self) -> Who {
        self.held.lock().await.record.who.clone()
    }

    /// The number of the journal's first piece.
    pub(crate) async fn journal_start(&self) -> u64 {
        self.held.lock().await.record.journal_start
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Refuses when the lease was lost; renews it first when that has not come about for too long.
    pub(crate) async fn check(&self) -> Result<()> {
        if self.bucket.io().is_inherited() {
            return Err(Error::Locked("a process that was forked off a run cannot write to its stack".into()));
        }
        if let Some(why) = self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return Err(Error::Locked(why.to_string().into()));
        }
        if !self.bucket.is_conditional() {
            return self.confirm().await;
        }
        let renewed = *self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        if self.environment.clock.elapsed().saturating_sub(renewed) < self.timing.trust {
            return Ok(());
        }
        // Others may be about to take over: only the store can tell.
        self.renew().await
    }

    /// Asks the store whether the lease is still ours.
    pub(crate) async fn confirm(&self) -> Result<()> {
        match Record::read(&self.bucket, &self.keys.lease).await? {
            Some((record, _)) if record.id == self.id && record.is_held() => Ok(()),
            found => Err(self.lose(found.map(|(record, _)| record).as_ref(), None)),
        }
    }

    /// Raises the counter.
    pub(crate) async fn renew(&self) -> Result<()> {
        self.write(|_| {}).await
    }

    /// The journal begins at this number; what stands before it is no longer used.
    pub(crate) async fn begin_journal_at(&self, number: u64) -> Result<()> {
        self.write(|record| (record.journal_start, record.journal_next) = (number, number)).await
    }

    /// Notes whether there is a stack.
    pub(crate) async fn mark_stack(&self, there: bool) -> Result<()> {
        self.write(|record| record.no_stack = !there).await
    }

    /// Is it noted that there is no stack?
    pub(crate) async fn has_no_stack(&self) -> bool {
        self.held.lock().await.record.no_stack
    }

    /// Gives the lease back; `next` is the first number of the journal that was not used, and `summary` the name of the
    /// checkpoint's. With `start` the journal begins there from now on.
    pub(crate) async fn give_back(&self, start: Option<u64>, next: u64, summary: Option<&str>) -> Result<()> {
        self.write(|record| {
            record.summary = summary.map(str::to_owned);
            record.journal_start = start.unwrap_or(record.journal_start);
            (record.state, record.journal_next) = (State::Free, next);
        })
        .await
    }

    async fn write(&self, change: impl Fn(&mut Record) + Send) -> Result<()> {
        let mut held = self.held.lock().await;
        for _ in 0..ATTEMPTS {
            let mut next = held.record.clone();
            next.counter += 1;
            change(&mut next);
            let sent = self.environment.clock.elapsed();
            if let Some(version) = self.bucket.put_if(&self.keys.lease, next.encode(), held.version.clone()).await? {
                *held = HeldRecord { record: next, version };
                *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = sent;
                return Ok(());
            }
            match Record::read(&self.bucket, &self.keys.lease).await? {
                // An earlier write of our own, which we took for failed.
                Some((record, version)) if record.id == self.id && record.is_held() => {
                    *held = HeldRecord { record, version }
                }
                found => return Err(self.lose(found.map(|(record, _)| record).as_ref(), None)),
            }
        }
        Err(Error::Locked(
            format!("the lock on the stack '{}' cannot be renewed; nothing more is written", self.stack.stack()).into(),
        ))
    }

    /// The error for a write that met a fence, or what else another lease wrote.
    pub(crate) async fn lost_to(&self, fence: Option<Who>) -> Error {
        let found = Record::read(&self.bucket, &self.keys.lease).await.ok().flatten();
        self.lose(found.map(|(record, _)| record).as_ref(), fence.as_ref())
    }

    fn lose(&self, found: Option<&Record>, fence: Option<&Who>) -> Error {
        let stack = self.stack.stack();
        let how = match (found, fence) {
            (Some(record), _) if record.state == State::Broken => {
                format!("the lock on the stack '{stack}' was taken from this run by {}", record.who.holder())
            }
            (Some(record), _) if record.id != self.id => {
                format!("the stack '{stack}' was taken over by {}", record.who.holder())
            }
            (_, Some(who)) => format!("the stack '{stack}' was taken over by {}", who.holder()),
            (None, None) => format!("the lock on the stack '{stack}' was removed by hand"),
            (Some(_), None) => format!("the stack '{stack}' was written to by somebody without a lock"),
        };
        let why: Arc<str> = format!(
            "{how} while this run was going on, so nothing more is written. What was recorded before is in {}",
            self.bucket.place(&self.keys.journal)
        )
        .into();
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        Error::Locked(lost.get_or_insert(why).to_string().into())
    }
}
