//! The sole right to write to a stack. Each write is one statement that counts the lease's writes up: it takes effect
//! only if the lease is still this one and the number is the one before. So a write whose answer was lost is found out
//! about by reading the number back, and performing it once more can never do it twice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use maloko_core::error::{Error, Result};
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Holder, Lease, StackName, StoredStack};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tokio_postgres::Row;

use super::connection::{Link, Retries, Trouble, Value};
use super::{Store, column, no_stack, summary};

/// How often a holder shows that it lives, as a part of the patience that others have with it.
pub(super) const BEATS_PER_PATIENCE: u32 = 10;
/// How long a dropped lease waits for its return.
const LAST_WORD: Duration = Duration::from_secs(5);

/// Begins every write: finds the lease if it is still this one, and counts.
const HELD: &str = "
    WITH held AS (
        UPDATE {s}.leases SET writes = $3 WHERE stack = $1 AND epoch = $2 AND holder = $4 AND writes = $3 - 1 RETURNING stack
    )";
const APPEND: &str = "
    INSERT INTO {s}.journal (stack, epoch, number, records) SELECT stack, $2, $3, $5 FROM held RETURNING 1";
/// Rows behind the cut go, the one that it goes through is shortened.
const CUT: &str = ",
    sized AS (
        SELECT j.epoch, j.number, octet_length(j.records) AS size,
            sum(octet_length(j.records)) OVER (ORDER BY j.epoch, j.number) AS upto
        FROM {s}.journal j JOIN held ON held.stack = j.stack
    ), gone AS (
        DELETE FROM {s}.journal j USING sized z
        WHERE j.stack = $1 AND j.epoch = z.epoch AND j.number = z.number AND z.upto - z.size >= $5
    ), shortened AS (
        UPDATE {s}.journal j SET records = substring(j.records FROM 1 FOR ($5 - (z.upto - z.size))::int) FROM sized z
        WHERE j.stack = $1 AND j.epoch = z.epoch AND j.number = z.number AND z.upto > $5 AND z.upto - z.size < $5
    )
    SELECT 1 FROM held";
const REPLACE: &str = ",
    moved AS (
        UPDATE {s}.stacks s SET current = s.current + 1 FROM held WHERE s.id = held.stack RETURNING s.id, s.current
    ), dropped AS (
        DELETE FROM {s}.checkpoints c USING moved m WHERE c.stack = m.id AND c.number < m.current - $6
    )
    INSERT INTO {s}.checkpoints (stack, number, content, summary) SELECT id, current, $5, $7 FROM moved RETURNING 1";
const SEAL: &str = "
    UPDATE {s}.stacks s SET seal = $5 FROM held WHERE s.id = held.stack RETURNING 1";
const TAGS: &str = "
    UPDATE {s}.stacks s SET tags = $5 FROM held WHERE s.id = held.stack RETURNING 1";
const REMOVE_JOURNAL: &str = ",
    gone AS (DELETE FROM {s}.journal j USING held WHERE j.stack = held.stack)
    SELECT 1 FROM held";
const SET_ASIDE: &str = ",
    gone AS (DELETE FROM {s}.journal j USING held WHERE j.stack = held.stack RETURNING j.epoch, j.number, j.records)
    INSERT INTO {s}.asides (project, name, epoch, number, records)
    SELECT s.project, s.name, $2, $3,
        coalesce((SELECT string_agg(g.records, ''::bytea ORDER BY g.epoch, g.number) FROM gone g), ''::bytea)
    FROM {s}.stacks s JOIN held ON held.stack = s.id RETURNING 1";
