//! Packages that extend the package of a plugin, in that plugin: it then serves the resources of both.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::sha256_hex;

/// A package that extends another one, by what states name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    reference: String,
    parameter: Option<ExtensionParameter>,
}

/// Extensions by their references.
pub type Extensions = BTreeMap<String, Arc<Extension>>;

/// What a plugin extends its package by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExtensionParameter {
    /// Name of the package that it makes.
    pub name: String,
    /// Version of that package.
    #[serde(default)]
    pub version: String,
    /// What the plugin makes the package from.
    #[serde(default, with = "base64_text")]
    pub value: Vec<u8>,
}

impl Extension {
    /// A package, as a program or a state tells of it.
    #[must_use]
    pub fn new(parameter: ExtensionParameter) -> Arc<Self> {
        Self::known(parameter.reference(), parameter)
    }

    /// A package, as a state lists it by that reference.
    #[must_use]
    pub fn known(reference: String, parameter: ExtensionParameter) -> Arc<Self> {
        Arc::new(Self { reference, parameter: Some(parameter) })
    }

    /// A package of which a resource tells the reference alone.
    #[must_use]
    pub fn referred_to(reference: String) -> Arc<Self> {
        Arc::new(Self { reference, parameter: None })
    }

    /// What stands for it in a resource of a state.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// What makes it; `None` where the state does not hold that.
    #[must_use]
    pub fn parameter(&self) -> Option<&ExtensionParameter> {
        self.parameter.as_ref()
    }
}

impl ExtensionParameter {
    /// The reference of the reference engine: SHA-256 of name, version and value with NUL between them, in hexadecimal digits.
    fn reference(&self) -> String {
        let parts = [self.name.as_bytes(), self.version.as_bytes(), &self.value];
        sha256_hex(&parts.join(&0))
    }
}

/// Bytes as JSON has them.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        // Go writes no bytes as null.
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        STANDARD.decode(text).map_err(de::Error::custom)
    }
}
