//! Secrets at rest, in the format of Pulumi's providers `passphrase` and `cloud` (docs/rules 10.4).
//!
//! Equal plain texts of one run share one ciphertext, and a text that was read encrypted is written with the
//! ciphertext that it had. Unchanged secrets therefore leave the state unchanged; the price is that equal secrets of a
//! stack can be seen to be equal.

#[cfg(all(feature = "for-tests", debug_assertions))]
mod cheap_keys;
mod derivation;
pub mod key_record;
pub mod passphrase;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maloko_passphrase_key::KEY_LEN;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use crate::environment::{Environment, KeyServices};
use crate::error::{Error, Result};
use crate::provider::ProviderReference;
use crate::redaction::Redactor;

use self::derivation::Derivation;
use self::key_record::{KeyRecord, WrappedKey, shown_url};
use self::passphrase::{PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, PassphraseSource};

const VERSION_PREFIX: &str = "v1:";
/// What a salt string encrypts, so that a passphrase can be checked.
const CHECK_TEXT: &str = "pulumi";
/// Passphrases from this length on (bytes) are looked for in messages.
const HIDDEN_PASSPHRASE: usize = 12;

/// Encrypts and decrypts with a stack's key, which is derived from a passphrase or unwrapped by a key service: when it is first needed, or
/// early with [`Crypter::warm_up`]. Cheap to clone; clones share the key and the caches.
#[derive(Clone)]
pub struct Crypter(Arc<Inner>);

struct Inner {
    record: KeyRecord,
    origin: Origin,
    keys: OnceLock<std::result::Result<Keys, String>>,
    cache: Mutex<Cache>,
    environment: Environment,
}

/// Where the key comes from.
enum Origin {
    /// From a passphrase.
    Derivation(Derivation),
    /// From a key service. The passphrase is for what is still encrypted with one.
    Service { passphrase: Option<Passphrase> },
}

/// What encrypts a stack's secrets, and what seals its state.
#[derive(Clone)]
struct Keys {
    encryption: LessSafeKey,
    seal: SealKey,
}

impl Keys {
    fn of(bytes: &[u8; KEY_LEN]) -> std::result::Result<Self, String> {
        let key = UnboundKey::new(&AES_256_GCM, bytes).map_err(|_| "AES-256-GCM is not available".to_owned())?;
        Ok(Self { encryption: LessSafeKey::new(key), seal: SealKey::derive(bytes) })
    }
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
        let derivation = Derivation::of(passphrase, salt)?;
        let record = KeyRecord::Passphrase { salt: salt.to_owned() };
        Ok(Self::build(record, Origin::Derivation(derivation), environment))
    }

    /// For a new stack or a new passphrase: makes a salt string, which needs the key at once.
    pub fn with_new_salt(passphrase: Passphrase, environment: Environment) -> Result<Self> {
        let derivation = Derivation::with_new_salt(passphrase.clone(), &environment)?;
        let keys = derivation.keys(&environment).map_err(|message| Error::Secrets(message.into()))?;
        Self::known(passphrase, &derivation, keys, environment)
    }

    /// For a stack that lives no longer than the process: a random key, and no passphrase that it could be derived from
    /// again (which takes long).
    pub fn throwaway(environment: Environment) -> Result<Self> {
        let passphrase = Passphrase::given("");
        let derivation = Derivation::with_new_salt(passphrase.clone(), &environment)?;
        let keys = Keys::of(&random_key(&environment)?).map_err(|message| Error::Secrets(message.into()))?;
        Self::known(passphrase, &derivation, keys, environment)
    }

    /// For a stack whose key a service has wrapped. The passphrase, if there is one, opens what is still encrypted with it. A service that
    /// refuses is noticed at the first use, or by [`Crypter::verify`].
    #[must_use]
    pub fn of_service(wrapped: WrappedKey, passphrase: Option<Passphrase>, environment: Environment) -> Self {
        Self::build(KeyRecord::Wrapped(wrapped), Origin::Service { passphrase }, environment)
    }

    /// For a new stack or a new key: a random key that the service of this URL wraps, and unwraps once, so that a key that can be used for
    /// one of both alone is refused before anything is encrypted with it.
    pub fn with_new_wrapped_key(url: &str, passphrase: Option<Passphrase>, environment: Environment) -> Result<Self> {
        let key = random_key(&environment)?;
        let wrapped =
            services(&environment, url)?.wrap_key(url, &key).map_err(|message| Error::Secrets(message.into()))?;
        let made = Self::of_service(WrappedKey::new(url, wrapped), passphrase, environment);
        made.verify()?;
        Ok(made)
    }

    /// With keys that are known already, and right by construction.
    fn known(passphrase: Passphrase, derivation: &Derivation, keys: Keys, environment: Environment) -> Result<Self> {
        let check = seal(&keys, CHECK_TEXT, &environment)?;
        let made = Self::new(passphrase, &derivation.salt_string(&check), environment)?;
        let _ = made.0.keys.set(Ok(keys));
        Ok(made)
    }

    fn build(record: KeyRecord, origin: Origin, environment: Environment) -> Self {
        let (keys, cache) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Inner { record, origin, keys, cache, environment }))
    }

    /// What opens what was encrypted with another key of the same people: the same passphrase with another salt, or another wrapped key of a
    /// service. The same crypter where it is the same key.
    pub fn with_record(&self, record: &KeyRecord) -> Result<Self> {
        if record.is_same_key(&self.0.record) {
            return Ok(self.clone());
        }
        let (passphrase, environment) = (self.passphrase(), self.0.environment.clone());
        match (record, passphrase) {
            (KeyRecord::Wrapped(wrapped), _) => Ok(Self::of_service(wrapped.clone(), passphrase.cloned(), environment)),
            (KeyRecord::Passphrase { salt }, Some(passphrase)) => Self::new(passphrase.clone(), salt, environment),
            (KeyRecord::Passphrase { .. }, None) => Err(Error::Secrets(format!(
                "what was read is encrypted with a passphrase, and none is known: set {PASSPHRASE_VARIABLE} to it, or \
                 {PASSPHRASE_FILE_VARIABLE} to a file that holds it. Nothing was changed"
            ).into())),
        }
    }

    /// The same key on another machine. Nothing is shared but the key, if it is known already.
    #[must_use]
    pub fn on(&self, environment: Environment) -> Self {
        let Inner { record, origin, keys, .. } = &*self.0;
        let origin = match origin {
            Origin::Derivation(derivation) => Origin::Derivation(derivation.again()),
            Origin::Service { passphrase } => Origin::Service { passphrase: passphrase.clone() },
        };
        let other = Self::build(record.clone(), origin, environment);
        if let Some(known) = keys.get() {
            let _ = other.0.keys.set(known.clone());
        }
        other
    }

    /// The machine that it takes its randomness from.
    pub(crate) fn environment(&self) -> &Environment {
        &self.0.environment
    }

    /// Which key it is.
    #[must_use]
    pub fn record(&self) -> &KeyRecord {
        &self.0.record
    }

    /// Begins to derive or to unwrap the key on a thread of its own, so that it is there when it is needed. Call it after any fork:
    /// the thread would be missing in the child.
    pub fn warm_up(&self) {
        if self.0.keys.get().is_some() {
            return;
        }
        let crypter = self.clone();
        // Without a thread that happens when the key is needed; the error, if any, is reported then as well.
        let _ = self.0.environment.workers.start("maloko-key", Box::pin(async move { drop(crypter.keys()) }));
    }

    /// Is the passphrase the right one, and does the service unwrap the key? Derives or unwraps it.
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
        if let Some(text) = self.passphrase().map(Passphrase::text).filter(|text| text.len() >= HIDDEN_PASSPHRASE) {
            redactor.learn(text);
        }
    }

    /// Is it the key of this passphrase?
    #[must_use]
    pub fn is_by(&self, passphrase: &Passphrase) -> bool {
        self.passphrase().is_some_and(|own| own.text() == passphrase.text())
    }

    /// Where the passphrase came from, if there is one.
    #[must_use]
    pub fn passphrase_source(&self) -> Option<&PassphraseSource> {
        self.passphrase().map(Passphrase::source)
    }

    fn passphrase(&self) -> Option<&Passphrase> {
        match &self.0.origin {
            Origin::Derivation(derivation) => Some(&derivation.passphrase),
            Origin::Service { passphrase } => passphrase.as_ref(),
        }
    }

    /// The `secrets_providers` member of a state.
    #[must_use]
    pub fn secrets_provider(&self) -> serde_json::Value {
        self.0.record.to_state()
    }

    /// What authenticates the stack's seal and journal. Derives or unwraps the key.
    pub(super) fn seal_key(&self) -> Result<&SealKey> {
        self.keys().map(|keys| &keys.seal)
    }

    fn keys(&self) -> Result<&Keys> {
        self.0.keys.get_or_init(|| self.0.keys()).as_ref().map_err(|message| Error::Secrets(message.clone().into()))
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
        seal(self.keys()?, text, &self.0.environment)
    }
}

