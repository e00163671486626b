//! What opens the stack's secrets, on its way to the preview pass: a passphrase that was typed in, and a key that a service unwrapped. It is
//! encrypted in the private file through which the two processes speak, with a key that is made for this once and stands in the arguments of
//! the pass only. Neither of the two tells anything without the other; the user and the service are asked once.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maloko_core::environment::{Entropy, UnwrappedKey};
use maloko_core::state::Passphrase;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

const KEY_LEN: usize = 32;

/// What one process knows and the other needs.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Handover {
    typed: Option<String>,
    /// URL, wrapped key and key, the latter two in base64.
    unwrapped: Option<(String, String, String)>,
}

impl Handover {
    pub(super) fn new(typed: Option<&Passphrase>, unwrapped: Option<&UnwrappedKey>) -> Self {
        let unwrapped = unwrapped.map(|it| (it.url.clone(), BASE64.encode(&it.wrapped), BASE64.encode(it.key)));
        Self { typed: typed.map(|passphrase| passphrase.text().to_owned()), unwrapped }
    }

    /// Is there nothing that the other process could not find itself?
    pub(super) fn is_empty(&self) -> bool {
        self.typed.is_none() && self.unwrapped.is_none()
    }

    pub(super) fn passphrase(&self) -> Option<Passphrase> {
        self.typed.as_deref().map(Passphrase::given)
    }

    pub(super) fn unwrapped(&self) -> Option<UnwrappedKey> {
        let (url, wrapped, key) = self.unwrapped.as_ref()?;
        let (wrapped, key) = (BASE64.decode(wrapped).ok()?, BASE64.decode(key).ok()?);
        Some(UnwrappedKey { url: url.clone(), wrapped, key: key.try_into().ok()? })
    }
}

/// Puts it into the file, and gives the key that opens it.
pub(super) fn put(handover: &Handover, file: &Path, entropy: &dyn Entropy) -> Result<String> {
    let mut key = [0; KEY_LEN];
    entropy.fill(&mut key)?;
    let mut sealed = serde_json::to_vec(handover).map_err(|error| Failure::new(error.to_string()))?;
    cipher(&key)?
        .seal_in_place_append_tag(only_nonce(), Aad::empty(), &mut sealed)
        .map_err(|_| Failure::new("the passphrase is too long"))?;
    crate::platform::write_private_file(file, &sealed)
        .map_err(|error| Failure::io(format!("the temporary file {} cannot be written", file.display()), &error))?;
    Ok(key.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Takes it out of the file, which is empty afterwards.
pub(super) fn take(file: &Path, key: &str) -> Result<Handover> {
    let damaged = || Failure::new("the key for the preview did not arrive; this is a bug in maloko");
    let bytes = (0..key.len()).step_by(2).map(|at| u8::from_str_radix(key.get(at..at + 2)?, 16).ok());
    let key: Vec<u8> = bytes.collect::<Option<_>>().ok_or_else(damaged)?;
    let mut sealed = std::fs::read(file).map_err(|_| damaged())?;
    crate::platform::write_private_file(file, b"").map_err(|_| damaged())?;
    let text = cipher(&key)?.open_in_place(only_nonce(), Aad::empty(), &mut sealed).map_err(|_| damaged())?;
    serde_json::from_slice(text).map_err(|_| damaged())
}

fn cipher(key: &[u8]) -> Result<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| Failure::new("AES-256-GCM is not available"))
}

/// The key encrypts one text in its life.
fn only_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails with the error")]

    use maloko_core::environment::{Environment, UnwrappedKey};
    use maloko_core::state::Passphrase;

    use super::{Handover, put, take};

    #[test]
    fn a_passphrase_and_a_key_arrive_and_leave_no_trace() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let unwrapped = UnwrappedKey { url: "awskms://k".to_owned(), wrapped: vec![1, 2], key: [7; 32] };
        let handed = Handover::new(Some(&Passphrase::given("open sesame")), Some(&unwrapped));
        let key = put(&handed, file.path(), &*Environment::system().entropy).unwrap();
        let there = std::fs::read(file.path()).unwrap();
        assert!(!there.windows(4).any(|part| part == b"open"));
        assert!(take(file.path(), &"00".repeat(32)).is_err());
        std::fs::write(file.path(), there).unwrap();
        let taken = take(file.path(), &key).unwrap();
        assert_eq!(taken.passphrase().unwrap().text(), "open sesame");
        let key_taken = taken.unwrapped().unwrap();
        assert_eq!((key_taken.url.as_str(), &*key_taken.wrapped, key_taken.key), ("awskms://k", &[1, 2][..], [7; 32]));
        assert!(std::fs::read(file.path()).unwrap().is_empty());
        assert!(take(file.path(), "none").is_err());
    }
}
