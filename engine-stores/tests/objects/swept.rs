//! Other machines tidy up while one takes a stack.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::BoxStream;
use maloko_core::state::Backend;
use maloko_stores::object::ObjectBackend;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::world::{block, brisk, stack, with_stack, world};

/// A store in which another machine removes each lock as soon as it is there, as one that has just won does.
#[derive(Debug, Default)]
struct Swept(InMemory);

impl fmt::Display for Swept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("swept")
    }
}

#[async_trait]
impl ObjectStore for Swept {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let written = self.0.put_opts(location, payload, options).await;
        if location.as_ref().contains("/locks/") {
            self.0.delete(location).await?;
        }
        written
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await
    }
}

#[test]
fn a_lock_that_another_removes_says_nothing_about_the_store() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = Arc::clone(&told);
    let mut world = world(&[]);
    world.notify = Arc::new(move |text| listener.lock().unwrap().push(text.to_owned()));
    let store = Arc::new(Swept::default());
    block(async {
        with_stack(&ObjectBackend::over(Arc::clone(&store) as _, world.clone(), brisk())).await;
        let backend = ObjectBackend::over(Arc::clone(&store) as _, world, brisk());
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.release().await.unwrap();
        let left: Vec<_> = futures::StreamExt::collect(store.list(None)).await;
        let probes = left.iter().flatten().filter(|object| object.location.as_ref().contains("probe"));
        assert_eq!(probes.count(), 0, "{left:?}");
    });
    assert_eq!(*told.lock().unwrap(), Vec::<String>::new());
}