impl Inner {
    fn keys(&self) -> std::result::Result<Keys, String> {
        match (&self.origin, &self.record) {
            (Origin::Derivation(derivation), _) => derivation.keys(&self.environment),
            (Origin::Service { .. }, KeyRecord::Wrapped(wrapped)) => {
                let services = services(&self.environment, wrapped.url()).map_err(|error| error.to_string())?;
                Keys::of(&services.unwrap_key(wrapped.url(), wrapped.bytes())?)
            }
            // A passphrase's record is never built with a service.
            (Origin::Service { .. }, KeyRecord::Passphrase { .. }) => Err("the key has no passphrase".to_owned()),
        }
    }
}

/// Shows nothing secret.
impl fmt::Debug for Crypter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crypter").field("record", &self.0.record).finish_non_exhaustive()
    }
}

/// What is encrypted for a reference: the JSON of a string that holds the reference's JSON.
pub(super) fn reference_text(reference: &ProviderReference) -> Result<String> {
    serde_json::to_string(reference)
        .and_then(|json| serde_json::to_string(&json))
        .map_err(|error| Error::Secrets(format!("the reference of a provider cannot be written: {error}").into()))
}

/// Those that the environment reaches.
fn services<'e>(environment: &'e Environment, url: &str) -> Result<&'e dyn KeyServices> {
    environment.key_services.as_deref().ok_or_else(|| {
        let key = shown_url(url);
        Error::Secrets(
            format!("the secrets are encrypted with the key {key}, and key services cannot be reached from here")
                .into(),
        )
    })
}

fn random_key(environment: &Environment) -> Result<[u8; KEY_LEN]> {
    let mut key = [0; KEY_LEN];
    environment.entropy.fill(&mut key)?;
    Ok(key)
}

fn seal(keys: &Keys, text: &str, environment: &Environment) -> Result<String> {
    let mut nonce = [0; NONCE_LEN];
    environment.entropy.fill(&mut nonce)?;
    let mut sealed = text.as_bytes().to_vec();
    keys.encryption
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
        .map_err(|_| Error::Secrets("a value is too large to be encrypted".into()))?;
    Ok(format!("{VERSION_PREFIX}{}:{}", BASE64.encode(nonce), BASE64.encode(sealed)))
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
mod recorded_tests;
#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
