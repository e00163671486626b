//! Stacks in a PostgreSQL database.
//!
//! The tables are described in [`schema`]. Whatever changes a stack is one statement, and so one transaction of the
//! server, that first takes the row of the lease with the holder's epoch and token: a holder that lost its lease
//! changes nothing, whatever it still believes. No clock, neither the server's nor a machine's, decides anything.

mod address;
mod connection;
mod lease;
mod passfile;
mod schema;
mod tls;
mod watch;

use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::environment::Environment;
use maloko_core::error::{Error, Result};
use maloko_core::holder::RunAttempt;
use maloko_core::state::{
    Backend, Generation, Holder, Lease, ListedStack, StackFilter, StackName, StoredEntry, StoredStack, Summary,
};
use tokio_postgres::Row;

use crate::World;
use crate::slow_notice::SlowNotice;

use address::Address;
use connection::{Link, Threads, Trouble, Value};
use lease::PostgresLease;

pub use address::{has_password, without_password};

/// A store in a database.
pub struct PostgresBackend {
    store: Arc<Store>,
    environment: Environment,
}

/// What a backend and its leases share.
struct Store {
    threads: Threads,
    link: Arc<Link>,
    notify: crate::Notify,
}

impl PostgresBackend {
    /// The store at a `postgres://` (or `postgresql://`) address. Nothing is sent before it is used.
    pub fn open(url: &str, world: &World) -> Result<Self> {
        let address = Arc::new(Address::parse(url, world)?);
        let notify = Arc::clone(&world.notify);
        let silence = Arc::new(SlowNotice::new(&address.shown, Arc::clone(&notify)));
        let store = Store { threads: Threads::new()?, link: Arc::new(Link::new(address, silence)?), notify };
        Ok(Self { store: Arc::new(store), environment: world.environment.clone() })
    }

    /// Reads, or does what may as well be done twice; `None` when no tables were ever made.
    async fn ask(&self, sql: &str, values: Vec<Value>) -> Result<Option<Vec<Row>>> {
        self.store.perform(sql, values, false).await
    }

    /// Random text that nobody else has.
    fn token(&self) -> Result<String> {
        Ok(self.environment.new_uuid()?.to_string())
    }
}

impl Store {
    fn shown(&self) -> &str {
        &self.link.address.shown
    }

    /// The statement with the schema's name in it.
    fn sql(&self, statement: &str) -> String {
        statement.replace("{s}", &self.link.address.schema)
    }

    /// Performs a statement that may as well be performed twice.
    async fn perform(&self, sql: &str, values: Vec<Value>, make: bool) -> Result<Option<Vec<Row>>> {
        let (link, sql) = (Arc::clone(&self.link), self.sql(sql));
        let work = async move {
            match link.repeat(&sql, &values, make).await {
                Ok(rows) => Ok(Some(rows)),
                Err(Trouble::Absent) => Ok(None),
                Err(Trouble::Refused(error)) => Err(error),
                Err(Trouble::Lost(why)) => Err(link.unknown(&why)),
            }
        };
        self.threads.run(work).await
    }

    fn place(&self, what: &str, stack: &StackName) -> String {
        format!("{what} of {stack} in {}", self.shown())
    }
}

fn no_stack(stack: &StackName) -> Error {
    Error::NoStack { stack: stack.stack().to_owned() }
}

/// A column of an answer; the statements say what their columns are.
fn column<'r, T: tokio_postgres::types::FromSql<'r>>(row: &'r Row, index: usize) -> Result<T> {
    row.try_get(index).map_err(|error| {
        Error::BadState(format!("the database answered with something that was not asked for: {error}").into())
    })
}

/// A checkpoint's summary, as a statement takes it.
fn summary(checkpoint: &[u8]) -> Value {
    Summary::of(checkpoint).map(|summary| summary.to_string()).unwrap_or_default().as_str().into()
}

/// The two values that name a stack in a statement.
fn named(stack: &StackName) -> Vec<Value> {
    vec![stack.project().into(), stack.stack().into()]
}

