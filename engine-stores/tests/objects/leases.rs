//! What a lease does, against each kind of server and with each kind of trouble on the way.

use std::sync::Arc;

use maloko_core::state::Backend;
use maloko_stores::object::ObjectBackend;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use maloko_test_support::objects::servers::{S3_KEYS, Server};
use maloko_test_support::objects::world::{CHECKPOINT, alone, block, over, overheard, stack, steady, with_stack};

/// Everything that an operation, a crash and the operation after it ask of a store.
async fn whole_life(here: &ObjectBackend, there: &ObjectBackend) {
    with_stack(here).await;
    assert!(here.create(&stack(), CHECKPOINT).await.unwrap_err().to_string().contains("already"));
    assert_eq!(there.list().await.unwrap(), [stack()]);
    let first = here.lease(&stack(), "up").await.unwrap();
    assert_eq!(first.load().await.unwrap().checkpoint, CHECKPOINT);
    first.append(b"one\n").await.unwrap();
    first.append(b"two\n").await.unwrap();
    assert_eq!(there.stored().await.journal.as_deref(), Some(&b"one\ntwo\n"[..]));
    // A second Ctrl-C: the journal stays.
    first.release().await.unwrap();

    let second = there.lease(&stack(), "up").await.unwrap();
    assert!(second.epoch() > first.epoch());
    assert!(first.append(b"late\n").await.is_err());
    assert_eq!(second.load().await.unwrap().journal.as_deref(), Some(&b"one\ntwo\n"[..]));
    second.cut_journal(6).await.unwrap();
    second.append(b"three\n").await.unwrap();
    assert_eq!(second.load().await.unwrap().journal.as_deref(), Some(&b"one\ntwthree\n"[..]));
    for text in ["a", "b", "c", "d", "e"] {
        second.replace(text.as_bytes(), 0).await.unwrap();
        second.write_seal(text.as_bytes()).await.unwrap();
    }
    second.remove_journal().await.unwrap();
    second.append(b"four\n").await.unwrap();
    let aside = second.set_journal_aside().await.unwrap();
    assert!(aside.contains("/aside/journal-"), "{aside}");
    second.release().await.unwrap();

    let stored = here.stored().await;
    assert_eq!(
        (stored.checkpoint.as_slice(), stored.journal, stored.seal.as_deref()),
        (&b"e"[..], None, Some(&b"e"[..]))
    );
    let kept: Vec<u64> = here.generations(&stack()).await.unwrap().iter().map(|kept| kept.number).collect();
    assert_eq!(kept, [5, 4, 3]);
    assert_eq!(here.load_generation(&stack(), 5).await.unwrap(), b"d");
    assert!(here.load_generation(&stack(), 1).await.unwrap_err().to_string().contains("no former state"));
    here.add_history(&stack(), 12, b"{}", 0).await.unwrap();
    assert_eq!(there.history(&stack(), 0).await.unwrap()[0].at, 12);

    let third = here.lease(&stack(), "stack rm").await.unwrap();
    third.remove_stack().await.unwrap();
    third.release().await.unwrap();
    assert!(there.list().await.unwrap().is_empty());
    assert!(there.load_error().await.contains("no stack named 'dev'"));
    // Its epochs are not used again.
    with_stack(there).await;
    assert!(there.lease(&stack(), "up").await.unwrap().epoch() > third.epoch());
}

trait Shortly {
    async fn stored(&self) -> maloko_core::state::StoredStack;
    async fn load_error(&self) -> String;
}

impl Shortly for ObjectBackend {
    async fn stored(&self) -> maloko_core::state::StoredStack {
        Backend::load(self, &stack()).await.unwrap()
    }

    async fn load_error(&self) -> String {
        Backend::load(self, &stack()).await.unwrap_err().to_string()
    }
}

#[test]
fn a_stack_lives_in_memory() {
    let store = Arc::new(InMemory::new());
    block(whole_life(&over(&store), &over(&store)));
}

#[test]
fn a_stack_lives_in_s3() {
    let server = Server::shared_s3();
    block(whole_life(&server.s3("a/b"), &server.s3("a/b")));
}

#[test]
fn a_stack_lives_in_an_s3_store_without_conditional_writes() {
    let server = Server::moto(&["--strip"]);
    let (world, told) = overheard(S3_KEYS);
    block(whole_life(&server.s3_with("", steady(), &world), &server.s3("")));
    assert!(told.lock().unwrap().iter().any(|text| text.contains("does not refuse conditional writes")));
}

/// Each lost answer makes the client ask again, and meet what it wrote itself.
#[test]
fn lost_answers_are_recognised_as_our_own_writes() {
    let server = Server::moto(&["--lose", "2"]);
    let [here, there] = [(); 2].map(|()| server.s3_with("x", steady(), &alone(S3_KEYS)));
    block(whole_life(&here, &there));
}

#[test]
fn writes_that_are_delivered_twice_change_nothing() {
    let server = Server::moto(&["--late", "2"]);
    let [here, there] = [(); 2].map(|()| server.s3_with("x", steady(), &alone(S3_KEYS)));
    block(whole_life(&here, &there));
}

