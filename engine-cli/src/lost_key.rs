//! A key file that is lost: no new one takes its place while stacks need the old one.

use maloko_core::message;
use maloko_core::state::key_record::{KeyRecord, NamedKey};
use maloko_core::state::{Crypter, Passphrase, StackName};

use crate::backend::PROJECT_DIRECTORY;
use crate::failure::{Failure, Result};
use crate::workplace::keys::no_passphrase;
use crate::workplace::{KEY_FILE, Workplace};

impl Workplace<'_> {
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
        let file = self.project.root.join(PROJECT_DIRECTORY).join(KEY_FILE);
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
