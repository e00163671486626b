//! The tables, and how a database that an older version made is brought up to date.
//!
//! ```text
//! layout       one row: the version of the tables
//! stacks       one row per stack: which checkpoint is the present one, the seal beside it, and the stack's tags
//! checkpoints  the present checkpoint of a stack and the generations before it, each with what a list shows of it
//! journal      one row per batch of records, while an operation runs or after it was killed
//! leases       one row per stack: who may write; each write of the holder counts `writes` up, in its own transaction
//! history      one row per past operation
//! asides       journals that are kept but out of use
//! removed      the last checkpoints of stacks that were removed
//! ```

use maloko_core::error::Error;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::address::Address;

/// Each script makes the tables of one version from those of the one before. `{s}` is the schema's name. What was
/// released is never changed: a change is a new script.
const SCRIPTS: &[&str] = &[
    FIRST,
    "ALTER TABLE {s}.stacks ADD COLUMN tags bytea;",
    "ALTER TABLE {s}.leases ADD COLUMN run text NOT NULL DEFAULT '', ADD COLUMN attempt bigint NOT NULL DEFAULT 0;",
    "ALTER TABLE {s}.checkpoints ADD COLUMN summary text NOT NULL DEFAULT '';",
];
const FIRST: &str = "
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
";

/// Why the tables are not ready.
pub(super) enum SchemaFailure {
    /// What the user has to know.
    Said(Error),
    /// The server's own reason.
    Server(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for SchemaFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

/// Sees to it that the tables are those of this version. False: there are none, and `make` does not ask for them.
pub(super) async fn prepare(client: &Client, address: &Address, make: bool) -> Result<bool, SchemaFailure> {
    prepare_with(client, address, make, SCRIPTS).await
}

pub(super) async fn prepare_with(
    client: &Client,
    address: &Address,
    make: bool,
    scripts: &[&str],
) -> Result<bool, SchemaFailure> {
    let newest = i64::try_from(scripts.len()).unwrap_or(i64::MAX);
    let version = version(client, address).await?;
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

/// The version of the tables; `None` when there are none.
async fn version(client: &Client, address: &Address) -> Result<Option<i64>, SchemaFailure> {
    let schema = &address.schema;
    let sql = format!("SELECT version FROM {schema}.layout");
    let mut answer = client.query_typed(&sql, &[]).await;
    if answer.as_ref().is_err_and(is_absent) {
        if !exists(client, schema, "stacks").await? {
            return Ok(None);
        }
        // Somebody else has just made them; or only this one is missing.
        answer = client.query_typed(&sql, &[]).await;
    }
    match answer {
        Ok(rows) => match rows.first() {
            Some(row) => Ok(Some(row.try_get(0)?)),
            // It is made with its row, in one transaction.
            None => Err(SchemaFailure::Said(without_version(address))),
        },
        Err(error) if is_absent(&error) => Err(SchemaFailure::Said(damaged(address, "the table layout is missing"))),
        Err(error) => Err(error.into()),
    }
}

/// Is there a table of this name? Asked of the catalog's rows: what the connection remembers of names may be older.
async fn exists(client: &Client, schema: &str, table: &str) -> Result<bool, tokio_postgres::Error> {
    let sql = "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2";
    let rows = client.query_typed(sql, &[(&schema, Type::TEXT), (&table, Type::TEXT)]).await?;
    Ok(!rows.is_empty())
}

/// Why a statement found a table missing: `None` when there are none at all, which is so before the first stack.
pub(super) async fn missing(client: &Client, address: &Address, why: &str) -> Result<Option<Error>, SchemaFailure> {
    Ok(version(client, address).await?.map(|_| damaged(address, why)))
}

/// The error for tables that are not as this module has made them. What is missing is not taken for what never was.
fn damaged(address: &Address, why: &str) -> Error {
    Error::BadState(format!(
        "the tables in {} are damaged: {why}. Nothing was changed. Restore the schema {} from a backup of the database",
        address.shown, address.schema
    ).into())
}

/// The same where what is missing can be put back, if it is all that is.
fn without_version(address: &Address) -> Error {
    let (schema, newest) = (&address.schema, SCRIPTS.len());
    let cure =
        format!("or, if the other tables are whole, put its row back: INSERT INTO {schema}.layout VALUES ({newest})");
    Error::BadState(format!("{}; {cure}", damaged(address, "the table layout is empty")).into())
}

fn is_absent(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME)
}

/// Inside a transaction: one upgrade at a time, and all of it or nothing.
async fn upgrade(client: &Client, address: &Address, scripts: &[&str], newest: i64) -> Result<(), SchemaFailure> {
    let schema = &address.schema;
    // Anybody else who upgrades this schema waits here.
    client.batch_execute(&format!("SELECT pg_advisory_xact_lock(hashtext('maloko'), hashtext('{schema}'))")).await?;
    let exists = exists(client, schema, "layout").await?;
    let found = if exists { version(client, address).await?.unwrap_or(0) } else { 0 };
    if found > newest {
        return Err(SchemaFailure::Said(Error::BadState(format!(
            "the tables in {} have layout {found}, and this version of maloko knows only {newest}; use the newer version \
             that made them. Nothing was changed",
            address.shown
        ).into())));
    }
    if !exists {
        // Asking first lets a user without the right to make schemas use one that was made for it.
        let there =
            client.query_typed("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[(schema, Type::TEXT)]).await?;
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

fn not_allowed(error: tokio_postgres::Error, address: &Address) -> SchemaFailure {
    if error.code() != Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return SchemaFailure::Server(error);
    }
    let user = address.config.get_user().unwrap_or_default();
    SchemaFailure::Said(Error::Configuration(format!(
        "the user {user} may not make the tables in {}; let an administrator run once: CREATE SCHEMA {} AUTHORIZATION {user}",
        address.shown, address.schema
    ).into()))
}
