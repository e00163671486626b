//! Secrets at rest, in the format of Pulumi's passphrase provider (semantics 10.4).

use std::sync::Arc;

use crate::error::{Error, Result};

use super::passphrase::Passphrase;
use super::surroundings::Surroundings;

/// Encrypts and decrypts with a key that is derived from a passphrase: when it is first needed, or early with
/// [`Crypter::warm_up`]. Cheap to clone; clones share the key and the caches.
#[derive(Clone, Debug)]
pub struct Crypter {
    salt: Arc<str>,
}

impl Crypter {
    /// For a stack that has a salt string (`encryptionsalt` of its settings file, `salt` in its state). A wrong
    /// passphrase is noticed at the first use, or by [`Crypter::verify`].
    pub fn new(_passphrase: Passphrase, salt: &str, _surroundings: Surroundings) -> Result<Self> {
        Ok(Self { salt: salt.into() })
    }

    /// For a new stack or a new passphrase: makes a salt string, which needs the key at once.
    pub fn with_new_salt(_passphrase: Passphrase, _surroundings: Surroundings) -> Result<Self> {
        Err(Error::Secrets("not built yet".into()))
    }

    /// The same passphrase with another stack's salt string.
    pub fn with_salt(&self, salt: &str) -> Result<Self> {
        Ok(Self { salt: salt.into() })
    }

    /// The salt string.
    #[must_use]
    pub fn salt(&self) -> &str {
        &self.salt
    }

    /// Begins to derive the key on a thread of its own, so that it is there when it is needed. Not before a fork.
    pub fn warm_up(&self) {}

    /// Is the passphrase the right one? Derives the key.
    pub fn verify(&self) -> Result<()> {
        Err(Error::Secrets("not built yet".into()))
    }

    /// Encrypts a text to `v1:<nonce>:<ciphertext>`: a config value (as it is) or a state value (its JSON).
    pub fn encrypt(&self, _text: &str) -> Result<Arc<str>> {
        Err(Error::Secrets("not built yet".into()))
    }

    /// Decrypts a `v1:<nonce>:<ciphertext>`.
    pub fn decrypt(&self, _ciphertext: &str) -> Result<Arc<str>> {
        Err(Error::Secrets("not built yet".into()))
    }

    /// The `secrets_providers` member of a state.
    #[must_use]
    pub fn secrets_provider(&self) -> serde_json::Value {
        serde_json::json!({ "type": "passphrase", "state": { "salt": self.salt() } })
    }
}
