//! A bucket of an object store with edges: each request that changes something may be the last thing that its process does,
//! may fail, or may be carried out and answered by an error.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use maloko_core::environment::Environment;
use maloko_core::state::Backend;
use maloko_stores::object::{ObjectBackend, Timing};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use crate::world::{Fate, World, digest};

/// The store as one process sees it.
pub(super) fn reached(
    inner: Arc<InMemory>,
    world: &World,
    process: usize,
    environment: Environment,
) -> Arc<dyn Backend> {
    let store = Arc::new(Bucket { inner, world: world.clone(), process });
    let world = maloko_stores::World {
        variables: Arc::new(|_| None),
        home: None,
        environment,
        notify: Arc::new({
            let world = world.clone();
            move |told| world.note(told)
        }),
    };
    Arc::new(ObjectBackend::over(store, world, Timing::default()))
}

#[derive(Clone)]
struct Bucket {
    inner: Arc<InMemory>,
    world: World,
    process: usize,
}

impl Bucket {
    /// Comes to a request that changes something, and makes it unless the process is gone, or the request is lost.
    async fn change<T>(&self, target: &Path, what: &str, request: impl Future<Output = Result<T>>) -> Result<T> {
        let what = format!("{what} {target}");
        let note = |answer: &Result<T>, answered: &str| {
            // Of what a stack consists of nothing may be written by one that lost its lease.
            let verb = match (answer.is_ok(), is_state(target)) {
                (false, _) => "was refused",
                (true, true) => "wrote",
                (true, false) => "changed",
            };
            self.world.note(&format!("process {} {verb}{answered}: {what}", self.process));
        };
        let failed =
            |why: &str| Error::Generic { store: "simulated", source: Box::new(std::io::Error::other(why.to_owned())) };
        match self.world.edge(self.process, &what) {
            Fate::Passes => {
                let answer = request.await;
                note(&answer, "");
                answer
            }
            Fate::Dies => Err(failed("the process is gone")),
            Fate::Fails(kind) => {
                if self.world.below(2) == 1 {
                    let answer = request.await;
                    note(&answer, ", unanswered");
                }
                Err(failed(&kind.to_string()))
            }
        }
    }
}

fn is_state(target: &Path) -> bool {
    let key = target.as_ref();
    key.contains("/journal/")
        || key.ends_with("/seal")
        || (key.contains("/stacks/") && target.extension() == Some("json"))
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bucket of process {}", self.process)
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[async_trait]
impl ObjectStore for Bucket {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let bytes: Vec<u8> = payload.iter().flatten().copied().collect();
        let what = format!("{} bytes ({:016x}) to", bytes.len(), digest(&bytes));
        self.change(location, &what, self.inner.put_opts(location, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let bucket = self.clone();
        let delete = move |location: Path| {
            let bucket = bucket.clone();
            async move {
                bucket.change(&location, "the end of", bucket.inner.delete(&location)).await?;
                Ok(location)
            }
        };
        locations.and_then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.change(to, &format!("a copy of {from} to"), self.inner.copy_opts(from, to, options)).await
    }
}
