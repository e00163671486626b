//! A value of a stack's configuration, as programs and the engine read it.

use serde::{Deserialize, Serialize};

/// One stack configuration value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigValue {
    /// The decrypted text (JSON text for objects and lists).
    pub value: String,
    /// Is it, or anything in it, secret?
    pub secret: bool,
}