/// A moment, as the history's tables have it.
fn moment(at: i128) -> Result<i64> {
    i64::try_from(at).map_err(|_| {
        Error::BadState(format!("an entry of the history cannot be kept: {at} nanoseconds are no time").into())
    })
}

/// A row that begins with the columns `pid, user_name, host, since, operation, run, attempt`.
fn holder(row: &Row) -> Result<Holder> {
    Ok(Holder {
        pid: u32::try_from(column::<i64>(row, 0)?).unwrap_or_default(),
        user: column(row, 1)?,
        host: column(row, 2)?,
        since: column(row, 3)?,
        operation: column(row, 4)?,
        attempt: Some(RunAttempt { run: column(row, 5)?, number: column::<i64>(row, 6)?.unsigned_abs() })
            .filter(|attempt| !attempt.run.is_empty()),
        maloko: true,
    })
}

const CREATE: &str = "
    WITH made AS (
        INSERT INTO {s}.stacks (project, name, made_by, current) VALUES ($1, $2, $3, 0)
        ON CONFLICT (project, name) DO NOTHING RETURNING id
    ), lease AS (
        INSERT INTO {s}.leases (stack) SELECT id FROM made
    )
    INSERT INTO {s}.checkpoints (stack, number, content, summary) SELECT id, 0, $4, $5 FROM made RETURNING 1";
const WHO_MADE: &str = "SELECT made_by FROM {s}.stacks WHERE project = $1 AND name = $2";
const LIST: &str = "SELECT project, name FROM {s}.stacks";
/// A checkpoint is all that counts where no journal is. An older version leaves the summary empty, and so does what cannot be
/// summed up.
const SURVEY: &str = "
    SELECT s.project, s.name, l.holder IS NOT NULL,
        CASE WHEN EXISTS (SELECT 1 FROM {s}.journal j WHERE j.stack = s.id) THEN '' ELSE coalesce(c.summary, '') END,
        CASE WHEN $3 = 1 THEN s.tags END
    FROM {s}.stacks s LEFT JOIN {s}.checkpoints c ON c.stack = s.id AND c.number = s.current
        LEFT JOIN {s}.leases l ON l.stack = s.id
    WHERE ($1 = '' OR s.project = $1) AND s.name >= $2 AND left(s.name, length($2)) = $2";
/// One statement sees one moment: checkpoint, seal and journal belong together. Of a checkpoint that was lost there are no
/// bytes at all, which nobody can take for a state.
const LOAD: &str = "
    SELECT coalesce(c.content, ''::bytea), s.seal,
        (SELECT string_agg(j.records, ''::bytea ORDER BY j.epoch, j.number) FROM {s}.journal j WHERE j.stack = s.id)
    FROM {s}.stacks s LEFT JOIN {s}.checkpoints c ON c.stack = s.id AND c.number = s.current
    WHERE s.project = $1 AND s.name = $2";
const HOLDERS: &str = "
    SELECT l.pid, l.user_name, l.host, l.since, l.operation, l.run, l.attempt FROM {s}.leases l JOIN {s}.stacks s ON s.id = l.stack
    WHERE s.project = $1 AND s.name = $2 AND l.holder IS NOT NULL";
const BREAK: &str = "
    UPDATE {s}.leases l SET holder = NULL, epoch = nextval('{s}.epochs') FROM {s}.stacks s
    WHERE s.id = l.stack AND s.project = $1 AND s.name = $2 AND l.holder IS NOT NULL
    RETURNING l.pid, l.user_name, l.host, l.since, l.operation, l.run, l.attempt";
const EXISTS: &str = "SELECT id FROM {s}.stacks WHERE project = $1 AND name = $2";
const ADD_HISTORY: &str = "
    INSERT INTO {s}.history (stack, at, token, entry) SELECT id, $3, $4, $5 FROM {s}.stacks WHERE project = $1 AND name = $2
    ON CONFLICT (stack, at, token) DO UPDATE SET entry = excluded.entry RETURNING 1";
