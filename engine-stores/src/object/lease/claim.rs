//! Getting the sole right to write to a stack: at most one of those who try gets it, and one whose holder is gone is
//! taken over.
//!
//! No clock of another machine is ever believed. A holder raises a counter every few seconds; an observer who sees it
//! unchanged for as long as the holder said, by its own measure of time, takes over; a later attempt at the same work
//! does so sooner. Taking over is a conditional write of
//! the lease object, and then everything that the former holder could still write to is changed under its hands: a fence
//! stands at the journal's next number, and checkpoint and seal get another version.

use std::time::Duration;

use bytes::Bytes;
use maloko_core::error::{Error, Result};
use maloko_core::state::{Holder, StackName, lock_file};
use object_store::UpdateVersion;

use crate::object::batch;
use crate::object::keys::StackKeys;
use crate::object::lease::fence::shut_out;
use crate::object::lease::{ObjectLease, WonLease};
use crate::object::locks;
use crate::object::open_store::OpenStore;
use crate::object::record::{Record, State, Who};

/// How often a lease is tried for when others come in between.
const ATTEMPTS: u32 = 8;
const BACK_OFF: Duration = Duration::from_millis(200);

/// What an observer saw of a lease.
enum ObservedLease {
    /// Nobody holds it.
    Free(Option<(Record, UpdateVersion)>),
    /// Its holder is gone.
    Stale(Record, UpdateVersion),
    /// Its holder works.
    Alive(Holder),
}

/// Takes the lease of a stack, or says who holds it. `makes`: it is for making the stack.
pub(crate) async fn take(store: &OpenStore, stack: &StackName, operation: &str, makes: bool) -> Result<ObjectLease> {
    let keys = StackKeys::new(stack);
    let who = Who::of(store.environment.as_holder(operation));
    let id = store.environment.new_uuid()?.to_string();
    let mut busy = None;
    for attempt in 1..=ATTEMPTS {
        let former = match observe(store, stack, &keys).await? {
            ObservedLease::Alive(holder) => return Err(locks::held(stack, &holder)),
            ObservedLease::Free(former) => former,
            ObservedLease::Stale(record, version) => Some((record, version)),
        };
        match claim(store, stack, &keys, (&id, &who), former, makes).await? {
            Claim::Won(taken) => return ObjectLease::begin(store, stack, keys, *taken),
            Claim::Lost => {}
            Claim::Both(holder) => busy = Some(holder),
        }
        if busy.is_some() {
            // Each of several that saw each other goes away for a time of its own.
            store.environment.clock.wait(jitter(store, attempt)?).await;
        }
    }
    Err(match busy {
        Some(holder) => locks::held(stack, &holder),
        None => Error::Locked(format!(
            "others take and release the lock on the stack '{}' all the time; run the command again when that is over",
            stack.stack()
        ).into()),
    })
}

fn jitter(store: &OpenStore, attempt: u32) -> Result<Duration> {
    let mut random = [0_u8; 2];
    store.environment.entropy.fill(&mut random)?;
    let share = f64::from(u16::from_le_bytes(random)) / f64::from(u16::MAX);
    Ok((BACK_OFF * attempt).mul_f64(0.5 + share))
}

/// Looks at the lease; watches one that is held until its holder shows that it lives, or the patience is over.
async fn observe(store: &OpenStore, stack: &StackName, keys: &StackKeys) -> Result<ObservedLease> {
    let bucket = &store.bucket;
    let clock = &store.environment.clock;
    let Some((first, version)) = Record::read(bucket, &keys.lease).await? else { return Ok(ObservedLease::Free(None)) };
    if !first.is_held() {
        return Ok(ObservedLease::Free(Some((first, version))));
    }
    let patience = first.patience(store.environment.identity.attempt.as_ref(), store.timing);
    let since = clock.elapsed();
    let mut told = false;
    while clock.elapsed().saturating_sub(since) < patience {
        clock.wait(store.timing.poll).await;
        match Record::read(bucket, &keys.lease).await? {
            None => return Ok(ObservedLease::Free(None)),
            Some((now, version)) if !now.is_held() => return Ok(ObservedLease::Free(Some((now, version)))),
            Some((now, _)) if (&now.id, now.counter) != (&first.id, first.counter) => {
                return Ok(ObservedLease::Alive(now.who.holder()));
            }
            Some(_) => {}
        }
        if !told && clock.elapsed().saturating_sub(since) > store.timing.beat {
            told = true;
            (store.notify)(&format!(
                "the stack '{}' is locked by {}, which has not been heard of; it is taken over when that stays so for {} s",
                stack.stack(),
                first.who.holder(),
                patience.as_secs()
            ));
        }
    }
    (store.notify)(&format!("{} is gone: taking the stack '{}' over", first.who.holder(), stack.stack()));
    Ok(ObservedLease::Stale(first, version))
}

