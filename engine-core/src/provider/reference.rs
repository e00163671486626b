//! What stands for a provider object: a handle in a run, and in the state where to find it again and which code it was.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::value::{UNKNOWN_TEXT, Value};
use crate::wire::lower;

/// The number that a host gives to a live provider object; the same object has the same number for a whole run.
pub type ObjectId = u64;

/// The number of a configuration in a run: 0 for the stack's, others for provider resources of the program.
pub type ConfigurationId = u64;

/// Packages whose resources are served by live provider objects.
pub(crate) const DYNAMIC_PACKAGES: [&str; 2] = ["pulumi-python", "pulumi-nodejs"];

/// What a host puts into `__provider` of a registration: this text followed by the [`ObjectId`] in decimal digits.
pub const HANDLE_PREFIX: &str = "maloko:object:";

/// The object that a `__provider` text names; `None` when the text is not one of our handles.
#[must_use]
pub fn parse_handle(text: &str) -> Option<ObjectId> {
    text.strip_prefix(HANDLE_PREFIX)?.parse().ok()
}

/// What stands for a provider object in the state: never code, only where to find it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProviderReference {
    /// Version of this record; 1.
    pub maloko: u32,
    /// `python` or `nodejs`.
    pub language: String,
    /// Module (Python) or file (Node): relative to the project's root, or `node_modules/` with a package's name and the path in it.
    pub module: String,
    /// Qualified name of the class, or of the constant that holds the object (Node).
    pub name: String,
    /// The instance's attributes as canonical JSON, read once at registration and before `configure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<String>,
    /// Why the object cannot be found again from this reference; `None` for a complete reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Has the object no `delete`? Then its resources go without a call, also where it is not found again. No part of what
    /// the object is found by.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_delete: bool,
    /// Which code it was when it last made or changed the resource. No part of what the object is found by.
    #[serde(default, skip_serializing_if = "Revision::is_empty")]
    pub revision: Revision,
}

/// Which code of a provider made or changed a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Revision {
    /// What the provider declares as its `provider_version` (`providerVersion`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// A fingerprint of the provider's source code that says nothing of its formatting: a text that is only compared.
    /// `None` where the source cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Revision {
    /// Is nothing known?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ProviderReference {
    /// Can the object be found again from the reference alone?
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }

    /// What the object is found by: the reference without what only describes it.
    #[must_use]
    pub fn identity(&self) -> Self {
        Self { lacks_delete: false, revision: Revision::default(), ..self.clone() }
    }

    /// Module and name of the class, as keys of objects that are registered by hand name it; the bare name where no module
    /// is known.
    #[must_use]
    pub fn place(&self) -> String {
        if self.module.is_empty() { self.name.clone() } else { format!("{}:{}", self.module, self.name) }
    }
}

/// The `__provider` of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum StoredProvider {
    /// The resource has none: a component, a provider, a resource of another package.
    #[default]
    Absent,
    /// Ciphertext as read from the state; may hold one of our references or another tool's code.
    Sealed(Arc<str>),
    /// Any other JSON as read from the state: another tool's code in plain text. Kept, never looked into.
    Foreign(Arc<serde_json::Value>),
    /// A reference; always written encrypted.
    Reference(Arc<ProviderReference>),
    /// The code of a dynamic resource that a component's plugin made: a plugin of the SDK's runs it.
    Code(Arc<SerializedProvider>),
}

/// A provider object as Pulumi keeps it in a state: code. maloko itself never runs it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SerializedProvider {
    /// What the SDK's serialiser made of the object.
    pub text: String,
    /// Is it to be kept as a secret? The SDK decides.
    pub secret: bool,
}

impl SerializedProvider {
    /// The value of a `__provider`, which may be an output; `None` when it is no text. In previews it may be unknown.
    #[must_use]
    pub fn of_value(mut value: Value) -> Option<Self> {
        lower(&mut value, &mut Vec::new());
        let secret = value.contains_secret();
        match value.plain() {
            Value::String(text) => Some(Self { text, secret }),
            Value::Unknown => Some(Self { text: UNKNOWN_TEXT.to_owned(), secret }),
            _ => None,
        }
    }

    /// As the SDK's own server is given it.
    #[must_use]
    pub fn as_value(&self) -> Value {
        let text = if self.is_unknown() { Value::Unknown } else { Value::from(self.text.as_str()) };
        if self.secret { Value::secret(text) } else { text }
    }

    /// Is it not known yet, in a preview?
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.text == UNKNOWN_TEXT
    }
}

/// Without the code, which may be long and secret.
impl fmt::Debug for SerializedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SerializedProvider").field("secret", &self.secret).finish_non_exhaustive()
    }
}
