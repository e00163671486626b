#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::executor::block_on;

use super::*;
use crate::digest::sha256_hex;
use crate::provider::StoredProvider;
use crate::provider::{ProviderReference, Revision};
use crate::resource_state::ResourceState;
use crate::state::fixtures::faulty::failing_after;
use crate::state::fixtures::{PULUMI_PYTHON, options_for, provider_resource, python_crypter, resource, urn};
use crate::state::{Attempt, StackReading, create_stack, overwrite_stack, read_stack, read_stack_beside};
use crate::state::{
    MemoryBackend, Passage, Passphrase, PendingKind, PendingOperation, StoreWatch, StoreWrite, StoredStack,
    WatchedBackend,
};
use crate::value::Value;

/// The stack of the states that Pulumi wrote.
fn pulumis() -> StackName {
    StackName::new("conformance", "dev").unwrap()
}

fn name() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

fn options() -> SessionOptions {
    options_for("up")
}

fn open(backend: &dyn Backend) -> Session {
    block_on(Session::open(backend, &name(), options())).unwrap()
}

fn error_of<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.to_string(),
    }
}

fn empty_stack() -> MemoryBackend {
    let backend = MemoryBackend::default();
    block_on(create_stack(&backend, &name(), &python_crypter(), &Environment::system())).unwrap();
    backend
}

fn put(number: u32, resource: ResourceState) -> Change {
    Change::Put { number, resource: Arc::new(resource), in_place_of: None }
}

fn begin(operation: u32, resource: ResourceState) -> Change {
    let pending = PendingOperation { resource: Arc::new(resource), kind: PendingKind::Creating };
    Change::Begin { operation, pending, attempt: None }
}

fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.resources.iter().map(|resource| resource.urn.name()).collect()
}

/// The stack with the provider and one resource, compacted.
fn small_stack() -> (MemoryBackend, Snapshot) {
    let backend = empty_stack();
    let session = open(&backend);
    let resources = vec![provider_resource(), Arc::new(resource("a", 1.0))];
    let snapshot = Snapshot { resources, ..session.snapshot().clone() };
    block_on(session.compact(snapshot)).unwrap();
    let snapshot = open(&backend).snapshot().clone();
    (backend, snapshot)
}

#[test]
fn what_was_compacted_is_read_again() {
    let (backend, snapshot) = small_stack();
    assert_eq!(names(&snapshot), ["default", "a"]);
    let stored = backend.stored(&name()).unwrap();
    assert!(stored.journal.is_none());
    let manifest = &snapshot.other["manifest"];
    assert_eq!(manifest["version"], concat!("v", env!("CARGO_PKG_VERSION"), "+maloko"));
    assert!(manifest["time"].as_str().unwrap().ends_with('Z'));
    let reading = block_on(read_stack(&backend, &name(), true)).unwrap();
    assert_eq!((reading.snapshot.resources, reading.notices.len()), (snapshot.resources, 0));
}

#[test]
fn a_provider_that_is_found_again_is_no_change() {
    let reference = Arc::new(ProviderReference {
        maloko: 1,
        language: "python".into(),
        module: "app".into(),
        name: "P".into(),
        attributes: None,
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    });
    let backend = empty_stack();
    let session = open(&backend);
    let with_provider =
        ResourceState { stored_provider: StoredProvider::Reference(Arc::clone(&reference)), ..resource("a", 1.0) };
    let snapshot =
        Snapshot { resources: vec![provider_resource(), Arc::new(with_provider)], ..session.snapshot().clone() };
    block_on(session.compact(snapshot.clone())).unwrap();
    let before = backend.stored(&name()).unwrap().checkpoint;

    let session = open(&backend);
    let StoredProvider::Sealed(sealed) = &session.snapshot().resources[1].stored_provider else {
        panic!("a reference is encrypted in the state");
    };
    let text = unseal(session.crypter(), sealed).unwrap();
    assert_eq!(serde_json::from_str::<ProviderReference>(&text).unwrap(), *reference);
    block_on(session.compact(Snapshot { other: serde_json::Map::new(), ..snapshot.clone() })).unwrap();
    assert_eq!(backend.stored(&name()).unwrap().checkpoint, before);

    let other = Arc::new(ProviderReference { name: "Q".into(), ..(*reference).clone() });
    let changed = ResourceState { stored_provider: StoredProvider::Reference(other), ..resource("a", 1.0) };
    let session = open(&backend);
    block_on(
        session.compact(Snapshot { resources: vec![provider_resource(), Arc::new(changed)], ..Snapshot::default() }),
    )
    .unwrap();
    assert_ne!(backend.stored(&name()).unwrap().checkpoint, before);
}

