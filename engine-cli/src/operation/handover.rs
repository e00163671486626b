//! A passphrase that was typed in, on its way to the preview pass: it is encrypted in the private file through which the
//! two processes speak, with a key that is made for this once and stands in the arguments of the pass only. Neither of
//! the two tells anything without the other, and the passphrase is asked for once.

use std::fmt::Write as _;
use std::path::Path;

use maloko_core::environment::Entropy;
use maloko_core::state::Passphrase;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::failure::{Failure, Result};

const KEY_LEN: usize = 32;

/// Puts the passphrase into the file, and gives the key that opens it.
pub(super) fn put(passphrase: &Passphrase, file: &Path, entropy: &dyn Entropy) -> Result<String> {
    let mut key = [0; KEY_LEN];
    entropy.fill(&mut key)?;
    let mut sealed = passphrase.text().as_bytes().to_vec();
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

/// Takes the passphrase out of the file, which is empty afterwards.
pub(super) fn take(file: &Path, key: &str) -> Result<Passphrase> {
    let damaged = || Failure::new("the passphrase for the preview did not arrive; this is a bug in maloko");
    let bytes = (0..key.len()).step_by(2).map(|at| u8::from_str_radix(key.get(at..at + 2)?, 16).ok());
    let key: Vec<u8> = bytes.collect::<Option<_>>().ok_or_else(damaged)?;
    let mut sealed = std::fs::read(file).map_err(|_| damaged())?;
    crate::platform::write_private_file(file, b"").map_err(|_| damaged())?;
    let text = cipher(&key)?.open_in_place(only_nonce(), Aad::empty(), &mut sealed).map_err(|_| damaged())?;
    Ok(Passphrase::given(std::str::from_utf8(text).map_err(|_| damaged())?))
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

    use maloko_core::environment::Environment;
    use maloko_core::state::Passphrase;

    use super::{put, take};

    #[test]
    fn a_passphrase_arrives_and_leaves_no_trace() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let key = put(&Passphrase::given("open sesame"), file.path(), &*Environment::system().entropy).unwrap();
        let there = std::fs::read(file.path()).unwrap();
        assert!(!there.windows(4).any(|part| part == b"open"));
        assert!(take(file.path(), &"00".repeat(32)).is_err());
        std::fs::write(file.path(), there).unwrap();
        assert_eq!(take(file.path(), &key).unwrap().text(), "open sesame");
        assert!(std::fs::read(file.path()).unwrap().is_empty());
        assert!(take(file.path(), "none").is_err());
    }
}
