//! The key that a passphrase gives: PBKDF2 with HMAC-SHA-256 (RFC 8018, section 5.2).

/// Length of a key for AES-256, in bytes.
pub const KEY_LEN: usize = 32;

/// The key of a passphrase, a salt and a number of iterations. A million iterations take a tenth of a second and more.
#[must_use]
pub fn derive(passphrase: &[u8], salt: &[u8], iterations: u32) -> [u8; KEY_LEN] {
    let mut key = [0; KEY_LEN];
    pbkdf2::pbkdf2_hmac::<sha2::Sha256>(passphrase, salt, iterations, &mut key);
    key
}
