//! Which key a new stack gets: the one that was asked for, else the one that its settings name, else that of a passphrase.

use maloko_core::state::key_record::NamedKey;
use maloko_core::state::{Crypter, StackName};

use super::Workplace;
use super::fleet_key::FleetKey;
use crate::failure::{Failure, Result};
use crate::settings::Settings;

impl Workplace<'_> {
    /// The crypter of a stack that is about to be made. The settings file may have been there first, such as in a fresh clone: a key that
    /// cannot be had shows here and not in the middle of a deployment.
    pub(crate) async fn crypter_of_new_stack(&self, stack: &StackName, settings: &Settings) -> Result<Crypter> {
        let provider = self.secrets_provider.as_deref();
        if let Some(fleet) = provider.and_then(FleetKey::of) {
            let crypter = self.fleet_crypter(stack, &fleet).await?;
            let is_same = matches!(settings.key()?, NamedKey::Record(record) if record.is_same_key(crypter.record()));
            return if is_same || !settings.has_secrets() { Ok(crypter) } else { Err(settings.under_another_key()) };
        }
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
}
