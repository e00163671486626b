//! The key file of a project, and one that is lost: no new one takes its place while stacks need the old one.

use std::path::{Path, PathBuf};

use maloko_core::message;
use maloko_core::state::key_record::{KeyRecord, NamedKey};
use maloko_core::state::{
    Crypter, PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, StackName, passphrase_variables,
};

use super::Workplace;
use crate::backend::{self, PROJECT_DIRECTORY};
use crate::failure::{Failure, Result};

const KEY_FILE: &str = "passphrase";

impl Workplace<'_> {
    /// Where the key file of embedded state is, or would be.
    pub(crate) fn key_file(&self) -> Option<PathBuf> {
        self.is_embedded().then(|| self.key_file_of_project())
    }

    /// Where the project has its key file, wherever its state is.
    fn key_file_of_project(&self) -> PathBuf {
        self.project.root.join(PROJECT_DIRECTORY).join(KEY_FILE)
    }

    /// The key file of embedded state, if there is one.
    pub(crate) fn existing_key_file(&self) -> Option<PathBuf> {
        self.key_file().filter(|file| file.is_file())
    }

    /// The passphrase in the key file of embedded state; the file is made when there is none.
    pub(crate) fn key_file_passphrase(&self) -> Result<Passphrase> {
        backend::make_project_directory(&self.project)?;
        Ok(Passphrase::read_or_create_key_file(&self.key_file_of_project(), &*self.context.environment.entropy)?)
    }

    /// Refuses to go on where a new key file would be made although the secrets of a stack here are encrypted, with what
    /// may have been the key file's key. `known` opens other secrets than those: a stack that it opens does not count, and neither does one
    /// that has a passphrase of its own.
    pub(crate) async fn refuse_second_key(&self, known: Option<&Crypter>) -> Result<()> {
        let Some(file) = self.key_file().filter(|file| !file.exists()) else { return Ok(()) };
        if known.is_none() && Passphrase::find_shared(&*self.context.variables, None)?.is_some() {
            return Ok(());
        }
        for stack in self.backend.list().await? {
            if Passphrase::find_own(&*self.context.variables, &stack)?.is_some() {
                continue;
            }
            let Some(record) = self.record_by_key_file(&stack).await else { continue };
            if known.is_some_and(|known| known.with_record(&record).is_ok_and(|crypter| crypter.verify().is_ok())) {
                continue;
            }
            let failure = no_passphrase(&stack, Some(&file)).of_stack(&self.shown(&stack));
            return Err(Failure { message: message![failure.message, ". A new key would not open them"], ..failure });
        }
        Ok(())
    }

    /// Names the project's key file where it is not used, because the state is kept elsewhere: stacks that came from the
    /// project's own directory need it.
    #[must_use]
    pub(crate) fn with_unused_key_file(&self, failure: Failure) -> Failure {
        let file = self.key_file_of_project();
        if self.is_embedded() || !file.is_file() {
            return failure;
        }
        let hint = format!("; the stacks in this project's own .maloko have theirs in {}", file.display());
        Failure { message: message![failure.message, hint], ..failure }
    }

    /// Was there a key file, which is not there any more? Keys that were derived from it lie beside it.
    #[must_use]
    pub(crate) fn key_file_was_here(&self) -> bool {
        self.key_file().is_some_and(|file| !file.exists() && file.with_extension("derived").exists())
    }

    /// The key of a stack whose passphrase may be that of the key file, where it can be read.
    async fn record_by_key_file(&self, stack: &StackName) -> Option<KeyRecord> {
        if stack.project() == self.project.name
            && let Ok(settings) = self.settings(stack)
        {
            if settings.is_by_passphrase() {
                return None;
            }
            if let NamedKey::Record(record) = settings.key().ok()? {
                return Some(record).filter(|record| record.salt().is_some());
            }
        }
        let snapshot = self.unchecked_read(stack).await.ok()?;
        snapshot.key_record().ok()?.filter(|record| record.salt().is_some())
    }
}

/// Nobody gives the passphrase of a stack; `key_file`: neither does this one, which is not there.
pub(super) fn no_passphrase(stack: &StackName, key_file: Option<&Path>) -> Failure {
    let lost = key_file.map(|file| format!(" (and the key file {} is not there)", file.display())).unwrap_or_default();
    let own_file = passphrase_variables(stack).file;
    Failure::configuration(format!(
        "the passphrase of the stack's secrets is not known{lost}; set {PASSPHRASE_VARIABLE} to it, or \
         {PASSPHRASE_FILE_VARIABLE} to a file that holds it ({own_file} for this stack alone)"
    ))
    .of_key()
}
