//! The key of a passphrase: derived, looked up where it was derived before, and checked by what the salt string holds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maloko_passphrase_key::KEY_LEN;

use crate::environment::{Environment, KnownKeys, derived_keys};
use crate::error::{Error, Result};

use super::passphrase::{PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, PassphraseSource};
use super::{CHECK_TEXT, Keys, VERSION_PREFIX, open, split_ciphertext};

const SALT_LEN: usize = 8;
const ITERATIONS: u32 = 1_000_000;

/// How the key of a passphrase comes about.
pub(super) struct Derivation {
    pub(super) passphrase: Passphrase,
    salt: Vec<u8>,
    /// The part of the salt string by which a passphrase is checked; `None` while the salt string is being made.
    check: Option<String>,
    /// How often the key was derived.
    #[cfg(test)]
    pub(super) count: std::sync::atomic::AtomicUsize,
}

impl Derivation {
    /// Of a salt string.
    pub(super) fn of(passphrase: Passphrase, salt: &str) -> Result<Self> {
        let malformed = || {
            Error::Secrets(format!(
                "'{salt}' is not a salt string (v1:<salt>:v1:<nonce>:<ciphertext>); restore `encryptionsalt` in the \
                 stack's settings file, or `secrets_providers` in its state, from a copy"
            ).into())
        };
        let rest = salt.strip_prefix(VERSION_PREFIX).ok_or_else(malformed)?;
        let (encoded, check) = rest.split_once(':').ok_or_else(malformed)?;
        let salt_bytes = BASE64.decode(encoded).map_err(|_| malformed())?;
        split_ciphertext(check).ok_or_else(malformed)?;
        Ok(Self::build(passphrase, salt_bytes, Some(check.to_owned())))
    }

    /// With a new salt, and nothing yet by which the passphrase could be checked.
    pub(super) fn with_new_salt(passphrase: Passphrase, environment: &Environment) -> Result<Self> {
        let mut salt = vec![0; SALT_LEN];
        environment.entropy.fill(&mut salt)?;
        #[cfg(all(feature = "for-tests", debug_assertions))]
        super::cheap_keys::mark(&mut salt);
        Ok(Self::build(passphrase, salt, None))
    }

    fn build(passphrase: Passphrase, salt: Vec<u8>, check: Option<String>) -> Self {
        Self {
            passphrase,
            salt,
            check,
            #[cfg(test)]
            count: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    /// The same, counted anew.
    pub(super) fn again(&self) -> Self {
        Self::build(self.passphrase.clone(), self.salt.clone(), self.check.clone())
    }

    /// The salt string, with this ciphertext of [`CHECK_TEXT`].
    pub(super) fn salt_string(&self, check: &str) -> String {
        format!("{VERSION_PREFIX}{}:{check}", BASE64.encode(&self.salt))
    }

    pub(super) fn keys(&self, environment: &Environment) -> std::result::Result<Keys, String> {
        let (text, salt) = (self.passphrase.text(), &self.salt);
        let known = environment.known_keys.as_ref();
        if let Some(Ok(keys)) = known.and_then(|known| known.find(text, salt)).map(|bytes| self.checked(&bytes)) {
            return Ok(keys);
        }
        let _turn = known.map(KnownKeys::turn);
        if environment.is_abandoned() {
            return Err("the command was cancelled before the key of the stack's secrets was derived".to_owned());
        }
        let (bytes, keys) = self.derive_anew()?;
        if let Some(known) = known {
            known.remember(text, salt, bytes);
        }
        Ok(keys)
    }

    fn derive_anew(&self) -> std::result::Result<([u8; KEY_LEN], Keys), String> {
        let PassphraseSource::KeyFile(key_file) = self.passphrase.source() else {
            let bytes = self.derived_bytes();
            return Ok((bytes, self.checked(&bytes)?));
        };
        let known = derived_keys::find(key_file, self.passphrase.text(), &self.salt);
        if let Some((bytes, Ok(keys))) = known.map(|bytes| (bytes, self.checked(&bytes))) {
            return Ok((bytes, keys));
        }
        let bytes = self.derived_bytes();
        let keys = self.checked(&bytes)?;
        derived_keys::remember(key_file, self.passphrase.text(), &self.salt, &bytes);
        Ok((bytes, keys))
    }

    fn derived_bytes(&self) -> [u8; KEY_LEN] {
        #[cfg(test)]
        self.count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let passphrase = self.passphrase.text().as_bytes();
        let iterations = ITERATIONS;
        #[cfg(all(feature = "for-tests", debug_assertions))]
        let iterations = if super::cheap_keys::is_marked(&self.salt) { 1 } else { iterations };
        maloko_passphrase_key::derive(passphrase, &self.salt, iterations)
    }

    /// The keys of these bytes, if they open what the salt string holds.
    fn checked(&self, bytes: &[u8; KEY_LEN]) -> std::result::Result<Keys, String> {
        let keys = Keys::of(bytes)?;
        match &self.check {
            Some(check) if open(&keys.encryption, check).as_deref() != Some(CHECK_TEXT) => Err(self.wrong_passphrase()),
            _ => Ok(keys),
        }
    }

    /// Where a key file stands beside the wrong passphrase: which of the two was taken, and how to take the other one.
    fn two_keys(&self) -> Option<String> {
        let key_file = self.passphrase.passed_over()?.display();
        let (source, variable) = match self.passphrase.source() {
            PassphraseSource::Variable(name) => ("the one in".to_owned(), name),
            PassphraseSource::VariableFile { variable, path } => {
                (format!("the one in {}, named by", path.display()), variable)
            }
            PassphraseSource::KeyFile(_) | PassphraseSource::Given => return None,
        };
        Some(format!(
            "incorrect passphrase: {source} {variable} is not the one that the stack's secrets were encrypted with, and it \
             goes before the key file {key_file}. To have the key file used, unset {variable}; otherwise set it to the right \
             passphrase. Nothing was changed"
        ))
    }

    fn wrong_passphrase(&self) -> String {
        if let Some(told) = self.two_keys() {
            return told;
        }
        let source = match self.passphrase.source() {
            PassphraseSource::Variable(name) => format!("the one in {name}"),
            PassphraseSource::VariableFile { variable, path } => {
                format!("the one in {}, which {variable} names,", path.display())
            }
            PassphraseSource::KeyFile(path) => format!("the one in the key file {}", path.display()),
            PassphraseSource::Given => "the one that was given".to_owned(),
        };
        let remedy = match self.passphrase.source() {
            PassphraseSource::Variable(variable) if variable != PASSPHRASE_VARIABLE => {
                format!("Set {variable} to the right one")
            }
            PassphraseSource::VariableFile { variable, .. } if variable != PASSPHRASE_FILE_VARIABLE => {
                format!("Set {variable} to a file that holds the right one")
            }
            _ => format!(
                "Set {PASSPHRASE_VARIABLE} to the right one, or {PASSPHRASE_FILE_VARIABLE} to a file that holds it"
            ),
        };
        format!(
            "incorrect passphrase: {source} is not the one that the stack's secrets were encrypted with. {remedy}. If `maloko stack \
             change-secrets-provider` changed the key, the stack's settings file must be the one from after that. Nothing was \
             changed"
        )
    }
}
