//! Keys that were derived from passphrases, or unwrapped by key services, for a process that opens the same stacks again and again: deriving
//! one takes a seventh of a second, and asking a service a request. They are in memory only, as the passphrases are.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;

use super::derived_keys::label;

/// So many are kept, each in some 200 bytes: a service goes round thousands of stacks. Those that were not used for the longest time fall out.
const MAX_KEYS: usize = 4096;

/// Length of a key in bytes.
const LEN: usize = ring::digest::SHA256_OUTPUT_LEN;

/// Nobody waits longer for the end of somebody else's derivation.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// So long a key counts that a service unwrapped: who may no longer use it finds out after this time at the latest.
const UNWRAPPED_FOR: Duration = Duration::from_secs(5 * 60);

/// A key, and until when it counts.
type KnownKey = ([u8; LEN], Option<Instant>);

/// The keys, by a hash of what each was derived from or of who unwrapped what; those used last come last.
type Keys = IndexMap<String, KnownKey>;

/// Keys by passphrase and salt. Clones share them.
#[derive(Clone, Default)]
pub struct KnownKeys(Arc<KeyCache>);

#[derive(Default)]
struct KeyCache {
    keys: Mutex<Keys>,
    /// How many are derived just now.
    deriving: Mutex<usize>,
    derived: Condvar,
}

/// The right to derive a key, until it is dropped.
pub(crate) struct Turn<'k>(&'k KeyCache);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.deriving) -= 1;
        self.0.derived.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KnownKeys {
    /// The key of a passphrase and a salt, if it was derived before.
    pub(crate) fn find(&self, passphrase: &str, salt: &[u8]) -> Option<[u8; LEN]> {
        self.take(label(passphrase.as_bytes(), salt), Instant::now())
    }

    /// The key that `owner` had unwrapped within the last minutes. Whose it is counts: others may not be allowed to unwrap it.
    #[must_use]
    pub fn find_unwrapped(&self, owner: &[u8], wrapped: &[u8]) -> Option<[u8; LEN]> {
        self.take(label(owner, wrapped), Instant::now())
    }

    /// Remembers a key that `owner` had unwrapped, for some minutes.
    pub fn remember_unwrapped(&self, owner: &[u8], wrapped: &[u8], key: [u8; LEN]) {
        self.keep(label(owner, wrapped), (key, Some(Instant::now() + UNWRAPPED_FOR)));
    }

    fn take(&self, label: String, now: Instant) -> Option<[u8; LEN]> {
        let mut keys = self.counting(now);
        let known = keys.shift_remove(&label)?;
        keys.insert(label, known);
        Some(known.0)
    }

    /// Remembers a key.
    pub(crate) fn remember(&self, passphrase: &str, salt: &[u8], key: [u8; LEN]) {
        self.keep(label(passphrase.as_bytes(), salt), (key, None));
    }

    fn keep(&self, label: String, known: KnownKey) {
        let mut keys = self.counting(Instant::now());
        keys.shift_remove(&label);
        keys.insert(label, known);
        if keys.len() > MAX_KEYS {
            keys.shift_remove_index(0);
        }
    }

    /// Waits for the right to derive a key. No more are derived at a time than there are processors: of many that begin at
    /// once, those that wait can still be called off, and the others have theirs sooner.
    pub(crate) fn turn(&self) -> Turn<'_> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let mut deriving = lock(&self.0.deriving);
        while *deriving >= processors {
            let waited = self.0.derived.wait_timeout(deriving, MAX_WAIT).unwrap_or_else(PoisonError::into_inner);
            deriving = waited.0;
            if waited.1.timed_out() {
                // A process that was forked off counts threads that it does not have.
                break;
            }
        }
        *deriving += 1;
        Turn(&self.0)
    }

    /// Those that still count: what has run out is not kept in memory.
    fn counting(&self, now: Instant) -> MutexGuard<'_, Keys> {
        let mut keys = lock(&self.0.keys);
        keys.retain(|_, (_, end)| end.is_none_or(|end| now < end));
        keys
    }
}

#[cfg(test)]
#[path = "known_keys_tests.rs"]
mod tests;
