//! Other stacks, as a program reads them.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::message;
use crate::message::Command;
use crate::resource_state::ResourceState;
use crate::state::{Backend, Crypter, StackName, read_stack};
use crate::value::PropertyMap;

use super::unreadable::Unreadable;

/// Another stack as it was left by its last operation.
#[derive(Clone, Debug, Default)]
pub struct OtherStack {
    /// Its resources; what is secret in them is decrypted, where the key of this run opens it.
    pub resources: Vec<Arc<ResourceState>>,
}

impl OtherStack {
    /// What the stack gives out; empty for one that was never deployed.
    #[must_use]
    pub fn outputs(&self) -> PropertyMap {
        let root = self.resources.iter().find(|resource| resource.urn.is_root_stack() && !resource.delete);
        root.map(|resource| (*resource.outputs_or_empty()).clone()).unwrap_or_default()
    }
}

/// Reads other stacks.
#[async_trait]
pub trait StackReader: Send + Sync {
    /// Reads a stack by its name as a program writes it: `<stack>`, `organization/<stack>` or
    /// `organization/<project>/<stack>`.
    async fn read(&self, name: &str) -> Result<OtherStack>;
}

/// The other stacks that an operation can read; none by default.
#[derive(Clone, Default)]
pub struct OtherStacks {
    reader: Option<Arc<dyn StackReader>>,
    unreadable: Unreadable,
}

impl fmt::Debug for OtherStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtherStacks").field("reader", &self.reader.is_some()).finish_non_exhaustive()
    }
}

impl OtherStacks {
    /// What the reader finds.
    #[must_use]
    pub fn new(reader: Arc<dyn StackReader>) -> Self {
        Self { reader: Some(reader), unreadable: Unreadable::default() }
    }

    /// Reads a stack; the error is for the program's author.
    pub(crate) async fn read(&self, name: &str) -> std::result::Result<OtherStack, String> {
        let Some(reader) = &self.reader else {
            return Err(format!("the stack '{name}' cannot be read: this run keeps its state in memory only"));
        };
        let read = reader.read(name).await;
        let mut stack = read.map_err(|error| format!("the stack '{name}' cannot be read: {error}"))?;
        self.unreadable.stand_in(name, &mut stack.resources);
        Ok(stack)
    }

    /// Why the run cannot go on with this request: it carries a secret of another stack that cannot be decrypted.
    pub(crate) fn refusal(&self, request: &[u8]) -> Option<String> {
        self.unreadable.refusal(request)
    }
}

/// The stacks of one backend.
pub struct BackendStacks {
    backend: Arc<dyn Backend>,
    crypter: Crypter,
    project: String,
}

impl BackendStacks {
    /// The stacks of `backend`. A name without a project is one of `project`; secrets are decrypted with the
    /// passphrase of `crypter`.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>, crypter: Crypter, project: &str) -> Self {
        Self { backend, crypter, project: project.to_owned() }
    }
}

#[async_trait]
impl StackReader for BackendStacks {
    async fn read(&self, name: &str) -> Result<OtherStack> {
        let stack = StackName::parse(name, &self.project)?;
        let read = read_stack(&*self.backend, &stack, false).await;
        let mut snapshot = read.map_err(|error| self.explain(error, &stack))?.snapshot;
        // What cannot be decrypted stays as it is. Most programs do not ask for it.
        let _ = snapshot.unseal(&self.crypter);
        Ok(OtherStack { resources: snapshot.resources })
    }
}

impl BackendStacks {
    fn explain(&self, error: Error, stack: &StackName) -> Error {
        match error {
            Error::NoStack { .. } => Error::Configuration(message![
                format!(
                    "there is no stack '{stack}' in {}. The name of a stack of another project is \
                     organization/<project>/<stack>; ",
                    self.backend.url()
                ),
                Command::new("stack ls").with("--all"),
                " lists them"
            ]),
            other => other,
        }
    }
}
