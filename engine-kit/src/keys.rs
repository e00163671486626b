//! The keys that the secrets of tests' stacks are encrypted with.

use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock, PoisonError};

use maloko_core::environment::Environment;
use maloko_core::error::{Error, Result};
use maloko_core::state::{Crypter, Passphrase};

/// One key for all stacks in memory of the process: a state may move from one to another.
pub(crate) fn throwaway() -> Result<Crypter> {
    static CRYPTER: OnceLock<std::result::Result<Crypter, String>> = OnceLock::new();
    let made =
        CRYPTER.get_or_init(|| Crypter::throwaway(Environment::system()).map_err(|error| error.to_string())).clone();
    made.map_err(|problem| Error::Secrets(problem.into()))
}

/// Keys of this process by passphrase and salt: deriving one takes a fifth of a second, and a stack in a directory is
/// opened again and again.
static KNOWN: Mutex<VecDeque<(String, String, Crypter)>> = Mutex::new(VecDeque::new());
/// So many are kept.
const MAX_KNOWN: usize = 16;

/// The key of a passphrase and a salt.
pub(crate) fn known(passphrase: Passphrase, salt: &str, environment: Environment) -> Result<Crypter> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., crypter)) = known.iter().find(|(of, its_salt, _)| of == passphrase.text() && its_salt == salt) {
        return Ok(crypter.clone());
    }
    let text = passphrase.text().to_owned();
    let crypter = Crypter::new(passphrase, salt, environment)?;
    known.push_front((text, salt.to_owned(), crypter.clone()));
    known.truncate(MAX_KNOWN);
    Ok(crypter)
}
