//! The tables: made once, brought up to date in one step, and left alone when they are newer.

use futures::executor::block_on;
use maloko_core::environment::Environment;
use maloko_core::state::{Backend, Crypter, Passphrase, Session, SessionOptions, StackName, create_stack};
use maloko_stores::postgres::PostgresBackend;
use tokio_postgres::Client;

use maloko_test_support::objects::world::overheard;
use maloko_test_support::postgres::server::{Server, machine};

fn dev() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

fn schema_of(address: &str) -> &str {
    address.split_once("schema=").unwrap().1.split('&').next().unwrap()
}

fn with_client<T>(act: impl AsyncFnOnce(Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { act(Server::shared().client().await).await })
}

fn run_sql(sql: &str) {
    with_client(async |client| client.batch_execute(sql).await.unwrap());
}

fn first(sql: &str) -> String {
    with_client(async |client| {
        let messages = client.simple_query(sql).await.unwrap();
        messages
            .iter()
            .find_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or("null").to_owned()),
                _ => None,
            })
            .unwrap_or_default()
    })
}

#[test]
fn nothing_is_made_before_the_first_stack() {
    let address = Server::shared().new_address();
    assert!(block_on(machine(&address).list()).unwrap().is_empty());
    let schemas = format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{}'", schema_of(&address));
    assert_eq!(first(&schemas), "0");
    block_on(machine(&address).create(&dev(), b"first")).unwrap();
    assert_eq!(first(&schemas), "1");
}

#[test]
fn a_store_without_tables_is_asked_over_one_connection() {
    let address = format!("{}&application_name=asker", Server::shared().new_address());
    let asker = machine(&address);
    let connections = "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE application_name = 'asker'";
    block_on(asker.load(&dev())).unwrap_err();
    let first_one = first(connections);
    assert_ne!(first_one, "null", "the connection was closed");
    block_on(asker.load(&dev())).unwrap_err();
    block_on(asker.create(&dev(), b"first")).unwrap();
    block_on(asker.load(&dev())).unwrap();
    assert_eq!(first(connections), first_one);
}

#[test]
fn tables_of_a_newer_version_are_refused() {
    let address = Server::shared().new_address();
    let schema = schema_of(&address);
    block_on(machine(&address).create(&dev(), b"first")).unwrap();
    run_sql(&format!("UPDATE {schema}.layout SET version = 99"));
    let refused = [
        block_on(machine(&address).load(&dev())).unwrap_err().to_string(),
        block_on(machine(&address).create(&StackName::new("shop", "prod").unwrap(), b"{}")).unwrap_err().to_string(),
    ];
    for error in refused {
        assert!(error.contains("layout 99") && error.contains("newer version"), "{error}");
    }
    assert_eq!(first(&format!("SELECT count(*) FROM {schema}.stacks")), "1");
}

#[test]
fn tables_of_an_older_version_are_brought_up_to_date_in_one_step() {
    let address = Server::shared().new_address();
    let schema = schema_of(&address);
    // Version 0 is a schema that was made for maloko, and nothing in it. One that already has a table of that name in
    // it cannot be brought up to date.
    run_sql(&format!(
        "CREATE SCHEMA {schema}; CREATE TABLE {schema}.layout (version bigint NOT NULL);
         INSERT INTO {schema}.layout VALUES (0); CREATE TABLE {schema}.removed (other text)"
    ));
    let error = block_on(machine(&address).list()).unwrap_err().to_string();
    assert!(error.contains("removed"), "{error}");
    let tables =
        format!("SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE schemaname = '{schema}'");
    assert_eq!(first(&tables), "layout removed", "half of an upgrade is left");
    run_sql(&format!("DROP TABLE {schema}.removed"));
    assert!(block_on(machine(&address).list()).unwrap().is_empty());
    assert_eq!(first(&tables), "asides checkpoints history journal layout leases removed stacks");
    assert_eq!(first(&format!("SELECT version FROM {schema}.layout")), "4");
}

/// A store with a stack that has a generation, a history and a journal.
fn lived_in() -> String {
    let address = Server::shared().new_address();
    block_on(async {
        let backend = machine(&address);
        backend.create(&dev(), b"first").await.unwrap();
        let held = backend.lease(&dev(), "up").await.unwrap();
        held.replace(b"second", 3).await.unwrap();
        held.append(b"a record").await.unwrap();
        backend.add_history(&dev(), 1, b"{}", 0).await.unwrap();
        held.release().await.unwrap();
    });
    address
}

#[test]
fn a_lease_whose_row_was_lost_is_made_anew() {
    let address = lived_in();
    let backend = machine(&address);
    block_on(async {
        let former = backend.lease(&dev(), "up").await.unwrap();
        run_sql(&format!("DELETE FROM {}.leases", schema_of(&address)));
        let next = machine(&address).lease(&dev(), "up").await.unwrap();
        assert!(next.epoch() > former.epoch());
        assert!(former.append(b"late").await.is_err());
        assert_eq!(next.load().await.unwrap().journal.as_deref(), Some(&b"a record"[..]));
        next.release().await.unwrap();
    });
}