#[test]
fn a_killed_run_is_recovered_and_names_its_unresolved_creates() {
    let (backend, _) = small_stack();
    let session = open(&backend);
    let secret = ResourceState {
        inputs: Arc::new([("password".into(), Value::secret("canary".into()))].into()),
        dependencies: vec![urn("a")],
        ..resource("b", 1.0)
    };
    block_on(session.append(vec![begin(0, secret.clone())])).unwrap();
    block_on(session.append(vec![Change::End { operation: 0 }, put(2, secret.clone()), begin(1, resource("c", 1.0))]))
        .unwrap();
    let crashed = backend.stored(&name()).unwrap();
    let journal = String::from_utf8(crashed.journal.clone().unwrap()).unwrap();
    assert!(!journal.contains("canary"), "{journal}");
    assert_eq!(journal.lines().count(), 3);
    drop(session);
    backend.restore(&name(), crashed);

    let reading = block_on(read_stack(&backend, &name(), true)).unwrap();
    assert_eq!(names(&reading.snapshot), ["default", "a", "b"]);
    assert!(backend.stored(&name()).unwrap().journal.is_some(), "a reader changes nothing");

    let session = open(&backend);
    assert_eq!(names(session.snapshot()), ["default", "a", "b"]);
    assert_eq!(session.snapshot().resources[2].inputs, secret.inputs);
    let pending = &session.snapshot().pending;
    assert_eq!((pending.len(), pending[0].resource.urn.clone(), pending[0].kind), (1, urn("c"), PendingKind::Creating));
    assert!(session.notices()[0].contains("2 records"), "{:?}", session.notices());
    assert!(session.notices()[0].contains("1 provider call was under way"), "{:?}", session.notices());
    assert!(backend.stored(&name()).unwrap().journal.is_none(), "it was compacted");
    drop(session);
    assert_eq!(open(&backend).snapshot().pending.len(), 1, "an unresolved create is never forgotten");
    assert!(open(&backend).notices().is_empty());
}

#[test]
fn what_is_appended_by_many_is_all_there() {
    let (backend, _) = small_stack();
    let session = open(&backend);
    let wait_ids: Vec<Durability> =
        (2..500).map(|number| session.append(vec![put(number, resource(&format!("r{number}"), 1.0))])).collect();
    block_on(futures::future::try_join_all(wait_ids)).unwrap();
    block_on(session.abandon()).unwrap();
    assert!(
        error_of(block_on(session.append(vec![put(500, resource("late", 1.0))]))).contains("the operation is over")
    );
    drop(session);
    assert_eq!(open(&backend).snapshot().resources.len(), 500);
}

/// Counts the writes to the journal.
#[derive(Default)]
struct Appends(AtomicUsize);

#[async_trait::async_trait]
impl StoreWatch for Appends {
    async fn before(&self, _: &StackName, write: StoreWrite<'_>) -> Result<Passage> {
        if matches!(write, StoreWrite::Append(_)) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Passage::Whole)
    }

    fn made(&self, _: &StackName, _: StoreWrite<'_>) {}
}

