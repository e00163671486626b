//! Secrets at rest, in the format of Pulumi's passphrase provider (docs/rules 10.4).
//!
//! Equal plain texts of one run share one ciphertext, and a text that was read encrypted is written with the
//! ciphertext that it had. Unchanged secrets therefore leave the state unchanged; the price is that equal secrets of a
//! stack can be seen to be equal.

#[cfg(all(feature = "for-tests", debug_assertions))]
mod cheap_keys;
pub mod passphrase;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maloko_passphrase_key::KEY_LEN;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use crate::error::{Error, Result};
use crate::provider::ProviderReference;
use crate::redaction::Redactor;

use super::secrets::passphrase::{PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, PassphraseSource};
use crate::environment::derived_keys;
use crate::environment::{Environment, KnownKeys};

const VERSION_PREFIX: &str = "v1:";
/// What a salt string encrypts, so that a passphrase can be checked.
const CHECK_TEXT: &str = "pulumi";
const SALT_LEN: usize = 8;
/// Passphrases from this length on (bytes) are looked for in messages.
const HIDDEN_PASSPHRASE: usize = 12;
const ITERATIONS: u32 = 1_000_000;

/// Encrypts and decrypts with a key that is derived from a passphrase: when it is first needed, or early with
/// [`Crypter::warm_up`]. Cheap to clone; clones share the key and the caches.
#[derive(Clone)]
pub struct Crypter(Arc<Inner>);

struct Inner {
    passphrase: Passphrase,
    salt: String,
    salt_bytes: Vec<u8>,
    /// The part of the salt string by which a passphrase is checked; `None` while the salt string is being made.
    check: Option<String>,
    keys: OnceLock<std::result::Result<Keys, String>>,
    /// How often the key was derived.
    #[cfg(test)]
    derivations: std::sync::atomic::AtomicUsize,
    cache: Mutex<Cache>,
    environment: Environment,
}

/// What the passphrase and the salt give.
#[derive(Clone)]
struct Keys {
    encryption: LessSafeKey,
    seal: SealKey,
}

/// Authenticates what a stack's key holder wrote: seals and journals.
#[derive(Clone)]
pub(super) struct SealKey(hmac::Key);

/// What the seals' key is derived for, so that it is another one than that of the encryption.
const SEAL_LABEL: &[u8] = b"maloko: seals and journals, 1";

impl SealKey {
    fn derive(key: &[u8; KEY_LEN]) -> Self {
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), SEAL_LABEL);
        Self(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
    }

    /// The message authentication code (HMAC-SHA-256) of these bytes, one after the other, in hex.
    pub(super) fn code(&self, bytes: &[&[u8]]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        for part in bytes {
            context.update(part);
        }
        crate::digest::hex(context.sign().as_ref())
    }
}

#[derive(Default)]
struct Cache {
    ciphertexts: HashMap<Arc<str>, Arc<str>>,
    texts: HashMap<Arc<str>, Arc<str>>,
    /// By address; the reference is kept, so that its address is not given to another one.
    references: HashMap<usize, (Arc<ProviderReference>, Arc<str>)>,
}

impl Crypter {
    /// For a stack that has a salt string (`encryptionsalt` of its settings file, `salt` in its state). A wrong
    /// passphrase is noticed at the first use, or by [`Crypter::verify`].
    pub fn new(passphrase: Passphrase, salt: &str, environment: Environment) -> Result<Self> {
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
        Ok(Self::build(passphrase, salt.to_owned(), salt_bytes, Some(check.to_owned()), environment))
    }

