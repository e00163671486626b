//! One connection to the server: made when first needed, and again, for a bounded time, when it was lost.
//!
//! Everything runs on threads of this module's own, so that callers need no runtime, and a caller that stops waiting
//! does not leave half a request behind.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use backon::ExponentialBackoff;
use maloko_core::error::{Error, Result};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::schema::{self, SchemaFailure};
use crate::backoff::doubling;
use crate::slow_notice::SlowNotice;

/// How long a lost server is looked for.
const PATIENCE: Duration = Duration::from_secs(20);
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// How long an answer may take, and the least speed of a line that is worth waiting for, in bytes per second.
const ANSWER: Duration = Duration::from_secs(30);
const MIN_SPEED: usize = 50_000;
/// What to do when the server wants a password, or another one.
const PASSWORD: &str = "; set PGPASSWORD, or put the password into ~/.pgpass (mode 0600)";

/// How long something is tried again whose connection is lost: with growing pauses, and not for ever.
pub(super) struct Retries {
    begun: Instant,
    pauses: ExponentialBackoff,
    happened: bool,
}

impl Retries {
    pub(super) fn begin() -> Self {
        Self { begun: Instant::now(), pauses: doubling(FIRST_PAUSE, MAX_PAUSE), happened: false }
    }

    /// Was the connection lost since?
    pub(super) fn happened(&self) -> bool {
        self.happened
    }

    /// Waits before the next attempt; gives the reason back when there is to be none.
    pub(super) async fn again(&mut self, why: &str) -> std::result::Result<(), String> {
        let next = self.pauses.next().filter(|pause| self.begun.elapsed() + *pause <= PATIENCE);
        sleep(next.ok_or_else(|| why.to_owned())?).await;
        self.happened = true;
        Ok(())
    }
}

/// Will it pass by itself? The server starts, stops, or is full; or there is no answer that would be its own.
fn is_passing(error: &tokio_postgres::Error) -> bool {
    error
        .code()
        .is_none_or(|code| *code == SqlState::TOO_MANY_CONNECTIONS || matches!(code.code().get(..2), Some("08" | "57")))
}

/// The threads that connections live on.
pub(super) struct Threads {
    runtime: Option<Runtime>,
    process: u32,
}

impl Threads {
    pub(super) fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("maloko-postgres")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|source| Error::Io { context: "the thread for the database cannot be made".into(), source })?;
        Ok(Self { runtime: Some(runtime), process: std::process::id() })
    }

    fn runtime(&self) -> Result<&Runtime> {
        if self.process != std::process::id() {
            return Err(Error::Locked("a process that was forked off a run cannot use its connection".into()));
        }
        self.runtime.as_ref().ok_or_else(|| Error::Locked("the connection to the database is closed".into()))
    }

    /// Runs something to its end, whether or not the caller waits for it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        match self.runtime()?.spawn(work).await {
            Ok(result) => result,
            Err(error) => Err(Error::Io {
                context: "a request to the database was given up".into(),
                source: std::io::Error::other(error.to_string()),
            }),
        }
    }

    /// Starts something that ends by itself or when it is aborted.
    pub(super) fn start(&self, work: impl Future<Output = ()> + Send + 'static) -> Option<AbortHandle> {
        Some(self.runtime().ok()?.spawn(work).abort_handle())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        match self.runtime.take() {
            // Its threads are not in this process; there is nothing to stop.
            Some(runtime) if self.process != std::process::id() => std::mem::forget(runtime),
            // Waiting is not allowed where another runtime drives the caller.
            Some(runtime) => runtime.shutdown_background(),
            None => {}
        }
    }
}

/// A value of a statement.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Bytes(Arc<Vec<u8>>),
    Number(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(Arc::new(bytes.to_vec()))
    }
}

impl Value {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(text) => (text, Type::TEXT),
            Self::Bytes(bytes) => (&**bytes, Type::BYTEA),
            Self::Number(number) => (number, Type::INT8),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Number(_) => 8,
        }
    }
}

/// Why a statement has no result.
pub(super) enum Trouble {
    /// The connection was lost; nobody knows whether the statement took effect.
    Lost(String),
    /// The schema's tables are not there: no stack was ever made.
    Absent,
    /// It took no effect.
    Refused(Error),
}

