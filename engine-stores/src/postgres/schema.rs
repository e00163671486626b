//! The tables, and how a database that an older version made is brought up to date.
//!
//! ```text
//! layout       one row: the version of the tables
//! stacks       one row per stack: which checkpoint is the present one, and the seal beside it
//! checkpoints  the present checkpoint of a stack and the generations before it
//! journal      one row per batch of records, while an operation runs or after it was killed
//! leases       one row per stack: who may write; each write of the holder counts `writes` up, in its own transaction
//! history      one row per past operation
//! asides       journals that are kept but out of use
//! removed      the last checkpoints of stacks that were removed
//! ```

use maloko_core::error::Error;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::address::Address;

/// Each script makes the tables of one version from those of the one before. `{s}` is the schema's name. What was
/// released is never changed: a change is a new script.
const SCRIPTS: &[&str] = &["
    CREATE SEQUENCE {s}.epochs;
    CREATE TABLE {s}.stacks (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        project text COLLATE \"C\" NOT NULL,
        name text COLLATE \"C\" NOT NULL,
        made_by text NOT NULL,
        current bigint NOT NULL,
        seal bytea,
        UNIQUE (project, name)
    );
    CREATE TABLE {s}.checkpoints (
        stack bigint NOT NULL REFERENCES {s}.stacks ON DELETE CASCADE,
        number bigint NOT NULL,
        content bytea NOT NULL,
        PRIMARY KEY (stack, number)
    );
    CREATE TABLE {s}.journal (
        stack bigint NOT NULL REFERENCES {s}.stacks ON DELETE CASCADE,
        epoch bigint NOT NULL,
        number bigint NOT NULL,
        records bytea NOT NULL,
        PRIMARY KEY (stack, epoch, number)
    );
    CREATE TABLE {s}.leases (
        stack bigint PRIMARY KEY REFERENCES {s}.stacks ON DELETE CASCADE,
        epoch bigint NOT NULL DEFAULT 0,
        holder text,
        writes bigint NOT NULL DEFAULT 0,
        beat bigint NOT NULL DEFAULT 0,
        patience bigint NOT NULL DEFAULT 0,
        pid bigint NOT NULL DEFAULT 0,
        user_name text NOT NULL DEFAULT '',
        host text NOT NULL DEFAULT '',
        operation text NOT NULL DEFAULT '',
        since text NOT NULL DEFAULT ''
    ) WITH (fillfactor = 50);
    CREATE TABLE {s}.history (
        stack bigint NOT NULL REFERENCES {s}.stacks ON DELETE CASCADE,
        at bigint NOT NULL,
        token text NOT NULL,
        entry bytea NOT NULL,
        PRIMARY KEY (stack, at, token)
    );
    CREATE TABLE {s}.asides (
        project text NOT NULL,
        name text NOT NULL,
        epoch bigint NOT NULL,
        number bigint NOT NULL,
        records bytea NOT NULL,
        PRIMARY KEY (project, name, epoch, number)
    );
    CREATE TABLE {s}.removed (
        project text NOT NULL,
        name text NOT NULL,
        checkpoint bytea NOT NULL,
        PRIMARY KEY (project, name)
    );
"];

/// Why the tables are not ready.
pub(super) enum Failed {
    /// What the user has to know.
    Said(Error),
    /// The server's own reason.
    Server(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

/// Sees to it that the tables are those of this version. False: there are none, and `make` does not ask for them.
pub(super) async fn prepare(client: &Client, address: &Address, make: bool) -> Result<bool, Failed> {
    prepare_with(client, address, make, SCRIPTS).await
}

pub(super) async fn prepare_with(
    client: &Client,
    address: &Address,
    make: bool,
    scripts: &[&str],
) -> Result<bool, Failed> {
    let newest = i64::try_from(scripts.len()).unwrap_or(i64::MAX);
    let version = version(client, &address.schema).await?;
    match version {
        Some(version) if version == newest => return Ok(true),
        None if !make => return Ok(false),
        _ => {}
    }
    client.batch_execute("BEGIN").await?;
    let done = upgrade(client, address, scripts, newest).await;
    client.batch_execute(if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    done.map(|()| true)
}

async fn version(client: &Client, schema: &str) -> Result<Option<i64>, tokio_postgres::Error> {
    match client.query_typed(&format!("SELECT version FROM {schema}.layout"), &[]).await {
        Ok(rows) => rows.first().map(|row| row.try_get(0)).transpose(),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absent(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME)
}

/// Inside a transaction: one upgrade at a time, and all of it or nothing.
async fn upgrade(client: &Client, address: &Address, scripts: &[&str], newest: i64) -> Result<(), Failed> {
    let schema = &address.schema;
    // Anybody else who upgrades this schema waits here.
    client.batch_execute(&format!("SELECT pg_advisory_xact_lock(hashtext('maloko'), hashtext('{schema}'))")).await?;
    let exists = "SELECT to_regclass($1) IS NOT NULL";
    let table = format!("{schema}.layout");
    let rows = client.query_typed(exists, &[(&table, tokio_postgres::types::Type::TEXT)]).await?;
    let exists: bool = rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(false);
    let found = if exists { version(client, schema).await?.unwrap_or(0) } else { 0 };
    if found > newest {
        return Err(Failed::Said(Error::BadState(format!(
            "the tables in {} have layout {found}, and this version of maloko knows only {newest}; use the newer version \
             that made them. Nothing was changed",
            address.shown
        ))));
    }
    if !exists {
        // Asking first lets a user without the right to make schemas use one that was made for it.
        let there = client
            .query_typed(
                "SELECT 1 FROM pg_namespace WHERE nspname = $1",
                &[(schema, tokio_postgres::types::Type::TEXT)],
            )
            .await?;
        if there.is_empty() {
            client
                .batch_execute(&format!("CREATE SCHEMA {schema}"))
                .await
                .map_err(|error| not_allowed(error, address))?;
        }
        let table = format!("CREATE TABLE {schema}.layout (version bigint NOT NULL)");
        client.batch_execute(&table).await.map_err(|error| not_allowed(error, address))?;
        client.batch_execute(&format!("INSERT INTO {schema}.layout VALUES (0)")).await?;
    }
    for script in scripts.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        client.batch_execute(&script.replace("{s}", schema)).await.map_err(|error| not_allowed(error, address))?;
    }
    client.batch_execute(&format!("UPDATE {schema}.layout SET version = {newest}")).await?;
    Ok(())
}

fn not_allowed(error: tokio_postgres::Error, address: &Address) -> Failed {
    if error.code() != Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return Failed::Server(error);
    }
    let user = address.config.get_user().unwrap_or_default();
    Failed::Said(Error::Configuration(format!(
        "the user {user} may not make the tables in {}; let an administrator run once: CREATE SCHEMA {} AUTHORIZATION {user}",
        address.shown, address.schema
    )))
}