    /// For a new stack or a new passphrase: makes a salt string, which needs the key at once.
    pub fn with_new_salt(passphrase: Passphrase, environment: Environment) -> Result<Self> {
        let mut salt_bytes = vec![0; SALT_LEN];
        environment.entropy.fill(&mut salt_bytes)?;
        #[cfg(all(feature = "for-tests", debug_assertions))]
        cheap_keys::mark(&mut salt_bytes);
        let unchecked = Self::build(passphrase, String::new(), salt_bytes, None, environment);
        let check = unchecked.seal(CHECK_TEXT)?;
        let inner = &unchecked.0;
        let salt = format!("{VERSION_PREFIX}{}:{check}", BASE64.encode(&inner.salt_bytes));
        let known = Self::build(
            inner.passphrase.clone(),
            salt,
            inner.salt_bytes.clone(),
            Some(check),
            inner.environment.clone(),
        );
        // The key is known already, and right by construction.
        if let Ok(keys) = unchecked.keys() {
            let _ = known.0.keys.set(Ok(keys.clone()));
        }
        Ok(known)
    }

    /// For a stack that lives no longer than the process: a random key, and no passphrase that it could be derived from
    /// again (which takes long).
    pub fn throwaway(environment: Environment) -> Result<Self> {
        let (mut salt_bytes, mut key) = (vec![0; SALT_LEN], [0; KEY_LEN]);
        environment.entropy.fill(&mut salt_bytes)?;
        environment.entropy.fill(&mut key)?;
        let unchecked = Self::build(Passphrase::given(""), String::new(), salt_bytes, None, environment);
        let keys = unchecked.0.checked(&key).map_err(|problem| Error::Secrets(problem.into()))?;
        let _ = unchecked.0.keys.set(Ok(keys.clone()));
        let check = unchecked.seal(CHECK_TEXT)?;
        let Inner { passphrase, salt_bytes, environment, .. } = &*unchecked.0;
        let salt = format!("{VERSION_PREFIX}{}:{check}", BASE64.encode(salt_bytes));
        let known = Self::build(passphrase.clone(), salt, salt_bytes.clone(), Some(check), environment.clone());
        let _ = known.0.keys.set(Ok(keys));
        Ok(known)
    }