/// Here the lease goes with the stack, so there is nothing to count.
const REMOVE: &str = "
    WITH held AS (
        SELECT stack FROM {s}.leases WHERE stack = $1 AND epoch = $2 AND holder = $3 FOR UPDATE
    ), kept AS (
        INSERT INTO {s}.removed (project, name, checkpoint)
        SELECT s.project, s.name, c.content FROM {s}.stacks s JOIN held ON held.stack = s.id
            JOIN {s}.checkpoints c ON c.stack = s.id AND c.number = s.current
        ON CONFLICT (project, name) DO UPDATE SET checkpoint = excluded.checkpoint
    )
    DELETE FROM {s}.stacks s USING held WHERE s.id = held.stack RETURNING 1";
const NUMBER: &str = "SELECT writes FROM {s}.leases WHERE stack = $1 AND epoch = $2 AND holder = $3";
/// After it, no write takes effect any more that was sent before it, however late it arrives.
const SKIP: &str = "
    UPDATE {s}.leases SET writes = writes + 1 WHERE stack = $1 AND epoch = $2 AND holder = $3 RETURNING writes";
const BEAT: &str = "UPDATE {s}.leases SET beat = beat + 1 WHERE stack = $1 AND epoch = $2 AND holder = $3 RETURNING 1";
const RELEASE: &str = "UPDATE {s}.leases SET holder = NULL WHERE stack = $1 AND epoch = $2 AND holder = $3 RETURNING 1";
const LOAD: &str = "
    SELECT coalesce(c.content, ''::bytea), s.seal,
        (SELECT string_agg(j.records, ''::bytea ORDER BY j.epoch, j.number) FROM {s}.journal j WHERE j.stack = s.id)
    FROM {s}.stacks s LEFT JOIN {s}.checkpoints c ON c.stack = s.id AND c.number = s.current WHERE s.id = $1";

/// Who wants which lease.
pub(super) struct LeaseRequest {
    pub(super) stack: StackName,
    /// Random text: this lease and no other.
    pub(super) token: String,
    pub(super) holder: Holder,
}

/// A lease.
pub(super) struct PostgresLease {
    held: Arc<HeldLease>,
    heart: StdMutex<Option<AbortHandle>>,
    returned: AtomicBool,
}

struct HeldLease {
    store: Arc<Store>,
    stack: StackName,
    token: String,
    id: i64,
    epoch: i64,
    writes: Mutex<Writes>,
}

/// What is known of the writes of a lease.
#[derive(Default)]
struct Writes {
    /// The number of the last one that is known to have taken effect.
    last: i64,
    /// Was another one sent, and never answered for? It may have taken effect, or may still do so, however late.
    doubtful: bool,
}

impl PostgresLease {
    pub(super) fn new(store: Arc<Store>, request: LeaseRequest, id: i64, epoch: i64) -> Self {
        let LeaseRequest { stack, token, .. } = request;
        let held = HeldLease { store, stack, token, id, epoch, writes: Mutex::default() };
        Self { held: Arc::new(held), heart: StdMutex::new(None), returned: AtomicBool::new(false) }
    }

    /// Shows that the holder lives, from now on, over a connection of its own: a large write must not silence it.
    pub(super) fn begin_to_beat(&self) {
        let held = Arc::clone(&self.held);
        let pause = held.store.link.address.patience / BEATS_PER_PATIENCE;
        let heart = self.held.store.threads.start(async move {
            sleep(pause).await;
            let shared = &held.store.link;
            let Ok(link) = Link::new(Arc::clone(&shared.address), Arc::clone(&shared.silence)) else { return };
            let sql = held.store.sql(BEAT);
            loop {
                // A lost connection is made again by the next beat; a lost lease shows at the next write.
                if matches!(link.once(&sql, &held.own(), false).await, Ok(rows) if rows.is_empty()) {
                    return;
                }
                sleep(pause).await;
            }
        });
        *self.heart.lock().unwrap_or_else(PoisonError::into_inner) = heart;
    }

    async fn write(&self, statement: &'static str, values: Vec<Value>) -> Result<()> {
        if self.returned.load(Ordering::SeqCst) {
            return Err(Error::Locked("the lock on the stack was given back already".into()));
        }
        let held = Arc::clone(&self.held);
        self.held.store.threads.run(async move { held.write(statement, values).await.map(drop) }).await
    }

