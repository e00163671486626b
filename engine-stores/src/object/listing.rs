//! Names by their beginning, and by directory: for lists of many stacks, which have to reach no object that they do not tell of.

use std::sync::Arc;

use futures::TryStreamExt;
use maloko_core::error::Result;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectMeta, ObjectStore};

use super::bucket::Bucket;
use super::fault::failed;

/// What separates the parts of a name.
const SEPARATOR: &str = "/";

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

/// What a list tells of an object.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) key: String,
    /// Which version it is, as a write of it was answered.
    pub(crate) e_tag: Option<String>,
}

/// What is in a directory.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) objects: Vec<Listed>,
    /// Their names, with all that stands before them, and ending in '/'.
    pub(crate) directories: Vec<String>,
}

/// How deep a list goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    All,
    /// What lies in directories below is told of by the directory's name.
    Directory,
}

impl Bucket {
    /// All objects whose names begin with this text, in no order.
    pub(crate) async fn list_by(&self, beginning: &str) -> Result<Vec<Listed>> {
        Ok(self.content(beginning, Depth::All).await?.objects)
    }

    /// The objects and directories whose names begin with this text and have no more '/' after it, in no order.
    pub(crate) async fn list_directory(&self, beginning: &str) -> Result<Content> {
        self.content(beginning, Depth::Directory).await
    }

    async fn content(&self, beginning: &str, depth: Depth) -> Result<Content> {
        let whole = format!("{}{beginning}", self.prefix());
        let connection = self.connection().clone();
        let wanted = whole.clone();
        let list = async move {
            match connection.pages {
                Some(pages) => by_pages(&*pages, &wanted, depth).await,
                None => whole_directory(&*connection.store, &wanted, depth).await,
            }
        };
        let found =
            self.io().run(list).await?.map_err(|error| failed(&format!("list {}", self.place(beginning)), &error))?;
        let (objects, directories) = found;
        let inside = |name: &str| Some(name.strip_prefix(self.prefix())?.to_owned());
        let object = |meta: ObjectMeta| Some(Listed { key: inside(meta.location.as_ref())?, e_tag: meta.e_tag });
        let directory = |path: Path| Some(format!("{}{SEPARATOR}", inside(path.as_ref())?));
        Ok(Content {
            objects: objects.into_iter().filter_map(object).collect(),
            directories: directories.into_iter().filter_map(directory).collect(),
        })
    }
}

/// Objects, and directories.
type Found = std::result::Result<(Vec<ObjectMeta>, Vec<Path>), StoreError>;

async fn by_pages(store: &dyn PagedStore, beginning: &str, depth: Depth) -> Found {
    let (mut objects, mut directories, mut page_token) = (Vec::new(), Vec::new(), None);
    loop {
        let delimiter = (depth == Depth::Directory).then(|| SEPARATOR.into());
        let options = PaginatedListOptions { delimiter, page_token, ..PaginatedListOptions::default() };
        let page = store.list_paginated(Some(beginning), options).await?;
        objects.extend(page.result.objects);
        directories.extend(page.result.common_prefixes);
        page_token = page.page_token;
        if page_token.is_none() {
            return Ok((objects, directories));
        }
    }
}

async fn whole_directory(store: &dyn ObjectStore, beginning: &str, depth: Depth) -> Found {
    let directory = beginning.rsplit_once(SEPARATOR).map(|(directory, _)| Path::parse(directory)).transpose()?;
    let (mut objects, mut directories) = match depth {
        Depth::All => (store.list(directory.as_ref()).try_collect::<Vec<_>>().await?, Vec::new()),
        Depth::Directory => {
            let found = store.list_with_delimiter(directory.as_ref()).await?;
            (found.objects, found.common_prefixes)
        }
    };
    objects.retain(|meta| meta.location.as_ref().starts_with(beginning));
    directories.retain(|path| format!("{path}{SEPARATOR}").starts_with(beginning));
    Ok((objects, directories))
}