#[test]
fn what_nobody_waits_for_is_written_with_what_somebody_waits_for_or_at_the_end() {
    let appends = Arc::new(Appends::default());
    let backend = WatchedBackend::new(Arc::new(small_stack().0), Arc::clone(&appends) as _);
    // Longer than any test: a record that is written was not written because time was up.
    let environment = Environment { linger: Duration::from_hours(1), ..Environment::system() };
    let session = block_on(Session::open(&backend, &name(), SessionOptions { environment, ..options() })).unwrap();
    let alone = session.append_with_next(vec![put(2, resource("b", 1.0))]);
    let last = session.append(vec![put(3, resource("c", 1.0))]);
    block_on(futures::future::try_join(alone, last)).unwrap();
    assert_eq!(appends.0.load(Ordering::Relaxed), 1);
    drop(session.append_with_next(vec![put(4, resource("d", 1.0))]));
    drop(session);
    assert_eq!(appends.0.load(Ordering::Relaxed), 2);
    assert_eq!(names(open(&backend).snapshot()).len(), 5);
}

/// The bug turns the test of its promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn the_planted_bug_of_flushes_is_noticed() {
    use crate::fail_points::is_noticed;
    let promise = what_nobody_waits_for_is_written_with_what_somebody_waits_for_or_at_the_end;
    assert!(is_noticed("planted::each-record-flushed", promise));
}

#[test]
fn what_nobody_waits_for_is_written_when_its_time_is_up() {
    let (backend, _) = small_stack();
    let session = open(&backend);
    block_on(session.append_with_next(vec![put(2, resource("b", 1.0))])).unwrap();
    block_on(session.abandon()).unwrap();
    drop(session);
    assert_eq!(names(open(&backend).snapshot()), ["default", "a", "b"]);
}

#[test]
fn beside_a_run_that_is_at_work_nothing_is_in_doubt_that_it_has_begun() {
    let (backend, _) = small_stack();
    let session = open(&backend);
    let attempt = Attempt { key: "k".into(), since: "2026-01-01T00:00:00Z".into() };
    let pending = PendingOperation { resource: Arc::new(resource("c", 1.0)), kind: PendingKind::Creating };
    let begin = Change::Begin { operation: 0, pending, attempt: Some(attempt) };
    block_on(session.append(vec![put(2, resource("b", 1.0)), begin])).unwrap();
    let read = || block_on(read_stack_beside(&backend, &name(), true, None)).unwrap();
    let told =
        |reading: &StackReading| (names(&reading.snapshot).join(" "), reading.snapshot.all_unresolved_creates().len());
    let (reading, holders) = read();
    assert_eq!((told(&reading), reading.notices.len()), (("default a b".to_owned(), 0), 0));
    assert_eq!((holders.len(), holders[0].pid, holders[0].operation.as_str()), (1, std::process::id(), "up"));
    // As a process that was killed leaves it.
    backend.restore(&name(), backend.stored(&name()).unwrap());
    let (reading, holders) = read();
    assert_eq!((told(&reading), holders.len()), (("default a b".to_owned(), 1), 0));
    assert!(reading.notices[0].contains("1 provider call was under way"), "{:?}", reading.notices);
    drop(session);
}

#[test]
fn dropped_tickets_are_written_all_the_same() {
    let (backend, _) = small_stack();
    let session = open(&backend);
    drop(session.append(vec![put(2, resource("b", 1.0))]));
    drop(session);
    assert_eq!(names(open(&backend).snapshot()), ["default", "a", "b"]);
}

#[test]
fn a_checkpoint_that_another_tool_wrote_is_accepted_with_a_notice() {
    let (backend, snapshot) = small_stack();
    let session = open(&backend);
    block_on(session.append(vec![put(2, resource("b", 1.0))])).unwrap();
    let crashed = backend.stored(&name()).unwrap();
    drop(session);
    let own = snapshot.other["manifest"]["version"].as_str().unwrap();
    let foreign = String::from_utf8(crashed.checkpoint).unwrap().replace("\"size\":1", "\"size\":7");
    let foreign = foreign.replace(own, "v3.260.0").replace(&sha256_hex(own.as_bytes()), &sha256_hex(b"v3.260.0"));
    let foreign = foreign.into_bytes();
    backend.restore(&name(), StoredStack { checkpoint: foreign.clone(), ..crashed });

    let reading = block_on(read_stack(&backend, &name(), true)).unwrap();
    assert_eq!((names(&reading.snapshot), reading.notices.len()), (names(&snapshot), 2));
    let session = open(&backend);
    assert_eq!(session.snapshot().resources[1].inputs["size"], Value::from(7.0));
    assert!(session.notices()[0].contains("another tool"), "{:?}", session.notices());
    assert!(session.notices()[1].contains("by pulumi v3.260.0"), "{:?}", session.notices());
    assert!(session.notices()[2].contains("journal-1"), "{:?}", session.notices());
    assert_eq!(backend.journals_set_aside(&name()).len(), 1);
    assert_eq!(backend.stored(&name()).unwrap().checkpoint, foreign);
}