#[test]
fn a_stack_lives_in_azure() {
    let server = Server::shared_azure();
    block(whole_life(&server.azure("a"), &server.azure("a")));
}

#[test]
fn pulumis_locks_are_respected_and_written() {
    let store = Arc::new(InMemory::new());
    let backend = over(&store);
    let locks = Path::from(".pulumi/locks/organization/shop/dev");
    block(async {
        with_stack(&backend).await;
        let foreign = locks.clone().join("0a1b.json");
        let content = r#"{"pid":7,"username":"ada","hostname":"mainframe","timestamp":"2026-01-01T00:00:00Z"}"#;
        store.put(&foreign, PutPayload::from_static(content.as_bytes())).await.unwrap();
        let refused = backend.lease(&stack(), "up").await.err().unwrap().to_string();
        assert!(
            refused.contains("pulumi of ada (process 7 on mainframe") && refused.contains("0a1b.json"),
            "{refused}"
        );
        assert_eq!(backend.break_locks(&stack()).await.unwrap().len(), 1);

        let lease = backend.lease(&stack(), "up").await.unwrap();
        assert_eq!(locks_in(&store, &locks).await, 1);
        lease.append(b"x\n").await.unwrap();
        lease.release().await.unwrap();
        assert_eq!(locks_in(&store, &locks).await, 1, "a journal is left, so the lock stays");
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.load().await.unwrap();
        lease.remove_journal().await.unwrap();
        lease.release().await.unwrap();
        assert_eq!(locks_in(&store, &locks).await, 0);
    });
}

/// A lock that stays makes `pulumi` refuse the stack, and says that there is a journal.
#[test]
fn no_lock_is_left_without_a_journal() {
    let store = Arc::new(InMemory::new());
    let (here, there) = (over(&store), over(&store));
    let locks = Path::from(".pulumi/locks/organization/shop/dev");
    block(async {
        with_stack(&here).await;
        assert_eq!(locks_in(&store, &locks).await, 0, "the stack was made");
        let lease = here.lease(&stack(), "stack init").await.unwrap();
        lease.write_seal(b"seal").await.unwrap();
        lease.release().await.unwrap();
        assert_eq!(locks_in(&store, &locks).await, 0, "it was sealed");
        let cancelled = here.lease(&stack(), "up").await.unwrap();
        there.break_locks(&stack()).await.unwrap();
        drop(cancelled);
        there.lease(&stack(), "up").await.unwrap().release().await.unwrap();
        assert_eq!(locks_in(&store, &locks).await, 0, "it was taken from a run that had done nothing");
        let lease = here.lease(&stack(), "up").await.unwrap();
        lease.append(b"x\n").await.unwrap();
        lease.cut_journal(0).await.unwrap();
        lease.release().await.unwrap();
        assert_eq!(locks_in(&store, &locks).await, 0, "nothing is left of the journal");
        let lease = here.lease(&stack(), "up").await.unwrap();
        lease.append(b"x\n").await.unwrap();
        lease.release().await.unwrap();
        there.lease(&stack(), "tag").await.unwrap().release().await.unwrap();
        assert_eq!(locks_in(&store, &locks).await, 1, "who looked at nothing leaves the lock of a journal");
        assert_eq!(there.stored().await.journal.as_deref(), Some(&b"x\n"[..]));
    });
}

async fn locks_in(store: &InMemory, below: &Path) -> usize {
    use futures::StreamExt;
    store.list(Some(below)).collect::<Vec<_>>().await.len()
}

#[test]
fn a_second_writer_is_told_who_works() {
    let store = Arc::new(InMemory::new());
    let (first, second) = (over(&store), over(&store));
    block(async {
        with_stack(&first).await;
        let lease = first.lease(&stack(), "destroy").await.unwrap();
        let refused = second.lease(&stack(), "up").await.err().unwrap().to_string();
        assert!(refused.contains("`destroy`, process") && refused.contains("`maloko cancel`"), "{refused}");
        assert_eq!(second.holders(&stack()).await.unwrap()[0].operation, "destroy");
        lease.release().await.unwrap();
        assert!(second.holders(&stack()).await.unwrap().is_empty());
    });
}

#[test]
fn a_lost_lease_object_is_made_anew_without_losing_the_journal() {
    let store = Arc::new(InMemory::new());
    let backend = over(&store);
    block(async {
        with_stack(&backend).await;
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.append(b"one\n").await.unwrap();
        lease.release().await.unwrap();
        store.delete(&Path::from(".pulumi/maloko/shop/dev/lease")).await.unwrap();
        assert_eq!(backend.stored().await.journal.as_deref(), Some(&b"one\n"[..]));
        let next = backend.lease(&stack(), "up").await.unwrap();
        assert!(next.epoch() > lease.epoch());
        assert_eq!(next.load().await.unwrap().journal.as_deref(), Some(&b"one\n"[..]));
    });
}
