//! What a bucket talks to: a store, and the same one page by page.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::list::PaginatedListStore;

/// A store that lists its names page by page, from any beginning on.
pub(crate) trait PagedStore: ObjectStore + PaginatedListStore {}

impl<S: ObjectStore + PaginatedListStore> PagedStore for S {}

/// The connection to a store.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The same store, if it lists by pages. One in memory does not.
    pub(crate) pages: Option<Arc<dyn PagedStore>>,
}
