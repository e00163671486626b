//! How a session on a stack is opened, and how a stack is written outside of one.

use crate::environment::Environment;

use super::secrets::Crypter;

/// How a session is opened.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Encrypts what is written. Reads it too, unless the state was written with another salt: then the same
    /// passphrase with that salt.
    pub crypter: Crypter,
    /// The machine: clock, randomness, disk.
    pub environment: Environment,
    /// Check the state's integrity, and that it is what was sealed (off: `--disable-integrity-checking`; what is found
    /// of the seal is a notice then).
    pub check_integrity: bool,
    /// The command's name: shown to others while it holds the stack, noted in the journal, and in the state when it is
    /// written although its integrity is broken.
    pub command: String,
    /// How many former checkpoints are kept; the least is [`MIN_GENERATIONS`](super::backend::MIN_GENERATIONS).
    pub keep_generations: usize,
}
