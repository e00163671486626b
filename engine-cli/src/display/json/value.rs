//! Resources and values as JSON, redacted: shared by the event stream and the preview document.

use maloko_core::resource_state::ResourceState;
use maloko_core::value::{
    ARCHIVE_SIGNATURE, ASSET_SIGNATURE, ArchiveSource, AssetSource, FLOAT_SIGNATURE, PropertyMap, RESOURCE_SIGNATURE,
    SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT, Value, shown_bytes,
};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::display::redact::{SecretDisplay, Visible};
use crate::display::values::UNKNOWN;
use maloko_core::redaction::SECRET_TEXT;

/// What is written for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::display) enum SecretForm {
    /// The signature object with `"ciphertext": "[secret]"`.
    Signature,
    /// The plain string `[secret]`.
    Text,
    /// The same, and `[unknown]` for what is not known yet.
    Words,
}

/// How values are written.
#[derive(Clone, Copy)]
pub(in crate::display) struct Writing<'a> {
    /// What may be shown.
    pub(in crate::display) redactor: &'a SecretDisplay,
    /// What is written for the rest.
    pub(in crate::display) secrets: SecretForm,
}

/// Properties as they are written.
pub(in crate::display) struct Properties<'a>(
    pub(in crate::display) Writing<'a>,
    pub(in crate::display) &'a PropertyMap,
);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(writing, map) = self;
        serializer.collect_map(SecretDisplay::members(map).map(|(key, value)| (key, DisplayedValue(*writing, value))))
    }
}

/// A value as it is written.
pub(in crate::display) struct DisplayedValue<'a>(pub(in crate::display) Writing<'a>, pub(in crate::display) &'a Value);

impl Serialize for DisplayedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(writing, value) = *self;
        match writing.redactor.see(value) {
            Visible::Null => serializer.serialize_unit(),
            Visible::Bool(flag) => serializer.serialize_bool(flag),
            Visible::Number(number) => serialize_number(number, serializer),
            Visible::Text(text) => serializer.serialize_str(&writing.redactor.text(text)),
            Visible::Bytes(bytes) => serializer.serialize_str(&writing.redactor.text(&shown_bytes(bytes))),
            Visible::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&DisplayedValue(writing, item))?;
                }
                list.end()
            }
            Visible::Object(members) => Properties(writing, members).serialize(serializer),
            Visible::Secret if writing.secrets != SecretForm::Signature => serializer.serialize_str(SECRET_TEXT),
            Visible::Secret => {
                let mut object = serializer.serialize_map(Some(2))?;
                object.serialize_entry(SIGNATURE_KEY, SECRET_SIGNATURE)?;
                object.serialize_entry("ciphertext", SECRET_TEXT)?;
                object.end()
            }
            Visible::Unknown if writing.secrets == SecretForm::Words => serializer.serialize_str(UNKNOWN),
            Visible::Unknown => serializer.serialize_str(UNKNOWN_TEXT),
            Visible::Resource(reference) => {
                let mut object = serializer.serialize_map(None)?;
                object.serialize_entry(SIGNATURE_KEY, RESOURCE_SIGNATURE)?;
                object.serialize_entry("urn", reference.urn.as_str())?;
                if let Some(id) = &reference.id {
                    object.serialize_entry("id", id)?;
                }
                object.serialize_entry("packageVersion", &reference.package_version)?;
                object.end()
            }
            Visible::Asset(asset) => {
                let mut object = serializer.serialize_map(None)?;
                object.serialize_entry(SIGNATURE_KEY, ASSET_SIGNATURE)?;
                object.serialize_entry("hash", &asset.hash)?;
                match &asset.source {
                    AssetSource::Text(text) => object.serialize_entry("text", &writing.redactor.text(text))?,
                    AssetSource::Path(path) => object.serialize_entry("path", path)?,
                    AssetSource::Uri(uri) => object.serialize_entry("uri", &writing.redactor.text(uri))?,
                    AssetSource::Elided => {}
                }
                object.end()
            }
            Visible::Archive(archive) => {
                let mut object = serializer.serialize_map(None)?;
                object.serialize_entry(SIGNATURE_KEY, ARCHIVE_SIGNATURE)?;
                object.serialize_entry("hash", &archive.hash)?;
                match &archive.source {
                    ArchiveSource::Assets(assets) => object.serialize_entry("assets", &Properties(writing, assets))?,
                    ArchiveSource::Path(path) => object.serialize_entry("path", path)?,
                    ArchiveSource::Uri(uri) => object.serialize_entry("uri", &writing.redactor.text(uri))?,
                    ArchiveSource::Elided => {}
                }
                object.end()
            }
        }
    }
}