/// Runs a small operation against a store that stops after some writes. Gives the resources whose records were
/// acknowledged, and whether the operation came to its end.
fn interrupted(backend: &dyn Backend) -> Result<(Vec<&'static str>, bool)> {
    let session = block_on(Session::open(backend, &name(), options()))?;
    let mut acknowledged = Vec::new();
    for (number, name) in [(2, "b"), (3, "c"), (4, "d")] {
        if block_on(session.append(vec![put(number, resource(name, 1.0))])).is_ok() {
            acknowledged.push(name);
        }
    }
    let resources = ["default", "a", "b", "c", "d"].map(|name| match name {
        "default" => provider_resource(),
        other => Arc::new(resource(other, 1.0)),
    });
    let compacted = block_on(session.compact(Snapshot { resources: resources.into(), ..Snapshot::default() }));
    Ok((acknowledged, compacted.is_ok()))
}

#[test]
fn whichever_write_is_the_last_what_was_acknowledged_is_there() {
    let (clean, _) = small_stack();
    let before = clean.stored(&name()).unwrap();
    for torn in [false, true] {
        let mut complete = false;
        for writes in 0.. {
            let backend = MemoryBackend::default();
            backend.restore(&name(), before.clone());
            let (acknowledged, compacted) = interrupted(&failing_after(backend.clone(), writes, torn)).unwrap();
            // Killed here. The recovery may be killed as well, at each of its writes.
            let crashed = backend.stored(&name()).unwrap();
            for recovery_writes in 0..5 {
                let second = failing_after(backend.clone(), recovery_writes, torn);
                drop(block_on(Session::open(&second, &name(), options())));
                let session = open(&backend);
                let found = names(session.snapshot());
                assert!(acknowledged.iter().all(|name| found.contains(name)), "{writes}: {acknowledged:?} {found:?}");
                assert!(found.starts_with(&["default", "a"]) || found.contains(&"a"), "{writes}: {found:?}");
                let aside = backend.journals_set_aside(&name());
                assert!(aside.is_empty(), "{writes}: our own checkpoint was taken for another tool's");
                drop(session);
                backend.restore(&name(), crashed.clone());
            }
            complete = compacted;
            if complete {
                assert_eq!(acknowledged, ["b", "c", "d"]);
                break;
            }
        }
        assert!(complete);
    }
}

#[test]
fn after_a_failed_write_nothing_is_said_to_be_recorded() {
    let (backend, _) = small_stack();
    // The first record, and the note in the seal that there is a journal.
    let faulty = failing_after(backend.clone(), 2, false);
    let session = open(&faulty);
    block_on(session.append(vec![put(2, resource("b", 1.0))])).unwrap();
    let message = error_of(block_on(session.append(vec![put(3, resource("c", 1.0))])));
    assert!(message.contains("could not be recorded") && message.contains("cannot write the journal"), "{message}");
    assert!(block_on(session.append(vec![put(4, resource("d", 1.0))])).is_err());
    drop(session);
    assert_eq!(names(open(&backend).snapshot()), ["default", "a", "b"]);
}

