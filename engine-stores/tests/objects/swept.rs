//! Other machines tidy up while one takes a stack.

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use maloko_core::state::Backend;
use maloko_stores::object::ObjectBackend;
use object_store::{ObjectStore, ObjectStoreExt};

use super::told::{Request, Told, told};
use maloko_test_support::objects::world::{block, overheard, stack, steady, with_stack};

/// A store in which another machine removes each lock as soon as it is there, as one that has just won does.
fn swept() -> Arc<Told> {
    told(|store, request| {
        if let Request::Put(location, _) = request
            && location.as_ref().contains("/locks/")
        {
            assert!(store.delete(location).now_or_never().unwrap().is_ok());
        }
    })
}

#[test]
fn a_lock_that_another_removes_says_nothing_about_the_store() {
    let (world, told) = overheard(&[]);
    let store = swept();
    block(async {
        with_stack(&ObjectBackend::over(Arc::clone(&store) as _, world.clone(), steady())).await;
        let backend = ObjectBackend::over(Arc::clone(&store) as _, world, steady());
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.release().await.unwrap();
        let left: Vec<_> = store.list(None).collect().await;
        let probes = left.iter().flatten().filter(|object| object.location.as_ref().contains("probe"));
        assert_eq!(probes.count(), 0, "{left:?}");
    });
    assert_eq!(*told.lock().unwrap(), Vec::<String>::new());
}
