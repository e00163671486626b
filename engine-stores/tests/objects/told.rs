//! A store in memory that tells a test of each request when it has been carried out, and can be late with writes.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
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
    /// A part of the names whose writes hang.
    hangs: Mutex<Option<&'static str>>,
    /// Does not know conditions, and writes whatever stands there.
    heedless: bool,
    under_way: Mutex<Vec<(Path, PutPayload, PutOptions)>>,
}

/// A store that names its requests to `listener`. It may change the store, as another machine might.
pub(super) fn told(listener: impl Fn(&InMemory, Request<'_>) + Send + Sync + 'static) -> Arc<Told> {
    let (store, listener) = (InMemory::new(), Box::new(listener));
    Arc::new(Told { store, listener, hangs: Mutex::default(), heedless: false, under_way: Mutex::default() })
}

/// A store without conditional writes.
pub(super) fn heedless() -> Arc<Told> {
    let (store, listener) = (InMemory::new(), Box::new(|_: &InMemory, _: Request<'_>| {}));
    Arc::new(Told { store, listener, hangs: Mutex::default(), heedless: true, under_way: Mutex::default() })
}

impl Told {
    /// From now on no write to an object with this in its name is answered or carried out.
    pub(super) fn hang(&self, part: &'static str) {
        *self.hangs.lock().unwrap() = Some(part);
    }

    /// It answers again.
    pub(super) fn answer(&self) {
        *self.hangs.lock().unwrap() = None;
    }

    /// It answers again; what it was sent in the meantime it gets now.
    pub(super) async fn wake(&self) {
        self.answer();
        let under_way = std::mem::take(&mut *self.under_way.lock().unwrap());
        assert!(!under_way.is_empty(), "nothing was sent");
        for (location, payload, options) in under_way {
            drop(self.store.put_opts(&location, payload, options).await);
        }
    }

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
    async fn put_opts(&self, location: &Path, payload: PutPayload, mut options: PutOptions) -> Result<PutResult> {
        if self.heedless {
            options.mode = PutMode::Overwrite;
        }
        let hangs = *self.hangs.lock().unwrap();
        if hangs.is_some_and(|part| location.as_ref().contains(part)) {
            self.under_way.lock().unwrap().push((location.clone(), payload, options));
            return Err(Error::Generic { store: "hanging", source: "no answer".into() });
        }
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
