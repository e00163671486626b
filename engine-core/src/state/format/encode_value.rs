//! Values to JSON.

use crate::error::{Error, Result};
use crate::provider::Extensions;
use crate::state::secrets::passphrase::{PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE};
use crate::state::secrets::{self, Crypter};
use crate::value::{
    ARCHIVE_SIGNATURE, ASSET_SIGNATURE, Archive, ArchiveSource, Asset, AssetSource, BYTES_SIGNATURE, FLOAT_SIGNATURE,
    MAX_DEPTH, PropertyMap, RESOURCE_SIGNATURE, ResourceReference, SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT,
    Value, base64_of, refuse_marked,
};

use super::json::{write_number, write_string};

/// In which form secrets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretText {
    /// Encrypted.
    Cipher,
    /// Readable: for `--show-secrets`.
    Plain,
}

/// Writes values and resources.
pub(crate) struct Encoder<'a> {
    pub(super) out: Vec<u8>,
    pub(super) crypter: Option<&'a Crypter>,
    pub(super) secret_text: SecretText,
    depth: usize,
    /// Were bytes written, in a secret too?
    holds_bytes: bool,
    /// The extensions of the resources that were written, by reference; `None` where each resource has its own with it.
    pub(super) extensions: Option<Extensions>,
}

impl<'a> Encoder<'a> {
    /// An encoder that appends to `out`. Without a crypter, sealed values can be written as ciphertexts and nothing
    /// else that is secret.
    pub(crate) fn new(out: Vec<u8>, crypter: Option<&'a Crypter>, secret_text: SecretText) -> Self {
        Self { out, crypter, secret_text, depth: 0, holds_bytes: false, extensions: None }
    }

    /// One that writes resources with references to their extensions, which stand beside them once for all.
    pub(crate) fn with_extensions_apart(self) -> Self {
        Self { extensions: Some(Extensions::new()), ..self }
    }

    /// The extensions of the resources that were written.
    pub(crate) fn take_extensions(&mut self) -> Extensions {
        self.extensions.take().unwrap_or_default()
    }

