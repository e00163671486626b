//! Stacks in a local directory, in Pulumi's layout (docs/rules 10.5).
//!
//! ```text
//! .pulumi/meta.yaml                                           version: 1
//! .pulumi/stacks/<project>/<stack>.json                       the checkpoint; .bak: the one before
//! .pulumi/stacks/<project>/<stack>.pulumi-tags                   the stack's tags, as Pulumi keeps them
//! .pulumi/history/<project>/<stack>/<stack>-<nanoseconds>.history.json, .checkpoint.json     past operations
//! .pulumi/locks/organization/<project>/<stack>/<uuid>.json    locks that both tools respect
//! .pulumi/maloko/<project>/<stack>/lease                      our lock of the operating system, and the epoch
//! .pulumi/maloko/<project>/<stack>/journal                    only while an operation runs, or after it was killed
//! .pulumi/maloko/<project>/<stack>/seal                       what makes changes by others visible
//! .pulumi/maloko/<project>/<stack>/generations/<number>.json  former checkpoints
//! .pulumi/maloko/<project>/<stack>/summary                    what a list shows of the checkpoint
//! ```
//!
//! The futures of this backend do their work when they are first polled, on the caller's thread.

mod epoch;
mod gate;
mod generations;
mod history;
mod layout;
mod lease;
mod locks;
mod summaries;
mod takeover;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};

use super::backend::{Backend, Generation, Lease, ListedStack, StackFilter, StoredEntry, StoredStack};
use super::checkpoint::summary::Summary;
use super::name::StackName;
use crate::environment::{Environment, files};
use crate::holder::Holder;

use layout::Layout;
use lease::LocalLease;

/// A store in a directory: `<directory>/.pulumi/stacks/<project>/<stack>.json`.
pub struct LocalBackend {
    layout: Layout,
    environment: Environment,
}

impl LocalBackend {
    /// The store of `directory`; nothing is made before the first stack is. A store in an older or newer layout is
    /// refused.
    pub fn open(directory: &Path, environment: Environment) -> Result<Self> {
        let environment = Environment { files: environment.files.below(directory), ..environment };
        let layout = Layout::new(Arc::clone(&environment.files), directory);
        layout.check_version()?;
        Ok(Self { layout, environment })
    }

    /// The store of a `file://` URL; `~` means `home`. Relative paths are relative to `base`.
    pub fn open_url(url: &str, base: &Path, home: Option<&Path>, environment: Environment) -> Result<Self> {
        Self::open(&directory_of(url, base, home)?, environment)
    }

    /// The directory that holds `.pulumi`.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.layout.directory()
    }

    fn take_lease(&self, stack: &StackName, operation: &str) -> Result<LocalLease> {
        LocalLease::take(self.layout.stack(stack), self.environment.clone(), operation)
    }
}

fn directory_of(url: &str, base: &Path, home: Option<&Path>) -> Result<PathBuf> {
    let path = url.strip_prefix("file://").ok_or_else(|| {
        Error::Configuration(
            format!(
                "'{url}' is not a place for state that this version supports; use a local directory: file://<path>"
            )
            .into(),
        )
    })?;
    if path.is_empty() {
        return Err(Error::Configuration(format!("'{url}' names no directory: write file://<path>").into()));
    }
    let below_home = if path == "~" { Some("") } else { path.strip_prefix("~/") };
    match (below_home, home) {
        (None, _) => Ok(base.join(path)),
        (Some(rest), Some(home)) => Ok(home.join(rest)),
        (Some(_), None) => Err(Error::Configuration(
            format!("'{url}' begins at the home directory, which is not known: set HOME, or write the whole path")
                .into(),
        )),
    }
}

#[async_trait]
impl Backend for LocalBackend {
    fn url(&self) -> String {
        format!("file://{}", self.layout.directory().display())
    }

    async fn list(&self) -> Result<Vec<StackName>> {
        self.layout.list(&StackFilter::default())
    }

    async fn survey(&self, wanted: &StackFilter) -> Result<Vec<ListedStack>> {
        let listed = self.layout.list(wanted)?.into_iter().map(|name| {
            let files = self.layout.stack(&name);
            let tags = if wanted.tags { files::read_if_exists(&*files.disk, &files.tags)? } else { None };
            let locked = files::exists(&*files.disk, &files.locks)?;
            Ok(ListedStack { summary: summaries::read(&files), locked, tags, name })
        });
        listed.collect()
    }

    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()> {
        self.layout.prepare()?;
        let files = self.layout.stack(stack);
        let exists = || Error::Configuration(format!("there is a stack '{stack}' already in {}", self.url()).into());
        if files.exists()? {
            return Err(exists());
        }
        let lease = self.take_lease(stack, "maloko stack init")?;
        let written = files.create(checkpoint);
        if matches!(written, Ok(true)) {
            summaries::keep(&files, Summary::of(checkpoint));
        }
        lease.give_back()?;
        if written? { Ok(()) } else { Err(exists()) }
    }

    async fn load(&self, stack: &StackName) -> Result<StoredStack> {
        self.layout.stack(stack).load()
    }

    async fn lease(&self, stack: &StackName, operation: &str) -> Result<Arc<dyn Lease>> {
        self.layout.stack(stack).require()?;
        Ok(Arc::new(self.take_lease(stack, operation)?))
    }

    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>> {
        let locks = locks::list(&*self.environment.files, &self.layout.stack(stack).locks)?;
        Ok(locks.into_iter().map(|lock| lock.holder).collect())
    }

    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>> {
        takeover::take_over(&self.layout.stack(stack), &self.environment).await
    }

    async fn generations(&self, stack: &StackName) -> Result<Vec<Generation>> {
        generations::list(&self.layout.stack(stack))
    }

    async fn load_generation(&self, stack: &StackName, number: u64) -> Result<Vec<u8>> {
        generations::load(&self.layout.stack(stack), number)
    }

    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8], keep: usize) -> Result<()> {
        let files = self.layout.stack(stack);
        history::add(&files, at, entry)?;
        if keep > 0 { history::trim(&files, keep) } else { Ok(()) }
    }

    async fn adopt_history(&self, stack: &StackName, entries: &[StoredEntry]) -> Result<()> {
        history::adopt(&self.layout.stack(stack), entries)
    }

    async fn history(&self, stack: &StackName, newest: usize) -> Result<Vec<StoredEntry>> {
        let files = self.layout.stack(stack);
        files.require()?;
        history::list(&files, newest)
    }

    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()> {
        history::hand_on(&self.layout.stack(from), &self.layout.stack(to))
    }

    async fn tags(&self, stack: &StackName) -> Result<Option<Vec<u8>>> {
        let files = self.layout.stack(stack);
        files.require()?;
        files::read_if_exists(&*files.disk, &files.tags)
    }
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