#[test]
fn a_writer_that_lost_its_lease_cannot_write() {
    let (backend, _) = small_stack();
    let zombie = open(&backend);
    assert!(error_of(block_on(Session::open(&backend, &name(), options()))).contains("locked"));
    block_on(backend.break_locks(&name())).unwrap();
    let heir = open(&backend);
    assert!(error_of(block_on(zombie.append(vec![put(2, resource("b", 1.0))]))).contains("was lost"));
    let resources = vec![provider_resource()];
    assert!(error_of(block_on(zombie.compact(Snapshot { resources, ..Snapshot::default() }))).contains("was lost"));
    block_on(heir.append(vec![put(2, resource("c", 1.0))])).unwrap();
    drop((zombie, heir));
    assert_eq!(names(open(&backend).snapshot()), ["default", "a", "c"]);
}

#[test]
fn a_wrong_passphrase_changes_nothing_and_gives_the_lease_back() {
    let backend = MemoryBackend::default();
    let pulumi = StoredStack { checkpoint: PULUMI_PYTHON.to_vec(), ..StoredStack::default() };
    backend.restore(&pulumis(), pulumi.clone());
    let crypter =
        Crypter::new(Passphrase::given("no"), python_crypter().record().salt().unwrap(), Environment::system())
            .unwrap();
    let opened = block_on(Session::open(&backend, &pulumis(), SessionOptions { crypter, ..options() }));
    assert!(error_of(opened).contains("incorrect passphrase"));
    assert_eq!(backend.stored(&pulumis()).unwrap().checkpoint, pulumi.checkpoint);
    let lease = block_on(backend.lease(&pulumis(), "test")).unwrap();
    block_on(lease.release()).unwrap();
}

#[test]
fn with_a_wrong_passphrase_nothing_is_begun_even_where_nothing_is_secret() {
    let (backend, _) = small_stack();
    let before = backend.stored(&name()).unwrap().checkpoint;
    let crypter =
        Crypter::new(Passphrase::given("no"), python_crypter().record().salt().unwrap(), Environment::system())
            .unwrap();
    let opened = block_on(Session::open(&backend, &name(), SessionOptions { crypter, ..options() }));
    assert!(error_of(opened).contains("incorrect passphrase"));
    assert_eq!(backend.stored(&name()).unwrap().checkpoint, before);
    assert!(open(&backend).notices().is_empty());
}

#[test]
fn a_state_under_another_salt_is_brought_under_ours() {
    let backend = MemoryBackend::default();
    backend.restore(&pulumis(), StoredStack { checkpoint: PULUMI_PYTHON.to_vec(), ..StoredStack::default() });
    let crypter = Crypter::with_new_salt(Passphrase::given("conformance"), Environment::system()).unwrap();
    let session =
        block_on(Session::open(&backend, &pulumis(), SessionOptions { crypter: crypter.clone(), ..options() }))
            .unwrap();
    let stored = Checkpoint::decode(&backend.stored(&pulumis()).unwrap().checkpoint, "x").unwrap();
    assert_eq!(stored.snapshot.key_record().unwrap().as_ref(), Some(crypter.record()));
    let StoredProvider::Sealed(code) = &stored.snapshot.resources[3].stored_provider else {
        panic!("code is kept sealed")
    };
    let original = Checkpoint::decode(PULUMI_PYTHON, "x").unwrap().snapshot;
    let StoredProvider::Sealed(before) = &original.resources[3].stored_provider else { panic!("code is kept sealed") };
    let as_before: String = serde_json::from_str(&python_crypter().decrypt(before).unwrap()).unwrap();
    assert_eq!(unseal(session.crypter(), code).unwrap(), as_before);
    assert_eq!(session.snapshot().resources[0].outputs_or_empty()["secret"], Value::secret("exported".into()));
}

#[test]
fn an_unsound_state_is_refused_unless_asked_for() {
    let backend = empty_stack();
    let unsound = Snapshot { resources: vec![Arc::new(resource("a", 1.0))], ..Snapshot::default() };
    let checkpoint = Checkpoint { snapshot: unsound, ..Checkpoint::default() }.encode(&python_crypter()).unwrap();
    backend.restore(&name(), StoredStack { checkpoint, ..StoredStack::default() });
    let message = error_of(block_on(Session::open(&backend, &name(), options())));
    assert!(message.contains("refers to the provider") && message.contains("maloko state repair"), "{message}");
    assert!(block_on(read_stack(&backend, &name(), true)).is_err());
    let lenient = SessionOptions { check_integrity: false, ..options() };
    assert_eq!(block_on(Session::open(&backend, &name(), lenient)).unwrap().snapshot().resources.len(), 1);
}

