//! The keys of the stacks that a run reads, by the variables that hold them.

use std::sync::Arc;

use maloko_core::builtin::OtherKeys;
use maloko_core::error::Result;
use maloko_core::redaction::Redactor;
use maloko_core::state::key_record::KeyRecord;
use maloko_core::state::{Crypter, Passphrase, StackName};

use crate::context::Variables;

/// Passphrases and credentials in variables. What opens a stack of the run is hidden in all that the run says.
pub(super) struct KeysByVariables {
    pub(super) variables: Variables,
    pub(super) redactor: Arc<Redactor>,
}

impl OtherKeys for KeysByVariables {
    fn own_passphrase(&self, stack: &StackName) -> Result<Option<Passphrase>> {
        Passphrase::find_own(&*self.variables, stack)
    }

    fn hide(&self, crypter: &Crypter) {
        crypter.hide_passphrase(&self.redactor);
        let KeyRecord::Wrapped(wrapped) = crypter.record() else { return };
        let variable = |name: &str| (self.variables)(name).and_then(|value| value.into_string().ok());
        for secret in maloko_stores::keys::secrets(wrapped.url(), &variable) {
            self.redactor.learn(&secret);
        }
    }
}