/// Whole numbers without a fraction, as Pulumi writes them; what JSON cannot hold as the state writes it.
fn serialize_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_finite() {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry(SIGNATURE_KEY, FLOAT_SIGNATURE)?;
        object.serialize_entry("value", &format!("{:016x}", number.to_bits()))?;
        return object.end();
    }
    if number.fract() == 0.0 && number.abs() < EXACT && !(number == 0.0 && number.is_sign_negative()) {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within the range in which doubles are exact")]
        return serializer.serialize_i64(number as i64);
    }
    serializer.serialize_f64(number)
}

/// A resource with all its members (docs/rules 10.2), as the preview document shows it.
pub(in crate::display) struct FullResource<'a>(
    pub(in crate::display) Writing<'a>,
    pub(in crate::display) &'a ResourceState,
);

impl Serialize for FullResource<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(writing, resource) = self;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("urn", resource.urn.as_str())?;
        object.serialize_entry("custom", &resource.custom)?;
        entry_if(&mut object, "delete", &resource.delete, resource.delete)?;
        entry_if(&mut object, "id", &resource.id, !resource.id.is_empty())?;
        object.serialize_entry("type", &resource.kind)?;
        entry_if(&mut object, "inputs", &Properties(*writing, &resource.inputs), !resource.inputs.is_empty())?;
        if let Some(outputs) = resource.outputs.as_ref().filter(|outputs| !outputs.is_empty()) {
            object.serialize_entry("outputs", &Properties(*writing, outputs))?;
        }
        if let Some(parent) = &resource.parent {
            object.serialize_entry("parent", parent)?;
        }
        entry_if(&mut object, "protect", &resource.protect, resource.protect)?;
        entry_if(&mut object, "taint", &resource.taint, resource.taint)?;
        entry_if(&mut object, "external", &resource.external, resource.external)?;
        list_if(&mut object, "dependencies", &resource.dependencies)?;
        if !resource.init_errors.is_empty() {
            object.serialize_entry("initErrors", &Messages(writing.redactor, &resource.init_errors))?;
        }
        entry_if(&mut object, "provider", &resource.provider, !resource.provider.is_empty())?;
        let dependencies = &resource.property_dependencies;
        entry_if(&mut object, "propertyDependencies", dependencies, !dependencies.is_empty())?;
        entry_if(&mut object, "pendingReplacement", &resource.pending_replacement, resource.pending_replacement)?;
        list_if(&mut object, "additionalSecretOutputs", &resource.additional_secret_outputs)?;
        entry_if(&mut object, "customTimeouts", &resource.custom_timeouts, !resource.custom_timeouts.is_empty())?;
        entry_if(&mut object, "importID", &resource.import_id, !resource.import_id.is_empty())?;
        entry_if(&mut object, "retainOnDelete", &resource.retain_on_delete, resource.retain_on_delete)?;
        if let Some(with) = &resource.deleted_with {
            object.serialize_entry("deletedWith", with)?;
        }
        list_if(&mut object, "replaceWith", &resource.replace_with)?;
        entry_if(&mut object, "created", &resource.created, !resource.created.is_empty())?;
        entry_if(&mut object, "modified", &resource.modified, !resource.modified.is_empty())?;
        entry_if(&mut object, "sourcePosition", &resource.source_position, !resource.source_position.is_empty())?;
        list_if(&mut object, "ignoreChanges", &resource.ignore_changes)?;
        if let Some(owner) = &resource.view_of {
            object.serialize_entry("viewOf", owner)?;
        }
        list_if(&mut object, "hideDiff", &resource.hide_diff)?;
        list_if(&mut object, "replaceOnChanges", &resource.replace_on_changes)?;
        object.end()
    }
}

fn entry_if<M: SerializeMap>(
    object: &mut M,
    key: &'static str,
    value: &impl Serialize,
    wanted: bool,
) -> Result<(), M::Error> {
    if wanted { object.serialize_entry(key, value) } else { Ok(()) }
}

fn list_if<M: SerializeMap, T: Serialize>(object: &mut M, key: &'static str, list: &[T]) -> Result<(), M::Error> {
    entry_if(object, key, &list, !list.is_empty())
}

/// Texts that a provider wrote.
pub(in crate::display) struct Messages<'a>(
    pub(in crate::display) &'a SecretDisplay,
    pub(in crate::display) &'a [String],
);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|text| self.0.message(text)))
    }
}
