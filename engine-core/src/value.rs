//! Property values: what resources take in and give out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::urn::Urn;

mod bytes;
mod marked;
mod property_dependencies;
mod property_map;

pub use bytes::{NO_BYTES_FOR_PROVIDERS, base64_of, refuse_bytes, shown_bytes};
pub use marked::{any_marked, from_marked, refuse_marked};
pub use property_dependencies::PropertyDependencies;
pub use property_map::PropertyMap;

/// How deep values may be nested. Beyond it a state file that we write could not be read again: its readers count the objects around
/// the value as well, up to 128. A level takes 1 KB of stack where most is taken, in the decoding of a message (3.5 KB without
/// optimisation), so that threads with 128 KB, as musl gives them, hold it.
pub const MAX_DEPTH: usize = 100;

/// The key that marks an object as a special value, on the wire and in the state (docs/rules 9.3).
pub const SIGNATURE_KEY: &str = "4dabf18193072939515e22adb298388d";
/// Signature of a secret.
pub const SECRET_SIGNATURE: &str = "1b47061264138c4ac30d75fd1eb44270";
/// Signature of a reference to a resource.
pub const RESOURCE_SIGNATURE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
/// Signature of an output value.
pub const OUTPUT_SIGNATURE: &str = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
/// Signature of an asset.
pub const ASSET_SIGNATURE: &str = "c44067f5952c0a294b673a41bacd8c17";
/// Signature of an archive.
pub const ARCHIVE_SIGNATURE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
/// Signature of bytes that are no UTF-8, in base64.
pub const BYTES_SIGNATURE: &str = "803fd3297a5875dc03ca845dda5d2a98";
/// Signature of a number that JSON cannot hold (NaN and the infinities), in the state only.
pub const FLOAT_SIGNATURE: &str = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
/// The text that stands for an unknown string; the one that senders use for unknowns of any kind (docs/rules 9.4).
pub const UNKNOWN_TEXT: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/// The texts that stand for unknown values: bool, number, string, array, asset, archive, object.
pub const UNKNOWN_TEXTS: [&str; 7] = [
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    UNKNOWN_TEXT,
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];
/// The reserved property in which an SDK hands over the provider of a dynamic resource.
pub const PROVIDER_KEY: &str = "__provider";

/// One property value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// An explicit null.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number; the wire and the state know doubles only.
    Number(f64),
    /// A text.
    String(String),
    /// Bytes that are no UTF-8; [`Value::from_bytes`] makes a text of all others.
    Bytes(Vec<u8>),
    /// A list.
    Array(Vec<Value>),
    /// An object with text keys.
    Object(PropertyMap),
    /// A value that is encrypted at rest and hidden wherever it is shown.
    Secret(Box<Value>),
    /// A secret as it stands in the state, not decrypted (`v1:nonce:ciphertext`).
    Sealed(Arc<str>),
    /// A value that is not known yet; in previews only.
    Unknown,
    /// An output with its dependencies; lowered when a request is decoded (docs/rules 2.1).
    Output(Box<OutputValue>),
    /// A reference to another resource.
    Resource(Box<ResourceReference>),
    /// A file or text.
    Asset(Box<Asset>),
    /// A collection of assets.
    Archive(Box<Archive>),
}

/// An output value as a program sends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputValue {
    /// The value; `None` while it is unknown.
    pub value: Option<Value>,
    /// Must it be kept secret?
    pub secret: bool,
    /// The resources that it was computed from.
    pub dependencies: Vec<Urn>,
}

/// A reference to a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceReference {
    /// Which resource.
    pub urn: Urn,
    /// `None`: a component; `Some("")`: a custom resource whose id is unknown.
    pub id: Option<String>,
    /// Version of the package that the resource belongs to; often empty.
    pub package_version: String,
}

/// Where the content of an asset comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AssetSource {
    /// The text itself.
    Text(String),
    /// A file, relative to the program's directory.
    Path(String),
    /// A remote address.
    Uri(String),
    /// Nothing but the hash is known.
    Elided,
}

/// A file or text, equal to another one exactly when the hashes are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asset {
    /// Lowercase hex SHA-256 of the content.
    pub hash: String,
    /// Where the content comes from.
    pub source: AssetSource,
}

