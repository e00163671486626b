//! One key for a fleet of stacks: each has the key of the stack that holds it, so that a process which goes round thousands of them derives
//! or unwraps one.

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::key_record::KeyRecord;
use maloko_core::state::{Crypter, StackName};

use super::Workplace;
use crate::failure::{Failure, Result};

/// The stack of a project that holds the key, where no other is named.
const HOLDER: &str = "fleet-key";

/// The secrets provider of a stack that has the key of another one: `fleet`, or `fleet:STACK`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FleetKey {
    /// The stack that holds it, where one is named.
    holder: Option<String>,
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
    /// What encrypts with the key of the fleet, for a stack of it. The project's own holder is made when it is not there.
    pub(crate) async fn fleet_crypter(&self, stack: &StackName, fleet: &FleetKey) -> Result<Crypter> {
        let holder = self.parse_stack(fleet.holder.as_deref().unwrap_or(HOLDER))?;
        if holder == *stack {
            return Err(Failure::configuration(format!(
                "stack '{}' holds the key of the fleet itself: make it with a passphrase, or the URL of a key service",
                self.shown(stack)
            )));
        }
        if fleet.holder.is_none() && !self.backend.list().await?.contains(&holder) {
            let new = self.new_crypter(stack).await?;
            if self.make_in_store(&holder, &new).await? {
                return Ok(new);
            }
        }
        let record = self.fleet_record(&holder).await?;
        let crypter = self.crypter_of_record(stack, record)?;
        crypter
            .verify()
            .map_err(|error| Failure::new(format!("the key of stack '{}': {error}", self.shown(&holder))))?;
        Ok(crypter)
    }

    async fn fleet_record(&self, holder: &StackName) -> Result<KeyRecord> {
        self.require(holder).await?;
        let snapshot = self.unchecked_read(holder).await?;
        snapshot.key_record()?.ok_or_else(|| {
            let shown = self.shown(holder);
            Failure::configuration(message![
                format!("stack '{shown}' has no key that others could share; give it one with "),
                Command::new("stack change-secrets-provider").with("passphrase --stack").value(&shown)
            ])
        })
    }
}