#[test]
fn a_compaction_puts_resources_in_order_and_saves_what_it_cannot_mend() {
    let (backend, _) = small_stack();
    let session = open(&backend);
    let resources = vec![Arc::new(resource("a", 2.0)), provider_resource()];
    block_on(session.compact(Snapshot { resources, ..Snapshot::default() })).unwrap();
    assert_eq!(names(open(&backend).snapshot()), ["default", "a"]);

    let session = open(&backend);
    let resources = vec![Arc::new(resource("a", 3.0))];
    let message = error_of(block_on(session.compact(Snapshot { resources, ..Snapshot::default() })));
    assert!(message.contains("It was saved, and nothing is lost"), "{message}");
    let stored = Checkpoint::decode(&backend.stored(&name()).unwrap().checkpoint, "x").unwrap().snapshot;
    assert!(stored.other["metadata"]["integrity_error"]["error"].as_str().unwrap().contains("provider"));
    assert_eq!(stored.resources[0].inputs["size"], Value::from(3.0));
}

#[test]
fn an_import_replaces_what_cannot_be_read() {
    let backend = empty_stack();
    let journal = Some(b"damaged".to_vec());
    backend.restore(&name(), StoredStack { checkpoint: b"{".to_vec(), journal, ..StoredStack::default() });
    let message = error_of(block_on(Session::open(&backend, &name(), options())));
    assert!(message.contains("maloko stack import"), "{message}");
    let unsound = Snapshot { resources: vec![Arc::new(resource("a", 1.0))], ..Snapshot::default() };
    let refused = block_on(overwrite_stack(&backend, &name(), unsound, &options()));
    assert!(error_of(refused).contains("not sound"));
    assert_eq!(backend.stored(&name()).unwrap().checkpoint, b"{");

    // From a state whose secrets another provider kept: shown, they can be taken over; encrypted, they cannot.
    let crypter = python_crypter();
    let mut foreign = crate::state::import_deployment(PULUMI_PYTHON, "copy").unwrap();
    foreign.secrets_provider = Some(json!({"type": "service"}));
    let refused = block_on(overwrite_stack(&backend, &name(), foreign.clone(), &options()));
    assert!(error_of(refused).contains("'service'"));
    foreign.secrets_provider = None;
    foreign.unseal_all(&crypter).unwrap();
    foreign.secrets_provider = Some(json!({"type": "service"}));
    block_on(overwrite_stack(&backend, &name(), foreign, &options())).unwrap();
    backend.restore(
        &name(),
        StoredStack { checkpoint: b"{".to_vec(), journal: Some(b"damaged".to_vec()), ..StoredStack::default() },
    );

    let imported = crate::state::import_deployment(PULUMI_PYTHON, "copy").unwrap();
    let notices = block_on(overwrite_stack(&backend, &name(), imported, &options())).unwrap();
    assert!(notices[0].contains("journal-2"), "{notices:?}");
    assert_eq!(backend.journals_set_aside(&name()), [b"damaged", b"damaged"]);
    assert_eq!(open(&backend).snapshot().resources.len(), 7);
}

#[test]
fn sessions_without_a_store_keep_nothing() {
    let snapshot = Checkpoint::decode(PULUMI_PYTHON, "x").unwrap().snapshot;
    let session = Session::preview(snapshot.clone(), python_crypter());
    block_on(session.append(vec![put(9, resource("x", 1.0))])).unwrap();
    block_on(session.compact(Snapshot::default())).unwrap();
    let StoredProvider::Sealed(code) = &snapshot.resources[3].stored_provider else { panic!("code is kept sealed") };
    assert!(unseal(session.crypter(), code).is_ok());
    assert!(error_of(unseal(None, code)).contains("passphrase"));
}

#[path = "session_unchanged_tests.rs"]
mod unchanged;
