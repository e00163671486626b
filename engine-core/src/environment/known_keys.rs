//! Keys that were derived from passphrases, for a process that opens the same stacks again and again: deriving one takes a
//! fifth of a second. They are in memory only, as the passphrases are.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::derived_keys::label;

/// So many are kept; those that were not used for the longest time fall out.
const MAX_KEYS: usize = 64;

/// Length of a key in bytes.
const LEN: usize = ring::digest::SHA256_OUTPUT_LEN;

/// What a key was derived from (a hash of it), and the key; those used last come first.
type Keys = VecDeque<(String, [u8; LEN])>;

/// Keys by passphrase and salt. Clones share them.
#[derive(Clone, Default)]
pub struct KnownKeys(Arc<Mutex<Keys>>);

impl KnownKeys {
    /// The key of a passphrase and a salt, if it was derived before.
    pub(crate) fn find(&self, passphrase: &str, salt: &[u8]) -> Option<[u8; LEN]> {
        let label = label(passphrase, salt);
        let mut known = self.lock();
        let at = known.iter().position(|(of, _)| *of == label)?;
        let found = known.remove(at)?;
        let key = found.1;
        known.push_front(found);
        Some(key)
    }

    /// Remembers a key.
    pub(crate) fn remember(&self, passphrase: &str, salt: &[u8], key: [u8; LEN]) {
        let mut known = self.lock();
        known.push_front((label(passphrase, salt), key));
        known.truncate(MAX_KEYS);
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        // Whole after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "known_keys_tests.rs"]
mod tests;
