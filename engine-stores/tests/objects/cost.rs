//! What an operation costs: requests and bytes for each resource, flat however many there are (P17).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use maloko_core::state::Backend;
use maloko_stores::object::{ObjectBackend, Timing};

use super::told::{Request, Told, told};
use maloko_test_support::objects::world::{CHECKPOINT, block, stack, steady, with_stack, world};

/// What was asked of a store.
#[derive(Default)]
struct Cost {
    requests: usize,
    bytes: usize,
    written: Vec<String>,
}

/// A store, and what it is asked.
struct Counting {
    store: Arc<Told>,
    cost: Arc<Mutex<Cost>>,
}

impl Counting {
    fn begin() -> Self {
        let cost: Arc<Mutex<Cost>> = Arc::default();
        let counted = Arc::clone(&cost);
        let store = told(move |_, request| {
            let mut cost = lock(&counted);
            cost.requests += 1;
            if let Request::Put(location, bytes) = request {
                cost.bytes += bytes;
                cost.written.push(location.to_string());
            }
        });
        Self { store, cost }
    }

    /// A machine that shows no sign of life while it is counted what it asks.
    fn machine(&self) -> ObjectBackend {
        let timing = Timing { beat: Duration::from_secs(3600), ..steady() };
        ObjectBackend::over(Arc::clone(&self.store) as _, world(&[]), timing)
    }

    /// What was asked since the last time.
    fn take(&self) -> Cost {
        std::mem::take(&mut *lock(&self.cost))
    }

    /// Requests and bytes since the last time.
    fn figures(&self) -> (usize, usize) {
        let Cost { requests, bytes, .. } = self.take();
        (requests, bytes)
    }
}

fn lock(cost: &Mutex<Cost>) -> MutexGuard<'_, Cost> {
    cost.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one operation with so many group commits of `line` asks of a store: opening, commits, and the compaction.
fn operation(commits: usize, line: &[u8]) -> [(usize, usize); 3] {
    let counting = Counting::begin();
    let backend = counting.machine();
    block(async {
        with_stack(&backend).await;
        counting.take();
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.load().await.unwrap();
        let opening = counting.figures();
        for _ in 0..commits {
            lease.append(line).await.unwrap();
        }
        let appending = counting.figures();
        lease.replace(CHECKPOINT, 3).await.unwrap();
        lease.remove_journal().await.unwrap();
        lease.release().await.unwrap();
        [opening, appending, counting.figures()]
    })
}

#[test]
fn requests_and_bytes_for_each_commit_are_flat() {
    let line = [b'x'; 1000];
    let (few, many) = (operation(100, &line), operation(10_000, &line));
    eprintln!("opening, 100 commits, compaction: {few:?}; 10,000 commits: {many:?}");
    // The first takes the summary away, too.
    assert_eq!((few[1].0, many[1].0), (101, 10_001), "{few:?} {many:?}");
    assert!(few[1].1 / 100 < 1200 && many[1].1 / 10_000 < 1200, "{few:?} {many:?}");
    for (small, large) in [(few[0], many[0]), (few[2], many[2])] {
        assert!(small.0 <= 16 && large.0 <= 16, "{few:?} {many:?}");
    }
}

#[test]
fn an_operation_that_changes_nothing_writes_only_lock_and_heartbeat() {
    let counting = Counting::begin();
    let backend = counting.machine();
    block(async {
        with_stack(&backend).await;
        counting.take();
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.load().await.unwrap();
        lease.release().await.unwrap();
        let Cost { requests, written, .. } = counting.take();
        assert!(written.iter().all(|name| name.ends_with("/lease") || name.contains("/locks/")), "{written:?}");
        assert!(requests <= 14, "{requests} requests");
    });
}
