//! Stacks in a local directory, in Pulumi's layout (semantics 10.5).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};

use super::backend::{Backend, Holder, Lease, StoredStack};
use super::name::StackName;
use super::surroundings::Surroundings;

/// A store in a directory: `<directory>/.pulumi/stacks/<project>/<stack>.json`.
pub struct LocalBackend {
    directory: PathBuf,
}

impl LocalBackend {
    /// The store of `directory`; nothing is made before the first stack is.
    pub fn open(directory: &Path, _surroundings: Surroundings) -> Result<Self> {
        Ok(Self { directory: directory.to_owned() })
    }

    /// The store of a `file://` URL; `~` means `home`. Relative paths are relative to `base`.
    pub fn open_url(url: &str, base: &Path, home: Option<&Path>, surroundings: Surroundings) -> Result<Self> {
        let _ = (url, home);
        Self::open(base, surroundings)
    }

    /// The directory that holds `.pulumi`.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

fn unfinished<T>() -> Result<T> {
    Err(Error::BadState("the local backend is not built yet".into()))
}

#[async_trait]
impl Backend for LocalBackend {
    fn url(&self) -> String {
        format!("file://{}", self.directory.display())
    }

    async fn list(&self) -> Result<Vec<StackName>> {
        unfinished()
    }

    async fn create(&self, _stack: &StackName, _checkpoint: &[u8]) -> Result<()> {
        unfinished()
    }

    async fn load(&self, _stack: &StackName) -> Result<StoredStack> {
        unfinished()
    }

    async fn lease(&self, _stack: &StackName) -> Result<Arc<dyn Lease>> {
        unfinished()
    }

    async fn holders(&self, _stack: &StackName) -> Result<Vec<Holder>> {
        unfinished()
    }

    async fn break_locks(&self, _stack: &StackName) -> Result<Vec<Holder>> {
        unfinished()
    }
}