const TRIM_HISTORY: &str = "
    DELETE FROM {s}.history h USING {s}.stacks s WHERE s.project = $1 AND s.name = $2 AND h.stack = s.id AND (h.at, h.token) < (
        SELECT k.at, k.token FROM {s}.history k WHERE k.stack = s.id ORDER BY k.at DESC, k.token DESC OFFSET $3 LIMIT 1)";
const HISTORY: &str = "
    SELECT h.at, h.entry FROM {s}.history h JOIN {s}.stacks s ON s.id = h.stack WHERE s.project = $1 AND s.name = $2
    ORDER BY h.at DESC, h.token DESC LIMIT $3";
const MOVE_HISTORY: &str = "
    UPDATE {s}.history h SET stack = t.id FROM {s}.stacks f, {s}.stacks t
    WHERE h.stack = f.id AND f.project = $1 AND f.name = $2 AND t.project = $3 AND t.name = $4";
const TAGS: &str = "SELECT tags FROM {s}.stacks WHERE project = $1 AND name = $2";
const GENERATIONS: &str = "
    SELECT c.number FROM {s}.checkpoints c JOIN {s}.stacks s ON s.id = c.stack
    WHERE s.project = $1 AND s.name = $2 AND c.number < s.current ORDER BY c.number DESC";
const GENERATION: &str = "
    SELECT c.content FROM {s}.checkpoints c JOIN {s}.stacks s ON s.id = c.stack
    WHERE s.project = $1 AND s.name = $2 AND c.number = $3 AND c.number < s.current";

#[async_trait]
impl Backend for PostgresBackend {
    fn url(&self) -> String {
        self.store.shown().to_owned()
    }

    async fn list(&self) -> Result<Vec<StackName>> {
        let rows = self.ask(LIST, Vec::new()).await?.unwrap_or_default();
        let mut stacks = Vec::new();
        for row in &rows {
            // What this version cannot name was not made by it.
            stacks.extend(StackName::new(column(row, 0)?, column(row, 1)?));
        }
        stacks.sort();
        Ok(stacks)
    }

    async fn survey(&self, wanted: &StackFilter) -> Result<Vec<ListedStack>> {
        let project = wanted.project.as_deref().unwrap_or_default();
        let values = vec![project.into(), wanted.prefix.as_str().into(), i64::from(wanted.tags).into()];
        let mut stacks = Vec::new();
        for row in &self.ask(SURVEY, values).await?.unwrap_or_default() {
            // What this version cannot name was not made by it.
            let Ok(name) = StackName::new(column(row, 0)?, column(row, 1)?) else { continue };
            let summary = Summary::parse(column(row, 3)?);
            stacks.push(ListedStack { name, summary, locked: column(row, 2)?, tags: column(row, 4)? });
        }
        stacks.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(stacks)
    }

    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()> {
        let token = self.token()?;
        let mut values = named(stack);
        values.extend([token.as_str().into(), checkpoint.into(), summary(checkpoint)]);
        let made = self.store.perform(CREATE, values, true).await?.unwrap_or_default();
        if !made.is_empty() {
            return Ok(());
        }
        // After a lost connection, the one that is there may be the one that this call made.
        let rows = self.ask(WHO_MADE, named(stack)).await?.unwrap_or_default();
        match rows.first().map(|row| column::<String>(row, 0)).transpose()? {
            Some(maker) if maker == token => Ok(()),
            _ => Err(Error::Configuration(format!("there is a stack '{stack}' already in {}", self.url()).into())),
        }
    }

    async fn load(&self, stack: &StackName) -> Result<StoredStack> {
        let rows = self.ask(LOAD, named(stack)).await?.unwrap_or_default();
        let row = rows.first().ok_or_else(|| no_stack(stack))?;
        Ok(StoredStack {
            checkpoint: column(row, 0)?,
            checkpoint_place: self.store.place("the checkpoint", stack),
            journal: column(row, 2)?,
            journal_place: self.store.place("the journal", stack),
            seal: column(row, 1)?,
        })
    }