/// A connection.
pub(super) struct Link {
    pub(super) address: Arc<Address>,
    tls: MakeRustlsConnect,
    open: Mutex<Option<Open>>,
    /// Was the server ever reached? Then it is worth looking for when it is lost.
    reached: AtomicBool,
    pub(super) silence: Arc<SlowNotice>,
}

struct Open {
    client: Arc<Client>,
    driver: AbortHandle,
    /// Are there tables, and are they those of this version?
    has_tables: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Link {
    pub(super) fn new(address: Arc<Address>, silence: Arc<SlowNotice>) -> Result<Self> {
        let tls = super::tls::connector(&address)?;
        Ok(Self { address, tls, open: Mutex::new(None), reached: AtomicBool::new(false), silence })
    }

    /// Performs one statement, which is a transaction of its own, once. With `make`, missing tables are made first.
    pub(super) async fn once(&self, sql: &str, values: &[Value], make: bool) -> std::result::Result<Vec<Row>, Trouble> {
        self.silence.watch(self.try_once(sql, values, make)).await
    }

    async fn try_once(&self, sql: &str, values: &[Value], make: bool) -> std::result::Result<Vec<Row>, Trouble> {
        let client = self.client(make).await?;
        let values: Vec<_> = values.iter().collect();
        let parameters: Vec<_> = values.iter().map(|value| value.typed()).collect();
        let bytes: usize = values.iter().map(|value| value.size()).sum();
        let limit = ANSWER + Duration::from_secs((bytes / MIN_SPEED) as u64);
        let trouble = match timeout(limit, client.query_typed(sql, &parameters)).await {
            Ok(Ok(rows)) => return Ok(rows),
            Ok(Err(error)) => match self.trouble(&error) {
                Trouble::Absent => self.absent(&client, &error).await,
                trouble => trouble,
            },
            Err(_) => Trouble::Lost(format!("no answer within {} seconds", limit.as_secs())),
        };
        if matches!(trouble, Trouble::Lost(_)) {
            self.forget(&client).await;
        }
        Err(trouble)
    }

    /// Performs a statement that may as well be performed twice, again if the connection is lost.
    pub(super) async fn repeat(
        &self,
        sql: &str,
        values: &[Value],
        make: bool,
    ) -> std::result::Result<Vec<Row>, Trouble> {
        let mut retries = Retries::begin();
        let tries = async {
            loop {
                match self.try_once(sql, values, make).await {
                    Err(Trouble::Lost(why)) => retries.again(&why).await.map_err(Trouble::Lost)?,
                    other => return other,
                }
            }
        };
        self.silence.watch(tries).await
    }

    /// The error for a statement whose outcome is unknown.
    pub(super) fn unknown(&self, why: &str) -> Error {
        Error::Io {
            context: format!(
                "the connection to {} was lost, and whether the last write took effect is not known; the next run reads \
                 what is there",
                self.address.shown
            ),
            source: std::io::Error::other(why.to_owned()),
        }
    }

    /// A table is missing: either they all are, or they are damaged.
    async fn absent(&self, client: &Client, error: &tokio_postgres::Error) -> Trouble {
        match schema::missing(client, &self.address, &chain(error)).await {
            Ok(None) => Trouble::Absent,
            Ok(Some(error)) | Err(SchemaFailure::Said(error)) => Trouble::Refused(error),
            Err(SchemaFailure::Server(error)) => self.trouble(&error),
        }
    }

    async fn forget(&self, client: &Arc<Client>) {
        let mut open = self.open.lock().await;
        if open.as_ref().is_some_and(|open| Arc::ptr_eq(&open.client, client)) {
            *open = None;
        }
    }

    /// The connection. It stays open where there are no tables: a command asks an empty store after many stacks.
    async fn client(&self, make: bool) -> std::result::Result<Arc<Client>, Trouble> {
        let mut open = self.open.lock().await;
        let mut there = match open.take().filter(|open| !open.client.is_closed()) {
            Some(there) => there,
            None => self.connect().await.map_err(Trouble::Refused)?,
        };
        if !there.has_tables {
            there.has_tables = match schema::prepare(&there.client, &self.address, make).await {
                Ok(has_tables) => has_tables,
                Err(SchemaFailure::Said(error)) => return Err(Trouble::Refused(error)),
                Err(SchemaFailure::Server(error)) => return Err(self.trouble(&error)),
            };
        }
        let there = open.insert(there);
        if there.has_tables { Ok(Arc::clone(&there.client)) } else { Err(Trouble::Absent) }
    }

    /// Connects; a server that was there before is waited for.
    async fn connect(&self) -> Result<Open> {
        let mut retries = Retries::begin();
        loop {
            let error = match self.connect_once().await {
                Ok(open) => {
                    self.reached.store(true, Ordering::Relaxed);
                    return Ok(open);
                }
                Err(error) => error,
            };
            let starting = error.code() == Some(&SqlState::CANNOT_CONNECT_NOW);
            let waits = is_passing(&error) && (starting || self.reached.load(Ordering::Relaxed));
            if !waits || retries.again("").await.is_err() {
                return Err(self.unreachable(&error));
            }
        }
    }

    async fn connect_once(&self) -> std::result::Result<Open, tokio_postgres::Error> {
        let (client, connection) = self.address.config.connect(self.tls.clone()).await?;
        let driver = tokio::spawn(async move {
            // Whoever waits for an answer is told.
            drop(connection.await);
        });
        let open = Open { client: Arc::new(client), driver: driver.abort_handle(), has_tables: false };
        // Reports of durability must be true, whatever the server's default is; nothing waits for a lock for ever.
        let session = "SET lock_timeout = '20s'; SET idle_in_transaction_session_timeout = '30s'; \
                       SELECT set_config('synchronous_commit', 'on', false) \
                       WHERE current_setting('synchronous_commit') IN ('off', 'local')";
        open.client.batch_execute(session).await?;
        Ok(open)
    }

    fn trouble(&self, error: &tokio_postgres::Error) -> Trouble {
        let Some(refusal) = error.as_db_error() else {
            return Trouble::Lost(chain(error));
        };
        let code = refusal.code();
        let told = |advice: &str| {
            let detail = refusal.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
            Trouble::Refused(Error::Io {
                context: format!("{} refused a request{advice}", self.address.shown),
                source: std::io::Error::other(format!("{}{detail} [{}]", refusal.message(), code.code())),
            })
        };
        match code.code().get(..2) {
            // The server ends the connection (shutdown, pg_terminate_backend), or has lost it.
            Some("57") if *code != SqlState::QUERY_CANCELED => Trouble::Lost(refusal.message().to_owned()),
            // The same, or rolled back in favour of another transaction: trying again is what it asks for.
            Some("08" | "40") => Trouble::Lost(refusal.message().to_owned()),
            _ if *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME => Trouble::Absent,
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => told(&format!(
                "; the user needs SELECT, INSERT, UPDATE and DELETE on the tables of the schema {0}, and USAGE on it and \
                 on its sequences",
                self.address.schema
            )),
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
                told("; this server is read-only: name the primary server (target_session_attrs=read-write)")
            }
            Some("53") => told("; the server is out of room or memory. Make room, then run the command again"),
            _ => told(""),
        }
    }

    /// The error for a server that cannot be reached or does not let us in.
    fn unreachable(&self, error: &tokio_postgres::Error) -> Error {
        let said = chain(error);
        let advice = advice(error.code(), &said);
        Error::Io {
            context: format!("the database {} cannot be used{advice}", self.address.shown),
            source: std::io::Error::other(said),
        }
    }
}

/// What can be done about a server that cannot be reached or does not let us in, and what it said.
fn advice(code: Option<&SqlState>, said: &str) -> &'static str {
    match code {
        Some(code) if *code == SqlState::INVALID_PASSWORD => PASSWORD,
        // The library has none to give to a server that asks for one.
        None if said.contains("password missing") => PASSWORD,
        // Such as a role that does not exist.
        Some(code) if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            "; name a user that the server lets in (postgres://USER@... or PGUSER)"
        }
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => {
            "; make the database first (`createdb`), or name another one"
        }
        Some(_) => "",
        None => "; check host and port, that the server runs, and sslmode",
    }
}

/// An error with what caused it.
fn chain(error: &tokio_postgres::Error) -> String {
    let mut text = match error.as_db_error() {
        Some(refusal) => return refusal.message().to_owned(),
        None => error.to_string(),
    };
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
