//! What an operation costs: requests and bytes for each resource, flat however many there are (P17).

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::BoxStream;
use maloko_core::state::Backend;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};

use super::world::{CHECKPOINT, block, over_any, stack, with_stack};

/// Counts requests, and the bytes that are written.
#[derive(Debug, Default)]
struct Counting {
    store: InMemory,
    requests: AtomicUsize,
    bytes: AtomicUsize,
    written: Mutex<Vec<String>>,
}

impl Counting {
    fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests and bytes since the last time.
    fn take(&self) -> (usize, usize) {
        (self.requests.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counting")
    }
}

#[async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.count();
        self.bytes.fetch_add(payload.content_length(), Ordering::Relaxed);
        self.written.lock().unwrap().push(location.to_string());
        self.store.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.count();
        self.store.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.count();
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.count();
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.count();
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.count();
        self.store.copy_opts(from, to, options).await
    }
}

/// What one operation with so many group commits of `line` asks of a store: opening, commits, and the fold.
fn operation(commits: usize, line: &[u8]) -> [(usize, usize); 3] {
    let store = Arc::new(Counting::default());
    let backend = over_any(Arc::clone(&store) as _);
    block(async {
        with_stack(&backend).await;
        store.take();
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.load().await.unwrap();
        let opening = store.take();
        for _ in 0..commits {
            lease.append(line).await.unwrap();
        }
        let appending = store.take();
        lease.replace(CHECKPOINT, 3).await.unwrap();
        lease.remove_journal().await.unwrap();
        lease.release().await.unwrap();
        [opening, appending, store.take()]
    })
}

#[test]
fn requests_and_bytes_for_each_commit_are_flat() {
    let line = [b'x'; 1000];
    let (few, many) = (operation(100, &line), operation(10_000, &line));
    eprintln!("opening, 100 commits, fold: {few:?}; 10,000 commits: {many:?}");
    // A heartbeat may come in between, which is a request of its own.
    let flat = |requests: usize, commits: usize| (commits..=commits + commits / 50 + 40).contains(&requests);
    assert!(flat(few[1].0, 100) && flat(many[1].0, 10_000), "{few:?} {many:?}");
    assert!(few[1].1 / 100 < 1200 && many[1].1 / 10_000 < 1200, "{few:?} {many:?}");
    for (small, large) in [(few[0], many[0]), (few[2], many[2])] {
        assert!(small.0 <= 16 && large.0 <= 16, "{few:?} {many:?}");
    }
}

#[test]
fn an_operation_that_changes_nothing_writes_only_lock_and_heartbeat() {
    let store = Arc::new(Counting::default());
    let backend = over_any(Arc::clone(&store) as _);
    block(async {
        with_stack(&backend).await;
        store.take();
        store.written.lock().unwrap().clear();
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.load().await.unwrap();
        lease.release().await.unwrap();
        let (requests, _) = store.take();
        let written = std::mem::take(&mut *store.written.lock().unwrap());
        assert!(written.iter().all(|name| name.ends_with("/lease") || name.contains("/locks/")), "{written:?}");
        assert!(requests <= 14, "{requests} requests");
    });
}