    fn stop_beating(&self) {
        if let Some(heart) = self.heart.lock().unwrap_or_else(PoisonError::into_inner).take() {
            heart.abort();
        }
    }
}

impl HeldLease {
    /// The values that name the lease.
    fn own(&self) -> Vec<Value> {
        vec![self.id.into(), self.epoch.into(), self.token.as_str().into()]
    }

    fn lost(&self) -> Error {
        Error::Locked(message![
            format!("the lock on the stack '{}' in {} was lost (by ", self.stack.stack(), self.store.shown()),
            Command::new("cancel"),
            ", or because this process was silent for too long), so nothing more is written. What was recorded before \
             is safe; the next run goes on from there"
        ])
    }

    /// Performs a write, exactly once; gives its number.
    async fn write(&self, statement: &str, values: Vec<Value>) -> Result<i64> {
        let mut writes = self.writes.lock().await;
        if writes.doubtful {
            // Otherwise the number could not tell this write from that one.
            let rows = self.ask(SKIP, self.own()).await?;
            let last = rows.first().map(|row| column(row, 0)).transpose()?.ok_or_else(|| self.lost())?;
            *writes = Writes { last, doubtful: false };
        }
        let number = writes.last + 1;
        writes.doubtful = true;
        let sql = self.store.sql(&format!("{HELD}{statement}"));
        let mut all: Vec<Value> = vec![self.id.into(), self.epoch.into(), number.into(), self.token.as_str().into()];
        all.extend(values);
        let mut retries = Retries::begin();
        loop {
            match self.store.link.once(&sql, &all, false).await {
                Ok(rows) if !rows.is_empty() => break,
                // Not our lease any more; or an earlier attempt has taken effect after all.
                Ok(_) => {}
                Err(Trouble::Refused(error)) => return Err(error),
                Err(Trouble::Absent) => return Err(self.lost()),
                Err(Trouble::Lost(why)) => retries.again(&why).await.map_err(|why| self.store.link.unknown(&why))?,
            }
            match self.number().await? {
                Some(reached) if reached == number => break,
                Some(reached) if reached == number - 1 && retries.happened() => {}
                _ => return Err(self.lost()),
            }
        }
        *writes = Writes { last: number, doubtful: false };
        Ok(number)
    }

    /// The number of the last write that took effect; `None` when the lease is lost.
    async fn number(&self) -> Result<Option<i64>> {
        self.ask(NUMBER, self.own()).await?.first().map(|row| column(row, 0)).transpose()
    }

    /// Reads, or does what may as well be done twice.
    async fn ask(&self, statement: &str, values: Vec<Value>) -> Result<Vec<Row>> {
        match self.store.link.repeat(&self.store.sql(statement), &values, false).await {
            Ok(rows) => Ok(rows),
            Err(Trouble::Refused(error)) => Err(error),
            Err(Trouble::Absent) => Err(no_stack(&self.stack)),
            Err(Trouble::Lost(why)) => Err(self.store.link.unknown(&why)),
        }
    }

    async fn remove(&self) -> Result<()> {
        let mut retries = Retries::begin();
        let sql = self.store.sql(REMOVE);
        loop {
            match self.store.link.once(&sql, &self.own(), false).await {
                Ok(rows) if !rows.is_empty() => return Ok(()),
                Ok(_) => break,
                Err(Trouble::Refused(error)) => return Err(error),
                Err(Trouble::Absent) => return Err(no_stack(&self.stack)),
                Err(Trouble::Lost(why)) => retries.again(&why).await.map_err(|why| self.store.link.unknown(&why))?,
            }
        }
        let there = "SELECT 1 FROM {s}.stacks WHERE id = $1";
        if !self.ask(there, vec![self.id.into()]).await?.is_empty() {
            return Err(self.lost());
        }
        // While the lease is ours, nobody else removes the stack: an attempt whose answer was lost has done it.
        if retries.happened() { Ok(()) } else { Err(no_stack(&self.stack)) }
    }
}