    fn crypter(&self) -> Result<&'a Crypter> {
        self.crypter.ok_or_else(|| {
            Error::Secrets(
                format!(
                    "the state holds secrets, and no passphrase is known: set {PASSPHRASE_VARIABLE} or \
                 {PASSPHRASE_FILE_VARIABLE}"
                )
                .into(),
            )
        })
    }

    /// Were bytes written? What is sealed is not looked into.
    pub(crate) fn holds_bytes(&self) -> bool {
        self.holds_bytes
    }

    /// What was written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// The bytes so far, to append what is not a value.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes one value.
    pub(crate) fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Null => self.raw("null"),
            Value::Bool(true) => self.raw("true"),
            Value::Bool(false) => self.raw("false"),
            Value::Number(number) if number.is_finite() => write_number(&mut self.out, *number),
            Value::Number(number) => {
                let bits = format!("{:016x}", number.to_bits());
                self.special(FLOAT_SIGNATURE, &[("value", &bits)]);
            }
            Value::String(text) => write_string(&mut self.out, text),
            Value::Bytes(bytes) => {
                self.holds_bytes = true;
                self.special(BYTES_SIGNATURE, &[("value", &base64_of(bytes))]);
            }
            Value::Array(items) => self.array(items)?,
            Value::Object(members) => self.object(members)?,
            Value::Secret(inner) => self.secret(inner)?,
            Value::Sealed(ciphertext) => self.sealed(ciphertext)?,
            Value::Unknown => write_string(&mut self.out, UNKNOWN_TEXT),
            Value::Output(output) => match (&output.value, output.secret) {
                (None, _) => write_string(&mut self.out, UNKNOWN_TEXT),
                (Some(value), false) => self.value(value)?,
                (Some(value), true) => self.secret(value)?,
            },
            Value::Resource(reference) => self.resource(reference),
            Value::Asset(asset) => self.asset(asset),
            Value::Archive(archive) => self.archive(archive)?,
        }
        Ok(())
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::BadState(format!(
                "a value is nested more than {MAX_DEPTH} levels deep, which a state file cannot hold; make it flatter, \
                 or pass it as a text"
            ).into()));
        }
        Ok(())
    }

    fn array(&mut self, items: &[Value]) -> Result<()> {
        self.enter()?;
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.value(item)?;
        }
        self.out.push(b']');
        self.depth -= 1;
        Ok(())
    }

    fn object(&mut self, members: &PropertyMap) -> Result<()> {
        readable(members)?;
        self.enter()?;
        self.out.push(b'{');
        for (index, (key, value)) in members.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            write_string(&mut self.out, key);
            self.out.push(b':');
            self.value(value)?;
        }
        self.out.push(b'}');
        self.depth -= 1;
        Ok(())
    }

    /// A special object of texts; empty ones are written too.
    fn special(&mut self, signature: &str, members: &[(&str, &str)]) {
        self.begin_special(signature);
        for (key, text) in members {
            self.member(key, text);
        }
        self.out.push(b'}');
    }

    fn begin_special(&mut self, signature: &str) {
        self.raw("{\"");
        self.raw(SIGNATURE_KEY);
        self.raw("\":\"");
        self.raw(signature);
        self.raw("\"");
    }

    fn member(&mut self, key: &str, text: &str) {
        self.raw(",\"");
        self.raw(key);
        self.raw("\":");
        write_string(&mut self.out, text);
    }

    fn secret(&mut self, inner: &Value) -> Result<()> {
        let mut nested = Encoder::new(Vec::new(), self.crypter, self.secret_text);
        nested.value(inner)?;
        self.holds_bytes |= nested.holds_bytes;
        // Everything that an encoder writes is UTF-8.
        let text = String::from_utf8_lossy(&nested.out);
        self.secret_json(&text)
    }

    /// A secret whose serialised value is given.
    pub(super) fn secret_json(&mut self, json: &str) -> Result<()> {
        match self.secret_text {
            SecretText::Plain => self.special(SECRET_SIGNATURE, &[("plaintext", json)]),
            SecretText::Cipher => {
                let ciphertext = self.crypter()?.encrypt(json)?;
                self.special(SECRET_SIGNATURE, &[("ciphertext", &ciphertext)]);
            }
        }
        Ok(())
    }

    pub(super) fn sealed(&mut self, ciphertext: &str) -> Result<()> {
        match self.secret_text {
            SecretText::Plain => {
                let text = self.crypter()?.decrypt(ciphertext)?;
                self.special(SECRET_SIGNATURE, &[("plaintext", &text)]);
            }
            SecretText::Cipher => self.special(SECRET_SIGNATURE, &[("ciphertext", ciphertext)]),
        }
        Ok(())
    }

    /// A provider reference: a secret string.
    pub(super) fn reference(&mut self, reference: &std::sync::Arc<crate::provider::ProviderReference>) -> Result<()> {
        match self.secret_text {
            SecretText::Plain => {
                let text = secrets::reference_text(reference)?;
                self.special(SECRET_SIGNATURE, &[("plaintext", &text)]);
            }
            SecretText::Cipher => {
                let ciphertext = self.crypter()?.encrypt_reference(reference)?;
                self.special(SECRET_SIGNATURE, &[("ciphertext", &ciphertext)]);
            }
        }
        Ok(())
    }

    fn resource(&mut self, reference: &ResourceReference) {
        self.begin_special(RESOURCE_SIGNATURE);
        if let Some(id) = &reference.id {
            self.member("id", id);
        }
        self.member("packageVersion", &reference.package_version);
        self.member("urn", reference.urn.as_str());
        self.out.push(b'}');
    }

    fn asset(&mut self, asset: &Asset) {
        self.begin_special(ASSET_SIGNATURE);
        self.member("hash", &asset.hash);
        match &asset.source {
            AssetSource::Text(text) => self.member("text", text),
            AssetSource::Path(path) => self.member("path", path),
            AssetSource::Uri(uri) => self.member("uri", uri),
            AssetSource::Elided => {}
        }
        self.out.push(b'}');
    }

    fn archive(&mut self, archive: &Archive) -> Result<()> {
        self.begin_special(ARCHIVE_SIGNATURE);
        match &archive.source {
            ArchiveSource::Assets(assets) => {
                self.raw(",\"assets\":");
                self.object(assets)?;
            }
            ArchiveSource::Path(path) => self.member("path", path),
            ArchiveSource::Uri(uri) => self.member("uri", uri),
            ArchiveSource::Elided => {}
        }
        self.member("hash", &archive.hash);
        self.out.push(b'}');
        Ok(())
    }
}

/// Refuses members that would be taken for a special value when they are read, and could not be understood: special
/// values have kinds of their own, and are never written as objects.
pub(super) fn readable(members: &PropertyMap) -> Result<()> {
    refuse_marked(members).map_err(|reason| {
        Error::BadState(format!("an object {reason}, so a state file that holds it could not be read").into())
    })
}