#[test]
fn a_holder_may_be_silent_for_as_long_as_it_said_and_not_as_others_may() {
    let address = lived_in();
    // It said a second, and its end was not seen.
    run_sql(&format!("UPDATE {}.leases SET holder = 'ended', patience = 1000", schema_of(&address)));
    let (world, told) = overheard(&[]);
    let backend = PostgresBackend::open(&address.replace("lease=5", "lease=60"), &world).unwrap();
    block_on(async { backend.lease(&dev(), "up").await.unwrap().release().await.unwrap() });
    let told = told.lock().unwrap().join("\n");
    assert!(told.contains("it is replaced if it stays silent for 1 seconds"), "{told}");
}

#[test]
fn tables_that_are_damaged_are_not_taken_for_empty_ones() {
    let layout = ["DELETE FROM {s}.layout", "DROP TABLE {s}.layout"].map(|sql| (sql, "layout"));
    let journal = [("DROP TABLE {s}.journal", "journal"), ("DROP TABLE {s}.checkpoints", "checkpoints")];
    for (sql, named) in layout.into_iter().chain(journal) {
        let address = lived_in();
        let schema = schema_of(&address);
        // One that is connected by then, and one that comes later.
        let connected = machine(&address);
        block_on(connected.list()).unwrap();
        run_sql(&sql.replace("{s}", schema));
        let mut errors = vec![
            block_on(machine(&address).load(&dev())).unwrap_err(),
            block_on(machine(&address).create(&StackName::new("shop", "prod").unwrap(), b"{}")).err().unwrap_or_else(
                || {
                    // What it writes does not need the journal.
                    assert_eq!(named, "journal");
                    block_on(machine(&address).load(&dev())).unwrap_err()
                },
            ),
        ];
        if named == "layout" {
            errors.push(block_on(machine(&address).list()).unwrap_err());
        } else {
            errors.push(block_on(connected.load(&dev())).unwrap_err());
        }
        for error in errors.iter().map(ToString::to_string) {
            assert!(error.contains("are damaged") && error.contains(named) && error.contains(schema), "{sql}: {error}");
        }
    }
    let gone = lived_in();
    let connected = machine(&gone);
    block_on(connected.list()).unwrap();
    run_sql(&format!("DROP SCHEMA {} CASCADE", schema_of(&gone)));
    assert!(block_on(connected.list()).unwrap().is_empty(), "there is nothing left that could be damaged");
}

#[test]
fn many_machines_may_come_first_at_once() {
    let address = Server::shared().new_address();
    let machines: Vec<_> = (0..8).map(|_| machine(&address)).collect();
    let creates = machines.iter().enumerate().map(|(number, machine)| async move {
        let stack = StackName::new("shop", &format!("dev-{number}")).unwrap();
        machine.create(&stack, b"first").await.unwrap();
    });
    block_on(futures::future::join_all(creates));
    assert_eq!(block_on(machines[0].list()).unwrap().len(), 8);
}

#[test]
fn who_may_not_make_tables_is_told_what_to_ask_for() {
    let address = Server::shared().new_address();
    let schema = schema_of(&address);
    let guest = format!("guest_{schema}");
    run_sql(&format!("CREATE ROLE {guest} LOGIN"));
    let as_guest = address.replace("maloko@", &format!("{guest}@"));
    let error = block_on(machine(&as_guest).create(&dev(), b"first")).unwrap_err().to_string();
    assert!(error.contains(&format!("CREATE SCHEMA {schema} AUTHORIZATION {guest}")), "{error}");
    run_sql(&format!("CREATE SCHEMA {schema} AUTHORIZATION {guest}"));
    block_on(machine(&as_guest).create(&dev(), b"first")).unwrap();
}

#[test]
fn a_run_that_changes_nothing_writes_nothing_but_its_lease() {
    let address = Server::shared().new_address();
    let schema = schema_of(&address);
    let backend = machine(&address);
    let environment = Environment::system();
    let crypter = Crypter::with_new_salt(Passphrase::given("p"), environment.clone()).unwrap();
    block_on(create_stack(&backend, &dev(), &crypter, &environment)).unwrap();
    // `xmin` is the transaction that wrote a row last.
    let tables = ["stacks", "checkpoints", "journal", "history", "asides", "removed"];
    let all: Vec<String> = tables
        .iter()
        .map(|table| format!("SELECT '{table}' || t.xmin || t::text AS row FROM {schema}.{table} t"))
        .collect();
    let everything =
        format!("SELECT md5(string_agg(row, '|' ORDER BY row)) FROM ({}) AS rows", all.join(" UNION ALL "));
    let before = first(&everything);
    let options =
        SessionOptions { crypter, environment, check_integrity: true, command: "up".into(), keep_generations: 3 };
    let session = block_on(Session::open(&backend, &dev(), options)).unwrap();
    block_on(session.compact(session.snapshot().clone())).unwrap();
    assert_eq!(first(&everything), before);
    assert!(block_on(backend.holders(&dev())).unwrap().is_empty());
}