    async fn lease(&self, stack: &StackName, operation: &str) -> Result<Arc<dyn Lease>> {
        let request = lease::LeaseRequest {
            stack: stack.clone(),
            token: self.token()?,
            holder: self.environment.as_holder(operation),
        };
        let taken = watch::take(Arc::clone(&self.store), request);
        let lease: Arc<PostgresLease> = Arc::new(self.store.threads.run(taken).await?);
        lease.begin_to_beat();
        Ok(lease)
    }

    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>> {
        self.ask(HOLDERS, named(stack)).await?.unwrap_or_default().iter().map(holder).collect()
    }

    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>> {
        self.ask(BREAK, named(stack)).await?.unwrap_or_default().iter().map(holder).collect()
    }

    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8], keep: usize) -> Result<()> {
        let mut values = named(stack);
        values.extend([moment(at)?.into(), self.token()?.as_str().into(), entry.into()]);
        if self.ask(ADD_HISTORY, values).await?.unwrap_or_default().is_empty() {
            return Err(no_stack(stack));
        }
        if keep > 0 {
            let mut values = named(stack);
            values.push(i64::try_from(keep - 1).unwrap_or(i64::MAX).into());
            self.ask(TRIM_HISTORY, values).await?;
        }
        Ok(())
    }

    async fn adopt_history(&self, stack: &StackName, entries: &[StoredEntry]) -> Result<()> {
        if self.ask(EXISTS, named(stack)).await?.unwrap_or_default().is_empty() {
            return Err(no_stack(stack));
        }
        for StoredEntry { at, entry, .. } in entries {
            let mut values = named(stack);
            // The same entry has the same key, so that one which is there already is not doubled.
            values.extend([moment(*at)?.into(), "adopted".into(), entry.as_slice().into()]);
            self.ask(ADD_HISTORY, values).await?;
        }
        Ok(())
    }

    async fn history(&self, stack: &StackName, newest: usize) -> Result<Vec<StoredEntry>> {
        let newest = if newest == 0 { i64::MAX } else { i64::try_from(newest).unwrap_or(i64::MAX) };
        let mut values = named(stack);
        values.push(newest.into());
        let rows = self.ask(HISTORY, values).await?.unwrap_or_default();
        if rows.is_empty() && self.ask(EXISTS, named(stack)).await?.unwrap_or_default().is_empty() {
            return Err(no_stack(stack));
        }
        let entry = |row: &Row| {
            let at: i64 = column(row, 0)?;
            let place = self.store.place(&format!("the history's entry {at}"), stack);
            Ok(StoredEntry { at: at.into(), place, entry: column(row, 1)? })
        };
        rows.iter().map(entry).collect()
    }

    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()> {
        let values = [named(from), named(to)].concat();
        self.ask(MOVE_HISTORY, values).await.map(drop)
    }

    async fn tags(&self, stack: &StackName) -> Result<Option<Vec<u8>>> {
        let rows = self.ask(TAGS, named(stack)).await?.unwrap_or_default();
        column(rows.first().ok_or_else(|| no_stack(stack))?, 0)
    }

    async fn generations(&self, stack: &StackName) -> Result<Vec<Generation>> {
        let rows = self.ask(GENERATIONS, named(stack)).await?.unwrap_or_default();
        let generation = |row: &Row| {
            let number: i64 = column(row, 0)?;
            let place = self.store.place(&format!("generation {number}"), stack);
            Ok(Generation { number: number.unsigned_abs(), place, is_last: false })
        };
        rows.iter().map(generation).collect()
    }

    async fn load_generation(&self, stack: &StackName, number: u64) -> Result<Vec<u8>> {
        let mut values = named(stack);
        values.push(i64::try_from(number).unwrap_or(i64::MAX).into());
        let rows = self.ask(GENERATION, values).await?.unwrap_or_default();
        match rows.first() {
            Some(row) => column(row, 0),
            None => Err(Error::BadState(
                format!("there is no generation {number} of the stack '{}' in {}", stack.stack(), self.url()).into(),
            )),
        }
    }
}