    fn build(
        passphrase: Passphrase,
        salt: String,
        salt_bytes: Vec<u8>,
        check: Option<String>,
        environment: Environment,
    ) -> Self {
        let (keys, cache) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Inner {
            passphrase,
            salt,
            salt_bytes,
            check,
            keys,
            #[cfg(test)]
            derivations: std::sync::atomic::AtomicUsize::new(0),
            cache,
            environment,
        }))
    }

    /// The same passphrase with another stack's salt string; the same crypter when the salt string is its own.
    pub fn with_salt(&self, salt: &str) -> Result<Self> {
        if salt == self.0.salt {
            return Ok(self.clone());
        }
        Self::new(self.0.passphrase.clone(), salt, self.0.environment.clone())
    }

    /// The same passphrase and salt on another machine. Nothing is shared but the key, if it is known already.
    #[must_use]
    pub fn on(&self, environment: Environment) -> Self {
        let Inner { passphrase, salt, salt_bytes, check, keys, .. } = &*self.0;
        let other = Self::build(passphrase.clone(), salt.clone(), salt_bytes.clone(), check.clone(), environment);
        if let Some(known) = keys.get() {
            let _ = other.0.keys.set(known.clone());
        }
        other
    }

    /// The machine that it takes its randomness from.
    pub(super) fn environment(&self) -> &Environment {
        &self.0.environment
    }

    /// The salt string.
    #[must_use]
    pub fn salt(&self) -> &str {
        &self.0.salt
    }

    /// Begins to derive the key on a thread of its own, so that it is there when it is needed. Call it after any fork:
    /// the thread would be missing in the child.
    pub fn warm_up(&self) {
        if self.0.keys.get().is_some() {
            return;
        }
        let crypter = self.clone();
        // Without a thread the key is derived when it is needed; the error, if any, is reported then as well.
        let _ = self.0.environment.workers.start("maloko-key", Box::pin(async move { drop(crypter.keys()) }));
    }

    /// Is the passphrase the right one? Derives the key.
    pub fn verify(&self) -> Result<()> {
        self.keys().map(drop)
    }

    /// Encrypts a text to `v1:<nonce>:<ciphertext>`: a config value (as it is) or a state value (its JSON).
    pub fn encrypt(&self, text: &str) -> Result<Arc<str>> {
        if let Some(known) = self.cache().ciphertexts.get(text) {
            return Ok(Arc::clone(known));
        }
        let ciphertext: Arc<str> = self.seal(text)?.into();
        Ok(self.remember(text.into(), ciphertext))
    }

    /// Decrypts a `v1:<nonce>:<ciphertext>`.
    pub fn decrypt(&self, ciphertext: &str) -> Result<Arc<str>> {
        if let Some(known) = self.cache().texts.get(ciphertext) {
            return Ok(Arc::clone(known));
        }
        let text: Arc<str> = open(&self.keys()?.encryption, ciphertext).ok_or_else(|| unreadable(ciphertext))?.into();
        self.remember(Arc::clone(&text), ciphertext.into());
        Ok(text)
    }

    /// Encrypts a provider reference as a secret string, each reference once.
    pub(super) fn encrypt_reference(&self, reference: &Arc<ProviderReference>) -> Result<Arc<str>> {
        let address = Arc::as_ptr(reference).addr();
        if let Some((_, known)) = self.cache().references.get(&address) {
            return Ok(Arc::clone(known));
        }
        let ciphertext = self.encrypt(&reference_text(reference)?)?;
        self.cache().references.insert(address, (Arc::clone(reference), Arc::clone(&ciphertext)));
        Ok(ciphertext)
    }

    /// Has the passphrase itself hidden in messages, unless it is so short that it may be a word of them.
    pub fn hide_passphrase(&self, redactor: &Redactor) {
        let text = self.0.passphrase.text();
        if text.len() >= HIDDEN_PASSPHRASE {
            redactor.learn(text);
        }
    }

    /// Where the passphrase came from.
    #[must_use]
    pub fn passphrase_source(&self) -> &PassphraseSource {
        self.0.passphrase.source()
    }

    /// The `secrets_providers` member of a state.
    #[must_use]
    pub fn secrets_provider(&self) -> serde_json::Value {
        serde_json::json!({ "type": "passphrase", "state": { "salt": self.salt() } })
    }

    /// What authenticates the stack's seal and journal. Derives the key.
    pub(super) fn seal_key(&self) -> Result<&SealKey> {
        self.keys().map(|keys| &keys.seal)
    }

    fn keys(&self) -> Result<&Keys> {
        self.0.keys.get_or_init(|| self.0.derive()).as_ref().map_err(|message| Error::Secrets(message.clone().into()))
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        // The maps are whole after every statement, so a panic elsewhere does not spoil them.
        self.0.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the ciphertext that stands for the text: the first one seen.
    fn remember(&self, text: Arc<str>, ciphertext: Arc<str>) -> Arc<str> {
        let mut cache = self.cache();
        let first = Arc::clone(cache.ciphertexts.entry(Arc::clone(&text)).or_insert_with(|| Arc::clone(&ciphertext)));
        cache.texts.insert(ciphertext, text);
        first
    }

    fn seal(&self, text: &str) -> Result<String> {
        let key = &self.keys()?.encryption;
        let mut nonce = [0; NONCE_LEN];
        self.0.environment.entropy.fill(&mut nonce)?;
        let mut sealed = text.as_bytes().to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
            .map_err(|_| Error::Secrets("a value is too large to be encrypted".into()))?;
        Ok(format!("{VERSION_PREFIX}{}:{}", BASE64.encode(nonce), BASE64.encode(sealed)))
    }
}

