//! What is kept of former checkpoints and journals: where a writer was killed after it had kept one and before the next was in its
//! place, in a history that is bounded, and where a lease was removed by hand.

use std::sync::Arc;

use futures::TryStreamExt;
use maloko_core::state::{Backend, Lease};
use maloko_stores::object::ObjectBackend;
use object_store::{ObjectStore, ObjectStoreExt};

use super::told::{Told, told};
use maloko_test_support::objects::world::{CHECKPOINT, block, stack, steady, with_stack, world};

const FIRST: &[u8] = b"{\"version\": 3, \"checkpoint\": {\"serial\": 1}}";
const SECOND: &[u8] = b"{\"version\": 3, \"checkpoint\": {\"serial\": 2}}";
const THIRD: &[u8] = b"{\"version\": 3, \"checkpoint\": {\"serial\": 3}}";
const KEEP: usize = 3;

/// A stack with one former state, and a holder that kept the present one as the next and did not get further.
async fn half_way(store: &Arc<Told>) -> (ObjectBackend, Arc<dyn Lease>) {
    let backend = ObjectBackend::over(Arc::clone(store) as _, world(&[]), steady());
    with_stack(&backend).await;
    let lease = backend.lease(&stack(), "up").await.unwrap();
    lease.load().await.unwrap();
    lease.replace(FIRST, KEEP).await.unwrap();
    store.hang("/stacks/shop/dev.json");
    lease.replace(SECOND, KEEP).await.unwrap_err();
    store.answer();
    assert_eq!(former(&backend).await, [FIRST, CHECKPOINT]);
    (backend, lease)
}

/// The former states, the newest first.
async fn former(backend: &ObjectBackend) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for generation in backend.generations(&stack()).await.unwrap() {
        found.push(backend.load_generation(&stack(), generation.number).await.unwrap());
    }
    found
}

#[test]
fn a_former_state_is_kept_once_whoever_goes_on() {
    for (who, breaks) in [("the same run", None), ("the next run", Some(false)), ("who takes it over", Some(true))] {
        block(async {
            let store = told(|_, _| {});
            let (backend, mut lease) = half_way(&store).await;
            if breaks == Some(true) {
                backend.break_locks(&stack()).await.unwrap();
            }
            if breaks.is_some() {
                lease.release().await.unwrap();
                lease = backend.lease(&stack(), "up").await.unwrap();
                assert_eq!(lease.load().await.unwrap().checkpoint, FIRST, "{who}");
            }
            lease.replace(SECOND, KEEP).await.unwrap();
            assert_eq!(former(&backend).await, [FIRST, CHECKPOINT], "{who}");
            // A state of the same size is another one all the same; and none goes before its time.
            lease.release().await.unwrap();
            let lease = backend.lease(&stack(), "up").await.unwrap();
            lease.load().await.unwrap();
            lease.replace(THIRD, KEEP).await.unwrap();
            assert_eq!(former(&backend).await, [SECOND, FIRST, CHECKPOINT], "{who}");
            lease.release().await.unwrap();
        });
    }
}

#[test]
fn a_journal_is_found_after_several_holders_although_the_lease_is_gone() {
    block(async {
        let store = told(|_, _| {});
        let backend = ObjectBackend::over(Arc::clone(&store) as _, world(&[]), steady());
        with_stack(&backend).await;
        for record in [b"one", b"two", b"3rd"] {
            let lease = backend.lease(&stack(), "up").await.unwrap();
            if lease.load().await.unwrap().journal.is_some() {
                lease.remove_journal().await.unwrap();
            }
            lease.append(record).await.unwrap();
            // Whoever takes it over finds the lock broken, and what it writes is fenced off.
            backend.break_locks(&stack()).await.unwrap();
        }
        store.delete(&object_store::path::Path::from(".pulumi/maloko/shop/dev/lease")).await.unwrap();
        assert_eq!(backend.load(&stack()).await.unwrap().journal.as_deref(), Some(&b"3rd"[..]));
    });
}

#[test]
fn the_copies_of_checkpoints_go_with_the_entries_of_the_history() {
    history_has(2, &["dev-4.checkpoint.json", "dev-4.history.json", "dev-5.checkpoint.json", "dev-5.history.json"]);
    history_has(1, &["dev-5.checkpoint.json", "dev-5.history.json"]);
}

/// Five operations of which `keep` are kept; what then lies in the history.
fn history_has(keep: usize, expected: &[&str]) {
    block(async {
        let store = told(|_, _| {});
        let backend = ObjectBackend::over(Arc::clone(&store) as _, world(&[]), steady());
        with_stack(&backend).await;
        for at in 1..=5 {
            backend.add_history(&stack(), at, b"{}", keep).await.unwrap();
        }
        let below = object_store::path::Path::from(".pulumi/history/shop/dev");
        let found: Vec<_> = store.list(Some(&below)).try_collect().await.unwrap();
        let mut names: Vec<_> = found.iter().filter_map(|object| object.location.filename()).collect();
        names.sort_unstable();
        assert_eq!(names, expected);
    });
}
