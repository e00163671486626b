//! A store in memory that tells a test of each request when it has been carried out.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};

/// What was asked of the store.
pub(super) enum Request<'a> {
    /// An object was to be written, of so many bytes.
    Put(&'a Path, usize),
    /// Anything else.
    Other,
}

type Listener = Box<dyn Fn(&InMemory, Request<'_>) + Send + Sync>;

pub(super) struct Told {
    store: InMemory,
    listener: Listener,
}

/// A store whose requests `listener` is told of. It may change the store, as another machine might.
pub(super) fn told(listener: impl Fn(&InMemory, Request<'_>) + Send + Sync + 'static) -> Arc<Told> {
    Arc::new(Told { store: InMemory::new(), listener: Box::new(listener) })
}

impl Told {
    fn other<T>(&self, answer: T) -> T {
        (self.listener)(&self.store, Request::Other);
        answer
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("told")
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Told {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let bytes = payload.content_length();
        let written = self.store.put_opts(location, payload, options).await;
        (self.listener)(&self.store, Request::Put(location, bytes));
        written
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.other(self.store.put_multipart_opts(location, options).await)
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.other(self.store.get_opts(location, options).await)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.other(self.store.delete_stream(locations))
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.other(self.store.list(prefix))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.other(self.store.list_with_delimiter(prefix).await)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.other(self.store.copy_opts(from, to, options).await)
    }
}
