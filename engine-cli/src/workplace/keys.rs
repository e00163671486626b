//! The keys of stacks' secrets: which one a stack has, and where its passphrase comes from.

use std::sync::PoisonError;

use maloko_core::environment::UnwrappedKey;
use maloko_core::state::key_record::{KeyRecord, NamedKey, WrappedKey};
use maloko_core::state::{
    Crypter, PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, Snapshot, StackName, at_work,
};

use crate::failure::{Failure, Result};
use crate::settings::{Settings, StagedSettings};
use crate::terminal::prompt;

use super::Workplace;
use super::key_file::no_passphrase;

impl Workplace<'_> {
    /// What encrypts and decrypts the stack's secrets. The key is that of the settings file, else that of the state. When
    /// neither has one, a new one is made and saved.
    pub(crate) async fn crypter(&self, stack: &StackName, settings: &mut Settings) -> Result<Crypter> {
        self.finish_change_of_secrets_provider(stack, settings).await?;
        if let Some(crypter) = self.crypter_of_settings(stack, settings)? {
            return Ok(crypter);
        }
        let snapshot = self.read(stack).await?;
        let of_state = self.crypter_of_state(stack, &snapshot)?;
        let Some(url) = settings.key_service() else {
            return match of_state {
                Some(crypter) => Ok(crypter),
                None => self.with_key_of_its_own(settings, self.new_crypter(stack).await?),
            };
        };
        // The key that the service wrapped is missing in the settings, and the state may have it.
        if let Some(KeyRecord::Wrapped(wrapped)) = of_state.as_ref().map(Crypter::record) {
            return Ok(self.crypter_of_service(stack, WrappedKey::new(url, wrapped.bytes().to_vec())));
        }
        if settings.has_secrets() || snapshot.has_ciphertexts() {
            return Err(settings.without_its_key());
        }
        let crypter = self.crypter_with_new_key(stack, url)?;
        self.with_key_of_its_own(settings, crypter)
    }

    /// Saves the settings with a new key.
    fn with_key_of_its_own(&self, settings: &mut Settings, crypter: Crypter) -> Result<Crypter> {
        settings.complete_key(crypter.record())?;
        self.save_settings(settings)?;
        Ok(crypter)
    }

    /// As [`crypter`](Self::crypter), for a state that may not be sound: it is looked at only where the settings name no
    /// key.
    pub(crate) async fn crypter_for_repair(&self, stack: &StackName) -> Result<Crypter> {
        let mut settings = self.settings(stack)?;
        match self.crypter_of_settings(stack, &settings)? {
            Some(crypter) => Ok(crypter),
            None => self.crypter(stack, &mut settings).await,
        }
    }

    /// Puts the settings file right that a killed `stack change-secrets-provider` left beside its place: it belongs there
    /// if the state has its key.
    pub(crate) async fn finish_change_of_secrets_provider(
        &self,
        stack: &StackName,
        settings: &mut Settings,
    ) -> Result<()> {
        let Some(staged) = StagedSettings::left_behind(settings.file())? else { return Ok(()) };
        if !at_work(&*self.backend, stack).await?.is_empty() {
            // Whoever made it may be about to put it in place.
            return Ok(());
        }
        let left = Settings::read(staged.path(), &self.project.name)?;
        let snapshot = self.unchecked_read(stack).await?;
        if let (Some(there), NamedKey::Record(record)) = (snapshot.key_record()?, left.key()?)
            && there.is_same_key(&record)
        {
            staged.put_in_place()?;
            *settings = self.settings(stack)?;
        } else {
            staged.discard();
        }
        Ok(())
    }

    /// The crypter of the key that the settings file names, if it names one.
    pub(crate) fn crypter_of_settings(&self, stack: &StackName, settings: &Settings) -> Result<Option<Crypter>> {
        match settings.key()? {
            NamedKey::Record(KeyRecord::Passphrase { salt }) => {
                let passphrase = self.passphrase(stack, true, !settings.is_by_passphrase())?;
                let crypter = Crypter::new(passphrase, &salt, self.context.environment.clone());
                crypter.map(Some).map_err(|error| settings.unusable_salt(&error))
            }
            NamedKey::Record(KeyRecord::Wrapped(wrapped)) => Ok(Some(self.crypter_of_service(stack, wrapped))),
            NamedKey::Nothing | NamedKey::Url(_) => Ok(None),
        }
    }

    /// A crypter for a stack that has no key yet: the key of a passphrase.
    pub(crate) async fn new_crypter(&self, stack: &StackName) -> Result<Crypter> {
        let is_own = Passphrase::find_own(&*self.context.variables, stack)?.is_some();
        if !is_own && self.typed_passphrase.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            self.refuse_second_key(None).await?;
        }
        Ok(Crypter::with_new_salt(self.passphrase(stack, false, true)?, self.context.environment.clone())?)
    }

    /// A crypter for a stack that is about to be made: by the secrets provider that was asked for, else by its settings.
    pub(super) async fn crypter_by_settings(
        &self,
        stack: &StackName,
        settings: &Settings,
        provider: Option<&str>,
    ) -> Result<Crypter> {
        let wanted = provider.map(|name| Some(name).filter(|name| !matches!(*name, "passphrase" | "default")));
        if let Some(Some(url)) = wanted {
            maloko_stores::keys::check(url).map_err(Failure::configuration)?;
        }
        let is_wanted = match wanted {
            None => true,
            Some(url) => url == settings.key_service(),
        };
        if is_wanted && let Some(crypter) = self.crypter_of_settings(stack, settings)? {
            crypter.verify()?;
            return Ok(crypter);
        }
        if settings.key()? != NamedKey::Nothing && settings.has_secrets() {
            return Err(settings.under_another_key());
        }
        match wanted.unwrap_or_else(|| settings.key_service()) {
            Some(url) => self.crypter_with_new_key(stack, url),
            None => self.new_crypter(stack).await,
        }
    }

    /// A crypter with a new key that a key service wraps.
    pub(crate) fn crypter_with_new_key(&self, stack: &StackName, url: &str) -> Result<Crypter> {
        Ok(Crypter::with_new_wrapped_key(url, self.passphrase_at_hand(stack), self.context.environment.clone())?)
    }

    fn crypter_of_service(&self, stack: &StackName, wrapped: WrappedKey) -> Crypter {
        Crypter::of_service(wrapped, self.passphrase_at_hand(stack), self.context.environment.clone())
    }

    /// The crypter of a state that was read.
    pub(crate) fn crypter_of_state(&self, stack: &StackName, snapshot: &Snapshot) -> Result<Option<Crypter>> {
        snapshot.key_record()?.map(|record| self.crypter_of_record(stack, record)).transpose()
    }

    /// The crypter of a stack that has this key.
    pub(crate) fn crypter_of_record(&self, stack: &StackName, record: KeyRecord) -> Result<Crypter> {
        let salt = match record {
            KeyRecord::Wrapped(wrapped) => return Ok(self.crypter_of_service(stack, wrapped)),
            KeyRecord::Passphrase { salt } => salt,
        };
        let passphrase = self.passphrase(stack, true, !self.is_by_passphrase(stack)?)?;
        Ok(Crypter::new(passphrase, &salt, self.context.environment.clone())?)
    }

    /// Do the stack's settings say that it has a passphrase, and not the key file's?
    fn is_by_passphrase(&self, stack: &StackName) -> Result<bool> {
        // The settings file of another project is not at hand.
        Ok(stack.project() == self.project.name && self.settings(stack)?.is_by_passphrase())
    }

    /// Is the stack's passphrase known without asking for it?
    pub(crate) fn knows_passphrase(&self, stack: &StackName) -> bool {
        let by_passphrase = self.is_by_passphrase(stack).unwrap_or_default();
        let key_file = self.existing_key_file().filter(|_| !by_passphrase);
        // A file that cannot be read is an error of the command that takes it.
        Passphrase::find(&*self.context.variables, stack, key_file.as_deref()).map_or(true, |found| found.is_some())
    }

    /// A passphrase that is known without asking for it: for what is still encrypted with one, beside a key service.
    fn passphrase_at_hand(&self, stack: &StackName) -> Option<Passphrase> {
        let (variables, key_file) = (&*self.context.variables, self.existing_key_file());
        let typed = self.typed_passphrase.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let own = Passphrase::find_own(variables, stack).ok().flatten();
        own.or(typed).or_else(|| Passphrase::find_shared(variables, key_file.as_deref()).ok().flatten())
    }

    /// Asks for the passphrase of the stack's secrets if the user has to type it in; gives what was typed.
    pub(crate) fn ask_for_passphrase(&self, stack: &StackName) -> Result<Option<Passphrase>> {
        if self.context.console.interactive {
            self.crypter_of_settings(stack, &self.settings(stack)?)?;
        }
        Ok(self.typed_passphrase.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Asks the service for the key that the stack's settings name, before another process of the command needs it, too.
    pub(crate) async fn unwrap_early(&self, stack: &StackName) -> Result<Option<UnwrappedKey>> {
        let mut settings = self.settings(stack)?;
        // After a change that was killed the service of the old key need not be there any more.
        self.finish_change_of_secrets_provider(stack, &mut settings).await?;
        let NamedKey::Record(KeyRecord::Wrapped(wrapped)) = settings.key()? else { return Ok(None) };
        let (url, bytes) = (wrapped.url().to_owned(), wrapped.bytes().to_vec());
        self.crypter_of_service(stack, wrapped).verify()?;
        let key = self.context.environment.key_services.as_ref().and_then(|it| it.known_key(&url, &bytes));
        Ok(key.map(|key| UnwrappedKey { url, wrapped: bytes, key }))
    }

    /// Takes a passphrase that was typed in elsewhere.
    pub(crate) fn take_passphrase(&self, passphrase: Passphrase) {
        *self.typed_passphrase.lock().unwrap_or_else(PoisonError::into_inner) = Some(passphrase);
    }

    /// Forgets a passphrase that was typed in, where another stack may have another one.
    pub(crate) fn forget_typed_passphrase(&self) {
        *self.typed_passphrase.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The stack's passphrase: from the environment, the key file of embedded state, or the user. `exists`: secrets were
    /// encrypted with it before, so a new one is of no use. `by_key_file`: the key file may hold it.
    pub(super) fn passphrase(&self, stack: &StackName, exists: bool, by_key_file: bool) -> Result<Passphrase> {
        if let Some(own) = Passphrase::find_own(&*self.context.variables, stack)? {
            return Ok(own);
        }
        let mut typed = self.typed_passphrase.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(passphrase) = typed.as_ref() {
            return Ok(passphrase.clone());
        }
        let key_file = self.key_file().filter(|_| by_key_file);
        if let Some(passphrase) = Passphrase::find_shared(&*self.context.variables, key_file.as_deref())? {
            return Ok(passphrase);
        }
        match &key_file {
            Some(_) if !exists => self.key_file_passphrase(),
            _ if self.context.console.interactive => {
                let passphrase = Passphrase::given(&prompt::passphrase(!exists)?);
                Ok(typed.insert(passphrase).clone())
            }
            key_file if exists => Err(self.with_unused_key_file(no_passphrase(stack, key_file.as_deref()))),
            _ => Err(self.with_unused_key_file(Failure::configuration(format!(
                "the secrets of a new stack need a passphrase; set {PASSPHRASE_VARIABLE} to one, or \
                 {PASSPHRASE_FILE_VARIABLE} to a file that holds it"
            )))),
        }
    }
}
