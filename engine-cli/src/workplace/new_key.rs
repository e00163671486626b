//! Which key a new stack gets: the one that was asked for, else the one that its settings name, else that of a passphrase.

use maloko_core::state::key_record::NamedKey;
use maloko_core::state::{Crypter, PassphraseSource, StackName};

use super::Workplace;
use super::fleet_key::FleetKey;
use crate::failure::Result;
use crate::settings::Settings;

impl Workplace<'_> {
    /// The crypter of a stack that is about to be made. The settings file may have been there first, such as in a fresh clone: a key that
    /// cannot be had shows here and not in the middle of a deployment.
    pub(crate) async fn crypter_of_new_stack(&self, stack: &StackName, settings: &Settings) -> Result<Crypter> {
        // As in Pulumi, an empty one is the default.
        let provider = self.secrets_provider.as_deref().filter(|provider| !provider.is_empty());
        match provider.and_then(FleetKey::of) {
            Some(fleet) => self.crypter_by_fleet(stack, settings, &fleet).await,
            None => self.crypter_by_settings(stack, settings, provider).await,
        }
    }

    async fn crypter_by_fleet(&self, stack: &StackName, settings: &Settings, fleet: &FleetKey) -> Result<Crypter> {
        // Until it is there: others may make their stacks, and with them the holder, at the same time.
        loop {
            let key = self.key_of_fleet(stack, fleet, Some(settings)).await?;
            let is_same =
                matches!(settings.key()?, NamedKey::Record(record) if record.is_same_key(key.crypter.record()));
            if !is_same && settings.has_secrets() {
                return Err(settings.under_another_key());
            }
            if self.make_holder(&key).await? {
                if let Some(note) = self.note_of_passphrase(stack, &key.crypter) {
                    self.context.console.note(note);
                }
                return Ok(key.crypter);
            }
        }
    }

    /// Names the key of a new stack in its settings, unless they do already.
    pub(crate) fn name_key(&self, settings: &mut Settings, crypter: &Crypter) -> Result<()> {
        if settings.key()? == NamedKey::Record(crypter.record().clone()) {
            return Ok(());
        }
        settings.set_key(crypter.record())?;
        if self.secrets_provider.as_deref().and_then(FleetKey::of).is_some() {
            settings.name_passphrase_of(crypter)?;
        }
        self.save_settings(settings)
    }
}

impl Settings {
    /// Says of a key that was taken over whether it is that of the key file: a passphrase's is not looked for there.
    pub(crate) fn name_passphrase_of(&mut self, crypter: &Crypter) -> Result<()> {
        match crypter.passphrase_source() {
            Some(source) if crypter.record().salt().is_some() => {
                self.set_by_passphrase(!matches!(source, PassphraseSource::KeyFile(_)))
            }
            _ => Ok(()),
        }
    }
}