#[async_trait]
impl Lease for PostgresLease {
    fn epoch(&self) -> u64 {
        self.held.epoch.unsigned_abs()
    }

    async fn load(&self) -> Result<StoredStack> {
        let held = Arc::clone(&self.held);
        self.held
            .store
            .threads
            .run(async move {
                let rows = held.ask(LOAD, vec![held.id.into()]).await?;
                let row = rows.first().ok_or_else(|| no_stack(&held.stack))?;
                Ok(StoredStack {
                    checkpoint: column(row, 0)?,
                    checkpoint_place: held.store.place("the checkpoint", &held.stack),
                    journal: column(row, 2)?,
                    journal_place: held.store.place("the journal", &held.stack),
                    seal: column(row, 1)?,
                })
            })
            .await
    }

    async fn reserve(&self, _bytes: u64) -> Result<()> {
        // A database that runs out of room refuses one write and takes the next.
        Ok(())
    }

    async fn append(&self, bytes: &[u8]) -> Result<()> {
        self.write(APPEND, vec![bytes.into()]).await
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        self.write(CUT, vec![i64::try_from(length).unwrap_or(i64::MAX).into()]).await
    }

    async fn replace(&self, checkpoint: &[u8], keep: usize) -> Result<()> {
        let keep = i64::try_from(keep).unwrap_or(i64::MAX / 2);
        self.write(REPLACE, vec![checkpoint.into(), keep.into(), summary(checkpoint)]).await
    }

    async fn write_seal(&self, seal: &[u8]) -> Result<()> {
        self.write(SEAL, vec![seal.into()]).await
    }

    async fn write_tags(&self, tags: &[u8]) -> Result<()> {
        self.write(TAGS, vec![tags.into()]).await
    }

    async fn remove_journal(&self) -> Result<()> {
        self.write(REMOVE_JOURNAL, Vec::new()).await
    }

    async fn set_journal_aside(&self) -> Result<String> {
        if self.returned.load(Ordering::SeqCst) {
            return Err(Error::Locked("the lock on the stack was given back already".into()));
        }
        let held = Arc::clone(&self.held);
        let number = self.held.store.threads.run(async move { held.write(SET_ASIDE, Vec::new()).await }).await?;
        let schema = &self.held.store.link.address.schema;
        let what = format!("the row {schema}.asides ({}, {number})", self.held.epoch);
        Ok(self.held.store.place(&what, &self.held.stack))
    }

    async fn remove_stack(&self) -> Result<()> {
        if self.returned.load(Ordering::SeqCst) {
            return Err(Error::Locked("the lock on the stack was given back already".into()));
        }
        let held = Arc::clone(&self.held);
        self.held.store.threads.run(async move { held.remove().await }).await
    }

    async fn release(&self) -> Result<()> {
        self.stop_beating();
        if self.returned.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let held = Arc::clone(&self.held);
        // One that was lost in the meantime is no longer ours to give back; one whose stack was removed went with it.
        self.held.store.threads.run(async move { held.ask(RELEASE, held.own()).await.map(drop) }).await
    }
}

impl Drop for PostgresLease {
    fn drop(&mut self) {
        self.stop_beating();
        if self.returned.swap(true, Ordering::SeqCst) {
            return;
        }
        let held = Arc::clone(&self.held);
        let (done, waiting) = mpsc::channel::<()>();
        let started = self.held.store.threads.start(async move {
            // Nobody is left to be told about an error; others take the lease over when it stays silent.
            drop(held.ask(RELEASE, held.own()).await);
            drop(done);
        });
        if started.is_some() {
            let _ = waiting.recv_timeout(LAST_WORD);
        }
    }
}
