//! Getting the sole right to write: at once where nobody has it, and from a holder that gives no sign of life.
//!
//! A holder counts a number up while it lives. Who wants the lease looks whether the number changes; if it stays the
//! same for as long as the holder said that it may, on the watcher's own monotonic clock, the watcher takes its place.
//! One statement does that, and only if the number is still the same: of several watchers one gets it.

use std::sync::Arc;
use std::time::Duration;

use maloko_core::error::{Error, Result};
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Holder, lock_file};
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;

use crate::backoff::doubling;

use super::connection::{Trouble, Value};
use super::lease::{BEATS_PER_PATIENCE, LeaseRequest, PostgresLease};
use super::{Store, column, holder, named, no_stack};

/// The watcher's first pause, and its longest: a holder at work shows itself soon.
const FIRST_LOOK: Duration = Duration::from_millis(30);
const LOOK: Duration = Duration::from_millis(500);
/// How often the lease is tried for, when others come first again and again.
const ATTEMPTS: usize = 5;

const LOOK_UP: &str = "
    SELECT l.pid, l.user_name, l.host, l.since, l.operation, l.run, l.attempt, l.stack, l.epoch, l.holder, l.writes, l.beat,
        l.patience
    FROM {s}.leases l JOIN {s}.stacks s ON s.id = l.stack WHERE s.project = $1 AND s.name = $2";
/// Makes the row of a lease anew that was lost. Epochs are counted elsewhere, so it is one that nobody has held.
const MAKE_ANEW: &str = "
    INSERT INTO {s}.leases (stack) SELECT id FROM {s}.stacks WHERE project = $1 AND name = $2 ON CONFLICT (stack) DO NOTHING";
/// Takes the lease as it was seen: whoever comes second finds another epoch.
const TAKE: &str = "
    UPDATE {s}.leases SET epoch = nextval('{s}.epochs'), holder = $5, writes = 0, beat = 0, patience = $6,
        pid = $7, user_name = $8, host = $9, operation = $10, since = $11, run = $13, attempt = $14
    WHERE stack = $1 AND epoch = $2 AND writes = $3 AND beat = $4 AND (holder IS NULL OR $12 = 1)
    RETURNING epoch";

/// A lease as it was found.
struct ObservedLease {
    holder: Holder,
    stack: i64,
    epoch: i64,
    token: Option<String>,
    writes: i64,
    beat: i64,
    patience: Duration,
}

impl ObservedLease {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            holder: holder(row)?,
            stack: column(row, 7)?,
            epoch: column(row, 8)?,
            token: column(row, 9)?,
            writes: column(row, 10)?,
            beat: column(row, 11)?,
            patience: Duration::from_millis(column::<i64>(row, 12)?.unsigned_abs()),
        })
    }

    /// Everything that a living holder changes.
    fn signs(&self) -> (i64, i64, i64) {
        (self.epoch, self.writes, self.beat)
    }
}

/// Gets the lease, or says who has it.
pub(super) async fn take(store: Arc<Store>, request: LeaseRequest) -> Result<PostgresLease> {
    for _ in 0..ATTEMPTS {
        let mut seen = look(&store, &request).await?;
        let silent = seen.token.is_some() && seen.token.as_deref() != Some(&request.token);
        if silent {
            seen = wait_for_silence(&store, &request, seen).await?;
        }
        if seen.token.as_deref() == Some(&request.token) {
            // An earlier attempt had taken effect, and its answer was lost.
            return Ok(PostgresLease::new(store, request, seen.stack, seen.epoch));
        }
        if let Some(epoch) = try_to_take(&store, &request, &seen).await? {
            return Ok(PostgresLease::new(store, request, seen.stack, epoch));
        }
    }
    let seen = look(&store, &request).await?;
    Err(locked(&request, &seen.holder))
}

async fn look(store: &Store, request: &LeaseRequest) -> Result<ObservedLease> {
    let mut rows = ask(store, request, LOOK_UP).await?;
    if rows.is_empty() {
        ask(store, request, MAKE_ANEW).await?;
        rows = ask(store, request, LOOK_UP).await?;
    }
    ObservedLease::read(rows.first().ok_or_else(|| no_stack(&request.stack))?)
}

/// Reads, or does what may as well be done twice.
async fn ask(store: &Store, request: &LeaseRequest, statement: &str) -> Result<Vec<Row>> {
    match store.link.repeat(&store.sql(statement), &named(&request.stack), false).await {
        Ok(rows) => Ok(rows),
        Err(Trouble::Absent) => Err(no_stack(&request.stack)),
        Err(Trouble::Refused(error)) => Err(error),
        Err(Trouble::Lost(why)) => Err(store.link.unknown(&why)),
    }
}

/// Waits until the holder has been silent for long enough; an error when it is alive.
async fn wait_for_silence(store: &Store, request: &LeaseRequest, first: ObservedLease) -> Result<ObservedLease> {
    let begun = Instant::now();
    let attempt = request.holder.attempt.as_ref();
    let patience = first.holder.patience_of(attempt, first.patience, first.patience / BEATS_PER_PATIENCE);
    let mut told = false;
    let mut pauses = doubling(FIRST_LOOK, LOOK);
    loop {
        sleep(pauses.next().unwrap_or(LOOK)).await;
        let now = look(store, request).await?;
        if now.token.is_none() || now.token.as_deref() == Some(&request.token) {
            return Ok(now);
        }
        if now.signs() != first.signs() {
            return Err(locked(request, &now.holder));
        }
        if begun.elapsed() >= patience {
            return Ok(now);
        }
        if !told && begun.elapsed() >= patience / 4 {
            told = true;
            (store.notify)(&format!(
                "the stack '{}' is locked by {}, which gives no sign of life; it is replaced if it stays silent for {} seconds",
                request.stack.stack(),
                first.holder,
                patience.as_secs()
            ));
        }
    }
}

async fn try_to_take(store: &Store, request: &LeaseRequest, seen: &ObservedLease) -> Result<Option<i64>> {
    let LeaseRequest { token, holder, .. } = request;
    let patience = i64::try_from(store.link.address.patience.as_millis()).unwrap_or(i64::MAX);
    let values: Vec<Value> = vec![
        seen.stack.into(),
        seen.epoch.into(),
        seen.writes.into(),
        seen.beat.into(),
        token.as_str().into(),
        patience.into(),
        i64::from(holder.pid).into(),
        holder.user.as_str().into(),
        holder.host.as_str().into(),
        holder.operation.as_str().into(),
        holder.since.as_str().into(),
        i64::from(seen.token.is_some()).into(),
        holder.attempt.as_ref().map_or("", |it| it.run.as_str()).into(),
        holder.attempt.as_ref().map_or(0, |it| i64::try_from(it.number).unwrap_or(i64::MAX)).into(),
    ];
    match store.link.once(&store.sql(TAKE), &values, false).await {
        Ok(rows) => rows.first().map(|row| column(row, 0)).transpose(),
        // The next look tells whether it took effect.
        Err(Trouble::Lost(_)) => Ok(None),
        Err(Trouble::Absent) => Err(no_stack(&request.stack)),
        Err(Trouble::Refused(error)) => Err(error),
    }
}

fn locked(request: &LeaseRequest, holder: &Holder) -> Error {
    let advice = message![
        "; a holder that has died is replaced by itself, and ",
        Command::new("cancel"),
        " replaces one that hangs"
    ];
    lock_file::locked(&request.stack, &[holder], advice)
}
