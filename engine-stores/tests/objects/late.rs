//! Pieces of the journal that arrive long after the writer has given them up.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::BoxStream;
use maloko_core::state::Backend;
use maloko_stores::object::ObjectBackend;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::world::{block, brisk, stack, with_stack, world};

/// A store that answers no write of the journal while it `hangs`, and carries these out when it is told to.
#[derive(Debug, Default)]
struct Hanging {
    store: InMemory,
    hangs: AtomicBool,
    under_way: Mutex<Vec<(Path, PutPayload, PutOptions)>>,
}

impl Hanging {
    /// The store answers again; what it was sent in the meantime it gets now.
    async fn wake(&self) {
        self.hangs.store(false, Ordering::SeqCst);
        let under_way = std::mem::take(&mut *self.under_way.lock().unwrap());
        assert!(!under_way.is_empty(), "nothing was sent");
        for (location, payload, options) in under_way {
            drop(self.store.put_opts(&location, payload, options).await);
        }
    }
}

impl fmt::Display for Hanging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hanging")
    }
}

#[async_trait]
impl ObjectStore for Hanging {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        if self.hangs.load(Ordering::SeqCst) && location.as_ref().contains("/journal/") {
            self.under_way.lock().unwrap().push((location.clone(), payload, options));
            return Err(Error::Generic { store: "hanging", source: "no answer".into() });
        }
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
        self.store.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

/// A run whose second record is not answered for, and that then ends; what the next one finds, and what it may write.
fn after_a_late_record(folds: bool, records_before: &[&[u8]]) -> Option<Vec<u8>> {
    let store = Arc::new(Hanging::default());
    let backend = ObjectBackend::over(Arc::clone(&store) as _, world(&[]), brisk());
    block(async {
        with_stack(&backend).await;
        let lease = backend.lease(&stack(), "up").await.unwrap();
        for record in records_before {
            lease.append(record).await.unwrap();
        }
        store.hangs.store(true, Ordering::SeqCst);
        lease.append(b"late\n").await.unwrap_err();
        store.hangs.store(false, Ordering::SeqCst);
        if folds {
            lease.replace(b"folded", 3).await.unwrap();
            lease.remove_journal().await.unwrap();
        }
        lease.release().await.unwrap();
        store.wake().await;

        let seen = backend.load(&stack()).await.unwrap().journal;
        let next = backend.lease(&stack(), "up").await.unwrap();
        let found = next.load().await.unwrap().journal;
        assert_eq!(seen, found, "with and without a lease");
        next.append(b"next\n").await.unwrap();
        let with_next = [found.clone().unwrap_or_default(), b"next\n".to_vec()].concat();
        assert_eq!(next.load().await.unwrap().journal, Some(with_next));
        next.remove_journal().await.unwrap();
        next.release().await.unwrap();
        found
    })
}

#[test]
fn a_record_that_comes_after_the_fold_is_in_no_journal() {
    assert_eq!(after_a_late_record(true, &[b"one\n"]), None);
    assert_eq!(after_a_late_record(true, &[]), None);
}

#[test]
fn a_record_that_comes_after_the_run_is_not_in_the_journal_that_it_left() {
    assert_eq!(after_a_late_record(false, &[b"one\n"]).as_deref(), Some(&b"one\n"[..]));
    assert_eq!(after_a_late_record(false, &[]), None);
}

#[test]
fn a_record_that_came_although_nobody_was_told_stays_in_the_journal() {
    let store = Arc::new(Hanging::default());
    let backend = ObjectBackend::over(Arc::clone(&store) as _, world(&[]), brisk());
    block(async {
        with_stack(&backend).await;
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.append(b"one\n").await.unwrap();
        store.hangs.store(true, Ordering::SeqCst);
        lease.append(b"late\n").await.unwrap_err();
        store.wake().await;
        lease.release().await.unwrap();
        let next = backend.lease(&stack(), "up").await.unwrap();
        assert_eq!(next.load().await.unwrap().journal.as_deref(), Some(&b"one\nlate\n"[..]));
        next.append(b"next\n").await.unwrap();
        next.release().await.unwrap();
        assert_eq!(backend.load(&stack()).await.unwrap().journal.as_deref(), Some(&b"one\nlate\nnext\n"[..]));
    });
}
