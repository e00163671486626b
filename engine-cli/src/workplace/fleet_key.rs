//! One key for a fleet of stacks: each has the key of the stack that holds it, so that a process which goes round thousands of them derives
//! or unwraps one.

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::key_record::{KeyRecord, NamedKey};
use maloko_core::state::{Crypter, Passphrase, PassphraseSource, StackName, passphrase_variables};

use super::Workplace;
use crate::failure::{Failure, Result};
use crate::settings::Settings;

/// The stack of a project that holds the key, where no other is named.
const HOLDER: &str = "fleet-key";

/// The secrets provider of a stack that has the key of another one: `fleet`, or `fleet:STACK`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FleetKey {
    /// The stack that holds it, where one is named.
    holder: Option<String>,
}

/// The key of a fleet, for a stack that is about to have it.
pub(crate) struct SharedKey {
    /// What encrypts with it.
    pub(crate) crypter: Crypter,
    /// Whose key it is.
    holder: StackName,
    /// The settings of the holder, where it is still to be made.
    to_make: Option<Settings>,
}

impl FleetKey {
    /// Of the name of a secrets provider; `None` for another kind.
    #[must_use]
    pub(crate) fn of(provider: &str) -> Option<Self> {
        let rest = provider.strip_prefix("fleet")?;
        match rest.strip_prefix(':') {
            Some(holder) => Some(Self { holder: Some(holder.to_owned()) }),
            None => rest.is_empty().then_some(Self { holder: None }),
        }
    }
}

impl Workplace<'_> {
    /// The key of the fleet, for a stack of it. Where the project's own holder is not there, it is a new key, and
    /// [`make_holder`](Self::make_holder) has to be called before anything is written with it.
    /// `keeps`: settings with secrets, which another key could not open.
    pub(crate) async fn key_of_fleet(
        &self,
        stack: &StackName,
        fleet: &FleetKey,
        keeps: Option<&Settings>,
    ) -> Result<SharedKey> {
        let holder = self.parse_stack(fleet.holder.as_deref().unwrap_or(HOLDER))?;
        if holder == *stack {
            return Err(Failure::configuration(format!(
                "stack '{}' holds the key of the fleet itself: make it with a passphrase, or the URL of a key service",
                self.shown(stack)
            )));
        }
        // What was typed in is the passphrase of the stack that joins.
        self.forget_typed_passphrase();
        if fleet.holder.is_none() && !self.has(&holder).await? {
            if let Some(keeps) = keeps.filter(|settings| settings.has_secrets()) {
                return Err(keeps.under_another_key());
            }
            let settings = self.settings_of_other(&holder)?;
            let crypter = self.crypter_by_settings(&holder, &settings, None).await?;
            return Ok(SharedKey { crypter, holder, to_make: Some(settings) });
        }
        let crypter = self.crypter_of_holder(&holder).await?;
        Ok(SharedKey { crypter, holder, to_make: None })
    }

    /// Makes the stack that holds the key, where it is not there; `false` where somebody else has just made it, with another key.
    pub(crate) async fn make_holder(&self, key: &SharedKey) -> Result<bool> {
        let Some(settings) = &key.to_make else { return Ok(true) };
        if !self.make_in_store(&key.holder, &key.crypter).await? {
            return Ok(false);
        }
        self.context
            .console
            .note(format!("made the stack '{}', which holds the key of the fleet", self.shown(&key.holder)));
        let mut settings = settings.clone();
        // A service that the file names without a key that it wrapped.
        if matches!(settings.key()?, NamedKey::Url(_)) && settings.complete_key(key.crypter.record())? {
            self.save_settings(&settings)?;
        }
        Ok(true)
    }

    /// What encrypts with the key of the stack that holds it.
    pub(crate) async fn crypter_of_holder(&self, holder: &StackName) -> Result<Crypter> {
        self.require(holder).await?;
        let snapshot = self.unchecked_read(holder).await?;
        let Some(record) = snapshot.key_record()? else {
            let shown = self.shown(holder);
            return Err(Failure::configuration(message![
                format!("stack '{shown}' has no key that others could share; give it one with "),
                Command::new("stack change-secrets-provider").with("passphrase --stack").value(&shown)
            ]));
        };
        let crypter = match record {
            KeyRecord::Passphrase { salt } => {
                let by_key_file = !self.is_other_by_passphrase(holder)?;
                self.crypter_by_any_passphrase(holder, &salt, by_key_file)?
            }
            wrapped @ KeyRecord::Wrapped(_) => self.crypter_of_record(holder, wrapped)?,
        };
        let verified = crypter.verify();
        verified
            .map_err(|error| Failure::new(format!("the key of stack '{}': {error}", self.shown(holder))).of_key())?;
        Ok(crypter)
    }

    /// The key of the holder's passphrase. Where a variable holds another stack's, the key file may hold this one's.
    fn crypter_by_any_passphrase(&self, holder: &StackName, salt: &str, by_key_file: bool) -> Result<Crypter> {
        let environment = &self.context.environment;
        let crypter = Crypter::new(self.passphrase(holder, true, by_key_file)?, salt, environment.clone())?;
        if by_key_file && self.existing_key_file().is_some() && crypter.verify().is_err() {
            let other = Crypter::new(self.key_file_passphrase()?, salt, environment.clone())?;
            if other.verify().is_ok() {
                return Ok(other);
            }
        }
        Ok(crypter)
    }

    /// Is the settings file of a stack, which is not the one of the command, one that names a passphrase? That of another project is not at
    /// hand.
    fn is_other_by_passphrase(&self, stack: &StackName) -> Result<bool> {
        Ok(stack.project() == self.project.name && self.settings_of_other(stack)?.is_by_passphrase())
    }

    /// What has to be set or unset, so that later commands open the stack with the key that it has got from the fleet.
    pub(crate) fn note_of_passphrase(&self, stack: &StackName, crypter: &Crypter) -> Option<String> {
        crypter.record().salt()?;
        let found = Passphrase::find(&*self.context.variables, stack, self.existing_key_file().as_deref()).ok()?;
        let own = passphrase_variables(stack).file;
        match found {
            Some(found) if crypter.is_by(&found) => None,
            Some(found) => match found.source() {
                PassphraseSource::Variable(variable) | PassphraseSource::VariableFile { variable, .. } => {
                    Some(format!(
                        "{variable} holds another passphrase than that of the fleet: unset it, or set {own} to a file that holds the fleet's"
                    ))
                }
                _ => Some(format!(
                    "set {own} to a file that holds the passphrase of the fleet: it goes before the key file"
                )),
            },
            None => Some(format!("set {own} to a file that holds the passphrase of the fleet")),
        }
    }
}
