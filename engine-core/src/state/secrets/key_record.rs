//! Which key a stack's secrets are encrypted with, as its settings and its state record it: that of a passphrase by its salt, that of a
//! key service by the service's URL and the key that the service wrapped. These are Pulumi's providers `passphrase` and `cloud`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD as BASE64, URL_SAFE_NO_PAD as URL_BASE64};
use serde_json::{Value as Json, json};

use crate::error::{Error, Result};

/// How the URLs of Azure's keys begin. What their service wrapped is written in base64 twice.
const AZURE: &str = "azurekeyvault://";

/// The key of a stack's secrets, without the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyRecord {
    /// A key that is derived from a passphrase.
    Passphrase {
        /// The salt string: `v1:<salt>:v1:<nonce>:<ciphertext>`, by which a passphrase can be checked.
        salt: String,
    },
    /// A random key that a key service has wrapped.
    Wrapped(WrappedKey),
}

/// A random key, encrypted by a key service.
#[derive(Clone, PartialEq, Eq)]
pub struct WrappedKey {
    url: String,
    bytes: Vec<u8>,
}

/// What the members of a settings file say of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedKey {
    /// Nothing: the state may know it.
    Nothing,
    /// Whose it is.
    Record(KeyRecord),
    /// The URL of a key service alone: the key that it wrapped is missing.
    Url(String),
}

impl KeyRecord {
    /// Of a state's `secrets_providers`; `None` where the state names no provider.
    pub fn of_state(provider: Option<&Json>) -> Result<Option<Self>> {
        let damaged = |what: &str| {
            Error::Secrets(format!("the state's 'secrets_providers' {what}; restore the stack file from a copy").into())
        };
        let Some(provider) = provider.filter(|provider| !provider.is_null()) else { return Ok(None) };
        let member = |name: &str| provider.pointer(&format!("/state/{name}")).and_then(Json::as_str);
        match provider.get("type").and_then(Json::as_str) {
            None | Some("") => Ok(None),
            Some("passphrase") => match member("salt") {
                Some(salt) => Ok(Some(Self::Passphrase { salt: salt.to_owned() })),
                None => Err(damaged("has no salt")),
            },
            Some("cloud") => match (member("url"), member("encryptedkey")) {
                (Some(url), Some(text)) => match WrappedKey::read(url, text) {
                    Some(wrapped) => Ok(Some(Self::Wrapped(wrapped))),
                    None => Err(damaged("has an 'encryptedkey' that is no base64")),
                },
                (None, _) => Err(damaged("has no url")),
                (_, None) => Err(damaged("has no encryptedkey")),
            },
            Some(kind) => Err(Error::Secrets(
                format!(
                    "the state's secrets are kept with the provider '{kind}', which maloko does not support; change it \
                 with `pulumi stack change-secrets-provider passphrase` first"
                )
                .into(),
            )),
        }
    }

    /// Of the settings' `secretsprovider`, `encryptedkey` and `encryptionsalt`. Whether maloko knows the scheme of the URL is another
    /// question.
    pub fn of_settings(provider: Option<&str>, key: Option<&str>, salt: Option<&str>) -> Result<NamedKey> {
        match (provider, key) {
            (None | Some("" | "default" | "passphrase"), _) => {
                Ok(salt.map_or(NamedKey::Nothing, |salt| NamedKey::Record(Self::Passphrase { salt: salt.to_owned() })))
            }
            (Some(url), None | Some("")) => Ok(NamedKey::Url(url.to_owned())),
            (Some(url), Some(text)) => match WrappedKey::read(url, text) {
                Some(wrapped) => Ok(NamedKey::Record(Self::Wrapped(wrapped))),
                None => Err(Error::Secrets(
                    "`encryptedkey` is no base64: restore it from a copy of the file, or take it from the state \
                     (`secrets_providers`)"
                        .into(),
                )),
            },
        }
    }

    /// The state's `secrets_providers`.
    #[must_use]
    pub fn to_state(&self) -> Json {
        match self {
            Self::Passphrase { salt } => json!({ "type": "passphrase", "state": { "salt": salt } }),
            Self::Wrapped(wrapped) => {
                json!({ "type": "cloud", "state": { "url": wrapped.url, "encryptedkey": wrapped.text() } })
            }
        }
    }

    /// Is it the same key? A service may be reached by another URL: another role, region or endpoint.
    #[must_use]
    pub fn is_same_key(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Wrapped(one), Self::Wrapped(other)) => one.bytes == other.bytes,
            _ => self == other,
        }
    }

    /// What may be shown of it: `passphrase`, or scheme, host and path of a service's key.
    #[must_use]
    pub fn shown(&self) -> &str {
        match self {
            Self::Passphrase { .. } => "passphrase",
            Self::Wrapped(wrapped) => wrapped.shown(),
        }
    }

    /// The salt string of a passphrase's key.
    #[must_use]
    pub fn salt(&self) -> Option<&str> {
        match self {
            Self::Passphrase { salt } => Some(salt),
            Self::Wrapped(_) => None,
        }
    }
}

impl WrappedKey {
    /// What a service wrapped under a URL.
    #[must_use]
    pub fn new(url: &str, bytes: Vec<u8>) -> Self {
        Self { url: url.to_owned(), bytes }
    }

    /// Of `encryptedkey` in settings or state; `None` where it is no base64. Some versions of Pulumi wrote Azure's in a state with one
    /// layer of base64 in place of two (pulumi/pulumi#15329).
    fn read(url: &str, text: &str) -> Option<Self> {
        let outer = BASE64.decode(text).ok()?;
        let inner = url.starts_with(AZURE).then(|| URL_BASE64.decode(&outer).ok()).flatten();
        Some(Self::new(url, inner.unwrap_or(outer)))
    }

    /// `encryptedkey` of settings and state.
    #[must_use]
    pub fn text(&self) -> String {
        if self.url.starts_with(AZURE) {
            return BASE64.encode(URL_BASE64.encode(&self.bytes));
        }
        BASE64.encode(&self.bytes)
    }

    /// The URL, as it was typed.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the service has to unwrap.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Scheme, host and path, which may be shown: what follows may hold an encryption context.
    #[must_use]
    pub fn shown(&self) -> &str {
        shown_url(&self.url)
    }
}

/// What may be shown of the URL of a key.
#[must_use]
pub fn shown_url(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Without what is encrypted, which says nothing, and without the query.
impl fmt::Debug for WrappedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WrappedKey").field("url", &self.shown()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "key_record_tests.rs"]
mod tests;