enum Claim {
    Won(Box<WonLease>),
    /// Somebody else was faster.
    Lost,
    /// In a store that cannot refuse: somebody else tries too, and both go away.
    Both(Holder),
}

async fn claim(
    store: &OpenStore,
    stack: &StackName,
    keys: &StackKeys,
    (id, who): (&str, &Who),
    former: Option<(Record, UpdateVersion)>,
    makes: bool,
) -> Result<Claim> {
    let lock = locks::key(keys, id);
    let content = Bytes::from(lock_file::encode(&who.holder())?);
    store.bucket.put(&lock, content).await?;
    let claimed = claim_with_lock(store, stack, keys, (id, who), (former, makes), &lock).await;
    if !matches!(claimed, Ok(Claim::Won(_))) {
        // The reason why it was not won is what the user needs to know.
        drop(store.bucket.delete(&lock).await);
    }
    claimed
}

async fn claim_with_lock(
    store: &OpenStore,
    stack: &StackName,
    keys: &StackKeys,
    (id, who): (&str, &Who),
    (former, makes): (Option<(Record, UpdateVersion)>, bool),
    lock: &str,
) -> Result<Claim> {
    let bucket = store.bucket_with_conditions(&keys.probe(id)).await?;
    let others = locks::others(&bucket, keys, Some(lock)).await?;
    let (ours, foreign): (Vec<_>, Vec<_>) = others.into_iter().partition(|lock| lock.holder.maloko);
    if !foreign.is_empty() {
        return Err(locks::foreign(&bucket, stack, &foreign));
    }
    // That of the former holder may be left, when it was killed or left a journal.
    let former_lock = former.as_ref().map(|(record, _)| locks::key(keys, &record.id));
    if !bucket.is_conditional()
        && let Some(rival) = ours.iter().find(|lock| Some(&lock.key) != former_lock.as_ref())
    {
        return Ok(Claim::Both(rival.holder.clone()));
    }
    let (epoch, start, next) = match &former {
        Some((record, _)) => (record.epoch, record.journal_start, record.journal_next),
        None => {
            let (epoch, start) = batch::found_without_lease(&bucket, keys).await?;
            (epoch, start, start)
        }
    };
    let mut record = Record::held(id.to_owned(), who.clone(), epoch + 1, (start, next), store.timing);
    record.no_stack = former.as_ref().map_or(makes, |(former, _)| former.no_stack);
    record.summary = former.as_ref().and_then(|(former, _)| former.summary.clone());
    let asked = store.environment.clock.elapsed();
    let written = match &former {
        Some((_, version)) => bucket.put_if(&keys.lease, record.encode(), version.clone()).await?,
        None => bucket.put_new(&keys.lease, record.encode()).await?,
    };
    let Some(version) = written else { return Ok(Claim::Lost) };
    let mut taken = WonLease { bucket, record, version, asked, next, lock: lock.to_owned() };
    if !former.as_ref().is_some_and(|(record, _)| record.state == State::Free) {
        taken.next = shut_out(&taken.bucket, keys, &taken.record).await?;
    }
    // Other locks of maloko are those of runs that were killed, and of those who have just lost.
    let stale: Vec<String> = ours.into_iter().map(|lock| lock.key).collect();
    taken.bucket.delete_all(&stale).await?;
    Ok(Claim::Won(Box::new(taken)))
}