/// Where the content of an archive comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArchiveSource {
    /// Assets and archives by name.
    Assets(PropertyMap),
    /// A file or directory, relative to the program's directory.
    Path(String),
    /// A remote address.
    Uri(String),
    /// Nothing but the hash is known.
    Elided,
}

/// A collection of assets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Archive {
    /// Lowercase hex SHA-256 (docs/rules 9.5).
    pub hash: String,
    /// Where the content comes from.
    pub source: ArchiveSource,
}

impl Archive {
    /// What it consists of, where it is made of assets and archives.
    #[must_use]
    pub fn members(&self) -> Option<&PropertyMap> {
        match &self.source {
            ArchiveSource::Assets(members) => Some(members),
            _ => None,
        }
    }

    /// The same, to change it.
    pub fn members_mut(&mut self) -> Option<&mut PropertyMap> {
        match &mut self.source {
            ArchiveSource::Assets(members) => Some(members),
            _ => None,
        }
    }

    /// The archive with other members; as it is where it has none.
    #[must_use]
    pub fn with_members(&self, change: impl FnOnce(&PropertyMap) -> PropertyMap) -> Self {
        let source = self.members().map(|members| ArchiveSource::Assets(change(members)));
        Self { hash: self.hash.clone(), source: source.unwrap_or_else(|| self.source.clone()) }
    }
}

impl Value {
    /// A secret; a secret of a secret is one secret.
    #[must_use]
    pub fn secret(value: Value) -> Value {
        match value {
            Value::Secret(_) | Value::Sealed(_) => value,
            other => Value::Secret(Box::new(other)),
        }
    }

    /// Is the value itself a secret?
    #[must_use]
    pub fn is_secret(&self) -> bool {
        matches!(self, Value::Secret(_) | Value::Sealed(_))
    }

    /// Is there a secret anywhere in the value?
    #[must_use]
    pub fn contains_secret(&self) -> bool {
        self.any(&|v| v.is_secret() || matches!(v, Value::Output(o) if o.secret))
    }

    /// Is there anything unknown in the value?
    #[must_use]
    pub fn contains_unknown(&self) -> bool {
        self.any(&|v| matches!(v, Value::Unknown) || matches!(v, Value::Output(o) if o.value.is_none()))
    }

    /// Does the test hold for the value or anything in it?
    pub fn any(&self, test: &dyn Fn(&Value) -> bool) -> bool {
        if test(self) {
            return true;
        }
        match self {
            Value::Array(items) => items.iter().any(|v| v.any(test)),
            Value::Object(members) => members.values().any(|v| v.any(test)),
            Value::Secret(inner) => inner.any(test),
            Value::Output(output) => output.value.as_ref().is_some_and(|v| v.any(test)),
            Value::Archive(archive) => archive.members().is_some_and(|members| members.values().any(|v| v.any(test))),
            _ => false,
        }
    }

    /// The value without any secret or output wrapper, at every depth.
    #[must_use]
    pub fn plain(&self) -> Value {
        match self {
            Value::Secret(inner) => inner.plain(),
            Value::Output(output) => output.value.as_ref().map_or(Value::Unknown, Value::plain),
            Value::Array(items) => Value::Array(items.iter().map(Value::plain).collect()),
            Value::Object(members) => Value::Object(plain_map(members)),
            Value::Archive(archive) => archive.with_members(plain_map).into(),
            other => other.clone(),
        }
    }

    /// The text of a string value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Properties without any secret or output wrapper, at every depth.
#[must_use]
pub fn plain_map(map: &PropertyMap) -> PropertyMap {
    map.iter().map(|(key, value)| (key.clone(), value.plain())).collect()
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<ResourceReference> for Value {
    fn from(reference: ResourceReference) -> Self {
        Value::Resource(Box::new(reference))
    }
}

impl From<Asset> for Value {
    fn from(asset: Asset) -> Self {
        Value::Asset(Box::new(asset))
    }
}

impl From<Archive> for Value {
    fn from(archive: Archive) -> Self {
        Value::Archive(Box::new(archive))
    }
}
