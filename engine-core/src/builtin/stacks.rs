//! Other stacks, as a program reads them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::message;
use crate::message::Command;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::key_record::KeyRecord;
use crate::state::{Backend, Crypter, Passphrase, Snapshot, StackName, passphrase_variables, read_stack};
use crate::value::PropertyMap;

use super::refused;
use super::unreadable::Unreadable;

/// Another stack as it was left by its last operation.
#[derive(Clone, Debug, Default)]
pub struct OtherStack {
    /// Its resources; what is secret in them is decrypted, where its key is known.
    pub resources: Vec<Arc<ResourceState>>,
    /// Why what is secret is not decrypted.
    pub sealed_because: Option<String>,
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
    /// The names of those that were read, as programs write them.
    read: Arc<Mutex<BTreeSet<String>>>,
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
        Self { reader: Some(reader), ..Self::default() }
    }

    /// Reads a stack; the error is for the program's author.
    pub(crate) async fn read(&self, name: &str) -> std::result::Result<OtherStack, ProviderError> {
        let Some(reader) = &self.reader else {
            return Err(refused(format!("the stack '{name}' cannot be read: this run keeps its state in memory only")));
        };
        let read = reader.read(name).await;
        let mut stack = read.map_err(|error| {
            let message = format!("the stack '{name}' cannot be read: {error}");
            match error {
                Error::Needs { stack, .. } => ProviderError::new(ProviderErrorKind::NoStack(stack), message),
                _ => refused(message),
            }
        })?;
        // Whole after every statement.
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        self.unreadable.stand_in(name, &mut stack.resources, stack.sealed_because.as_deref());
        Ok(stack)
    }

    /// The stacks that were read, each once as `project/stack`; `project` is that of the stack that reads.
    pub(crate) fn names_read(&self, project: &str) -> Vec<String> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let names = read.iter().filter_map(|name| StackName::parse(name, project).ok());
        names.map(|name| name.in_store()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Why the run cannot go on with this request: it carries a secret of another stack that cannot be decrypted.
    pub(crate) fn refusal(&self, request: &[u8]) -> Option<String> {
        self.unreadable.refusal(request)
    }
}

/// The keys of other stacks, as far as the run knows them.
pub trait OtherKeys: Send + Sync {
    /// The passphrase of this stack alone, where one is known.
    fn own_passphrase(&self, stack: &StackName) -> Result<Option<Passphrase>>;

    /// A stack is about to be opened with this: what it takes is hidden from now on.
    fn hide(&self, crypter: &Crypter);
}

/// The stacks of one backend.
pub struct BackendStacks {
    backend: Arc<dyn Backend>,
    crypter: Crypter,
    project: String,
    keys: Box<dyn OtherKeys>,
    /// Which key opens which stack: those that share one derive it once.
    crypters: Mutex<Vec<(StackName, KeyRecord, Crypter)>>,
}

impl BackendStacks {
    /// The stacks of `backend`. A name without a project is one of `project`; secrets are decrypted with the passphrase that
    /// `keys` knows for the stack, else with the one of `crypter`.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>, crypter: Crypter, project: &str, keys: Box<dyn OtherKeys>) -> Self {
        Self { backend, crypter, project: project.to_owned(), keys, crypters: Mutex::default() }
    }
}

#[async_trait]
impl StackReader for BackendStacks {
    async fn read(&self, name: &str) -> Result<OtherStack> {
        let stack = StackName::parse(name, &self.project)?;
        let read = read_stack(&*self.backend, &stack, false).await;
        let mut snapshot = read.map_err(|error| self.explain(error, &stack))?.snapshot;
        // What cannot be decrypted stays as it is. Most programs do not ask for it.
        let opened = self.crypter_of(&stack, &snapshot).and_then(|crypter| snapshot.unseal(&crypter));
        let sealed_because = opened.err().map(|error| self.why_sealed(&stack, &snapshot, &error));
        Ok(OtherStack { resources: snapshot.resources, sealed_because })
    }
}

impl BackendStacks {
    /// What opens the secrets of this stack. Each key is derived or unwrapped once, however often its stacks are read.
    fn crypter_of(&self, stack: &StackName, snapshot: &Snapshot) -> Result<Crypter> {
        let Some(record) = snapshot.key_record()? else { return Ok(self.crypter.clone()) };
        // Whole after every statement.
        let mut crypters = self.crypters.lock().unwrap_or_else(PoisonError::into_inner);
        let known = crypters.iter().find(|(known, of, _)| known == stack && of.is_same_key(&record));
        if let Some((.., crypter)) = known {
            return Ok(crypter.clone());
        }
        let crypter = match (&record, self.keys.own_passphrase(stack)?) {
            (KeyRecord::Passphrase { salt }, Some(own)) => Crypter::new(own, salt, self.crypter.environment().clone())?,
            _ => self.crypter.with_record(&record)?,
        };
        self.keys.hide(&crypter);
        crypters.push((stack.clone(), record, crypter.clone()));
        Ok(crypter)
    }

    /// Why the secrets of this stack were not opened, and what can be done.
    fn why_sealed(&self, stack: &StackName, snapshot: &Snapshot, error: &Error) -> String {
        let by_passphrase = matches!(snapshot.key_record(), Ok(Some(KeyRecord::Passphrase { .. })));
        if !by_passphrase || !matches!(self.keys.own_passphrase(stack), Ok(None)) {
            // Of this stack nothing was changed, yet the run may have made others already.
            return error.to_string().trim_end_matches(". Nothing was changed").to_owned();
        }
        let own_file = passphrase_variables(stack).file;
        format!(
            "it was encrypted with another passphrase than that of this run.\nSet {own_file} to a file that holds that stack's \
             passphrase, give both stacks the same one (`maloko stack change-secrets-provider`), or export the output without a secret"
        )
    }

    fn explain(&self, error: Error, stack: &StackName) -> Error {
        match error {
            Error::NoStack { .. } => Error::Needs {
                stack: stack.in_store(),
                message: message![
                    format!(
                        "there is no stack '{stack}' in {}. The name of a stack of another project is \
                         organization/<project>/<stack>; ",
                        self.backend.url()
                    ),
                    Command::new("stack ls").with("--all"),
                    " lists them"
                ],
            },
            other => other,
        }
    }
}