impl Inner {
    fn derive(&self) -> std::result::Result<Keys, String> {
        let (text, salt) = (self.passphrase.text(), &self.salt_bytes);
        let known = self.environment.known_keys.as_ref();
        if let Some(Ok(keys)) = known.and_then(|known| known.find(text, salt)).map(|bytes| self.checked(&bytes)) {
            return Ok(keys);
        }
        let _turn = known.map(KnownKeys::turn);
        if self.environment.is_abandoned() {
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
        let known = derived_keys::find(key_file, self.passphrase.text(), &self.salt_bytes);
        if let Some((bytes, Ok(keys))) = known.map(|bytes| (bytes, self.checked(&bytes))) {
            return Ok((bytes, keys));
        }
        let bytes = self.derived_bytes();
        let keys = self.checked(&bytes)?;
        derived_keys::remember(key_file, self.passphrase.text(), &self.salt_bytes, &bytes);
        Ok((bytes, keys))
    }

    fn derived_bytes(&self) -> [u8; KEY_LEN] {
        #[cfg(test)]
        self.derivations.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let passphrase = self.passphrase.text().as_bytes();
        let iterations = ITERATIONS;
        #[cfg(all(feature = "for-tests", debug_assertions))]
        let iterations = if cheap_keys::is_marked(&self.salt_bytes) { 1 } else { iterations };
        maloko_passphrase_key::derive(passphrase, &self.salt_bytes, iterations)
    }

    /// The keys of these bytes, if they open what the salt string holds.
    fn checked(&self, bytes: &[u8; KEY_LEN]) -> std::result::Result<Keys, String> {
        let key = UnboundKey::new(&AES_256_GCM, bytes).map_err(|_| "AES-256-GCM is not available".to_owned())?;
        let key = LessSafeKey::new(key);
        match &self.check {
            Some(check) if open(&key, check).as_deref() != Some(CHECK_TEXT) => Err(self.wrong_passphrase()),
            _ => Ok(Keys { encryption: key, seal: SealKey::derive(bytes) }),
        }
    }

    /// Where a key file stands beside the wrong passphrase: which of the two was taken, and how to take the other one.
    fn two_keys(&self) -> Option<String> {
        let key_file = self.passphrase.passed_over()?.display();
        let (source, variable) = match self.passphrase.source() {
            PassphraseSource::Variable => ("the one in".to_owned(), PASSPHRASE_VARIABLE),
            PassphraseSource::VariableFile(path) => {
                (format!("the one in {}, named by", path.display()), PASSPHRASE_FILE_VARIABLE)
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
            PassphraseSource::Variable => format!("the one in {PASSPHRASE_VARIABLE}"),
            PassphraseSource::VariableFile(path) => {
                format!("the one in {}, which {PASSPHRASE_FILE_VARIABLE} names,", path.display())
            }
            PassphraseSource::KeyFile(path) => format!("the one in the key file {}", path.display()),
            PassphraseSource::Given => "the one that was given".to_owned(),
        };
        format!(
            "incorrect passphrase: {source} is not the one that the stack's secrets were encrypted with. Set \
             {PASSPHRASE_VARIABLE} to the right one, or {PASSPHRASE_FILE_VARIABLE} to a file that holds it. If `maloko stack \
             change-secrets-provider` changed the key, the stack's settings file must be the one from after that. Nothing was \
             changed"
        )
    }
}

/// Shows nothing secret.
impl fmt::Debug for Crypter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crypter").field("salt", &self.0.salt).finish_non_exhaustive()
    }
}

/// What is encrypted for a reference: the JSON of a string that holds the reference's JSON.
pub(super) fn reference_text(reference: &ProviderReference) -> Result<String> {
    serde_json::to_string(reference)
        .and_then(|json| serde_json::to_string(&json))
        .map_err(|error| Error::Secrets(format!("the reference of a provider cannot be written: {error}").into()))
}

fn split_ciphertext(ciphertext: &str) -> Option<([u8; NONCE_LEN], Vec<u8>)> {
    let (nonce, sealed) = ciphertext.strip_prefix(VERSION_PREFIX)?.split_once(':')?;
    Some((BASE64.decode(nonce).ok()?.try_into().ok()?, BASE64.decode(sealed).ok()?))
}

fn open(key: &LessSafeKey, ciphertext: &str) -> Option<String> {
    let (nonce, mut sealed) = split_ciphertext(ciphertext)?;
    let text = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed).ok()?;
    String::from_utf8(text.to_vec()).ok()
}

fn unreadable(ciphertext: &str) -> Error {
    let start: String = ciphertext.chars().take(24).collect();
    Error::Secrets(format!(
        "a secret ('{start}...') cannot be decrypted: it was damaged, or encrypted with another key than the rest of the \
         stack. Set it again, or restore it from a copy of the file that it is in"
    ).into())
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
