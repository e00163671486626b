//! Stack files and exported deployments: Pulumi's JSON around the resources (docs/rules 10.1).

mod document;
mod outline;
pub(super) mod summary;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Map;

use crate::error::{Error, Result};
use crate::message;
use crate::message::Command;
use crate::provider::{Extension, ExtensionParameter, Extensions};
use crate::resource_state::ResourceState;

use super::Snapshot;
use super::format::{Encoder, SecretText, indent, write_json, write_string};
use super::secrets::Crypter;
use document::{Document, SUSPECTS_KEY};

/// What a stack file is called in errors.
const STACK_FILE: &str = "stack file";
/// The deployment format that is written unless a feature needs the next one.
const VERSION: u64 = 3;
/// The deployment format that lists its features.
const VERSION_WITH_FEATURES: u64 = 4;
/// The feature of a state with bytes that are no UTF-8: an older tool could not read it.
const BYTES_FEATURE: &str = "byteString";
/// The member of a deployment with what its resources refer to by `extensionRef`.
const EXTENSIONS_KEY: &str = "extensions";
/// Features that we understand, or keep untouched.
const KNOWN_FEATURES: [&str; 8] = [
    BYTES_FEATURE,
    "extensionParameterization",
    "hooks",
    "refreshBeforeUpdate",
    "replaceWith",
    "snippets-prototype",
    "taint",
    "views",
];

/// A stack file, read.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// `organization/<project>/<stack>`.
    pub stack: String,
    /// Its content; secrets are [`Sealed`](crate::Value::Sealed).
    pub snapshot: Snapshot,
    /// Members of the file that we do not know, kept as they were read.
    pub file_members: Map<String, serde_json::Value>,
    /// Those of its `checkpoint` object.
    pub checkpoint_members: Map<String, serde_json::Value>,
}

impl Checkpoint {
    /// Reads a stack file. `place` names it in errors. An empty or damaged file is an error, never an empty stack.
    pub fn decode(bytes: &[u8], place: &str) -> Result<Self> {
        let document = read(bytes, STACK_FILE, place)?;
        let Some(checkpoint) = document.checkpoint else {
            let problem = if document.deployment.is_some() {
                "it is an exported deployment, not a stack file"
            } else {
                "it has no 'checkpoint'"
            };
            return Err(damaged(STACK_FILE, place, problem));
        };
        Ok(Self {
            stack: checkpoint.stack,
            // A stack that was made and never written has no `latest`.
            snapshot: checkpoint.latest.unwrap_or_default(),
            file_members: document.members,
            checkpoint_members: checkpoint.members,
        })
    }

    /// Writes a stack file; secrets are encrypted, sealed ones stay as they are.
    pub fn encode(&self, crypter: &Crypter) -> Result<Vec<u8>> {
        let out = Vec::with_capacity(capacity(&self.snapshot));
        let mut encoder = Encoder::new(out, Some(crypter), SecretText::Cipher).with_extensions_apart();
        let head = write_head(&mut encoder, &self.snapshot)?;
        encoder.out().extend_from_slice(b",\"checkpoint\":{\"stack\":");
        write_string(encoder.out(), &self.stack);
        encoder.out().extend_from_slice(b",\"latest\":");
        write_latest(&mut encoder, &self.snapshot, Some(crypter))?;
        write_members(encoder.out(), &self.checkpoint_members)?;
        encoder.out().push(b'}');
        write_members(encoder.out(), &self.file_members)?;
        encoder.out().extend_from_slice(b"}");
        complete_head(&mut encoder, &self.snapshot, head)?;
        Ok(encoder.into_bytes())
    }
}

/// Writes `stack export`'s document, indented. `show_secrets`: plain texts instead of ciphertexts. The crypter is
/// needed to show secrets, and for a snapshot whose secrets were decrypted.
pub fn export_deployment(snapshot: &Snapshot, crypter: Option<&Crypter>, show_secrets: bool) -> Result<String> {
    let secret_text = if show_secrets { SecretText::Plain } else { SecretText::Cipher };
    let out = Vec::with_capacity(capacity(snapshot));
    let mut encoder = Encoder::new(out, crypter, secret_text).with_extensions_apart();
    let head = write_head(&mut encoder, snapshot)?;
    encoder.out().extend_from_slice(b",\"deployment\":");
    write_latest(&mut encoder, snapshot, crypter)?;
    encoder.out().push(b'}');
    complete_head(&mut encoder, snapshot, head)?;
    String::from_utf8(indent(&encoder.into_bytes()))
        .map_err(|_| Error::BadState("the export is not valid UTF-8; this is a bug in maloko".into()))
}

/// Reads `stack export`'s document, as this or Pulumi's command line wrote it; a stack file (such as a `.bak`) will do
/// as well. Secrets with a ciphertext stay sealed with the key of the document's own `secrets_providers`:
/// [`Snapshot::unseal_all`] with that key before they are written under another one. `place` names the document in
/// errors.
pub fn import_deployment(bytes: &[u8], place: &str) -> Result<Snapshot> {
    let document = read(bytes, "deployment", place)?;
    document
        .deployment
        .or_else(|| document.checkpoint.and_then(|checkpoint| checkpoint.latest))
        .ok_or_else(|| damaged("deployment", place, "it has no 'deployment'"))
}

fn read(bytes: &[u8], what: &str, place: &str) -> Result<Document> {
    if bytes.is_empty() {
        return Err(damaged(what, place, "it is missing or empty"));
    }
    if bytes.iter().all(|byte| *byte == 0) {
        return Err(damaged(what, place, "it holds nothing but NUL bytes, as after a crash of the machine"));
    }
    let read = outline::read(bytes);
    // What a newer tool wrote may well look malformed to us; say the real reason.
    let (version, features) = match &read {
        Ok(document) => (document.version, document.features.clone()),
        Err(_) => Document::version_only(bytes),
    };
    let newer = |detail: String| {
        Err(Error::BadState(format!(
            "the {what} {place} was written by a newer tool: {detail}. Use a newer maloko for it. Nothing was changed"
        ).into()))
    };
    match version {
        None | Some(0 | VERSION | VERSION_WITH_FEATURES) => {}
        Some(old @ (1 | 2)) => {
            return Err(Error::BadState(
                format!(
                    "the {what} {place} has the old format {old}; let a current `pulumi` command line write it once \
                     (`pulumi refresh`, or `pulumi stack export` and `import`). Nothing was changed"
                )
                .into(),
            ));
        }
        Some(version) => {
            return newer(format!("it has format {version}, and {VERSION_WITH_FEATURES} is the last one known here"));
        }
    }
    if let Some(feature) = features.iter().find(|feature| !KNOWN_FEATURES.contains(&feature.as_str())) {
        return newer(format!("it uses the feature '{feature}'"));
    }
    let mut document = read.map_err(|error| damaged(what, place, &error.to_string()))?;
    let latest = document.checkpoint.as_mut().and_then(|checkpoint| checkpoint.latest.as_mut());
    if let Some(snapshot) = latest.or(document.deployment.as_mut()) {
        snapshot.was_with_bytes = features.iter().any(|feature| feature == BYTES_FEATURE);
        resolve_extensions(snapshot)
            .map_err(|error| damaged(what, place, &format!("its '{EXTENSIONS_KEY}' cannot be read: {error}")))?;
    }
    if document.version.is_none() {
        return Err(damaged(what, place, "it has no 'version'"));
    }
    Ok(document)
}

/// Gives resources what their `extensionRef`s stand for.
fn resolve_extensions(snapshot: &mut Snapshot) -> serde_json::Result<()> {
    let Some(listed) = snapshot.other.shift_remove(EXTENSIONS_KEY) else { return Ok(()) };
    let listed = Option::<BTreeMap<String, ExtensionParameter>>::deserialize(listed)?.unwrap_or_default();
    let extensions: Extensions = listed
        .into_iter()
        .map(|(reference, parameter)| (reference.clone(), Extension::known(reference, parameter)))
        .collect();
    let resolve = &mut |resource: &mut Arc<ResourceState>| {
        let reference = resource.extension.as_ref().map(|extension| extension.reference());
        if let Some(extension) = reference.and_then(|reference| extensions.get(reference)) {
            Arc::make_mut(resource).extension = Some(Arc::clone(extension));
        }
        Ok(())
    };
    // No resource refuses.
    let _ = snapshot.each_resource(resolve);
    Ok(())
}

fn damaged(what: &str, place: &str, problem: &str) -> Error {
    let advice = if what == STACK_FILE {
        message![
            Command::new("state restore"),
            " lists the former states that are kept, and goes back to one of them; a copy of your own is taken over \
             with ",
            Command::new("stack import").with("--file <copy>")
        ]
    } else {
        "Use another copy of it".into()
    };
    Error::BadState(message![format!("the {what} {place} cannot be used: {problem}. Nothing was changed. "), advice])
}

fn capacity(snapshot: &Snapshot) -> usize {
    // Few resources are larger, and memory that is not touched costs nothing. URNs of deep components are thousands of
    // letters long: a text that grows to its size is copied on its way, and held twice meanwhile.
    let urns = |resource: &ResourceState| {
        let others =
            resource.property_dependencies.values().flatten().chain(&resource.dependencies).chain(&resource.parent);
        resource.urn.as_str().len() + others.map(|urn| urn.as_str().len()).sum::<usize>()
    };
    2048 * (snapshot.resources.len() + 1) + snapshot.resources.iter().map(|resource| urns(resource)).sum::<usize>()
}

/// Gives the length of the head.
fn write_head(encoder: &mut Encoder<'_>, snapshot: &Snapshot) -> Result<usize> {
    let mut features = features(snapshot);
    if snapshot.was_with_bytes && snapshot.has_sealed_values() {
        features.insert(0, BYTES_FEATURE);
    }
    head(encoder.out(), &features)?;
    Ok(encoder.out().len())
}

/// Names the feature that only the content tells: bytes may be in secrets, too.
fn complete_head(encoder: &mut Encoder<'_>, snapshot: &Snapshot, length: usize) -> Result<()> {
    if !encoder.holds_bytes() {
        return Ok(());
    }
    let mut features = features(snapshot);
    features.insert(0, BYTES_FEATURE);
    let mut whole = Vec::new();
    head(&mut whole, &features)?;
    encoder.out().splice(..length, whole);
    Ok(())
}

fn head(out: &mut Vec<u8>, features: &[&str]) -> Result<()> {
    if features.is_empty() {
        out.extend_from_slice(format!("{{\"version\":{VERSION}").as_bytes());
        return Ok(());
    }
    out.extend_from_slice(format!("{{\"version\":{VERSION_WITH_FEATURES},\"features\":").as_bytes());
    write_json(out, &features)
}

/// The features that the resources need, sorted; the one of bytes comes before all of them.
fn features(snapshot: &Snapshot) -> Vec<&'static str> {
    let has = |test: &dyn Fn(&ResourceState) -> bool| {
        snapshot.resources.iter().any(|resource| test(resource))
            || snapshot.pending.iter().any(|pending| test(&pending.resource))
    };
    let member = |resource: &ResourceState, name: &str| {
        !resource.unknown_members.is_empty()
            && resource.unknown_members.get(name).is_some_and(|value| {
                !matches!(value, serde_json::Value::Null | serde_json::Value::Bool(false)) && value != ""
            })
    };
    let other = |name: &str| snapshot.other.get(name).is_some_and(|value| !value.is_null());
    let mut found = Vec::new();
    if has(&|resource| resource.extension.is_some()) {
        found.push("extensionParameterization");
    }
    if has(&|resource| !resource.hooks.is_empty() || member(resource, "resourceHooks")) {
        found.push("hooks");
    }
    if has(&|resource| resource.refresh_before_update) {
        found.push("refreshBeforeUpdate");
    }
    if has(&|resource| !resource.replace_with.is_empty()) {
        found.push("replaceWith");
    }
    if other("snippets") || has(&|resource| member(resource, "snippetID")) {
        found.push("snippets-prototype");
    }
    if has(&|resource| resource.taint) {
        found.push("taint");
    }
    if has(&|resource| resource.view_of.is_some()) {
        found.push("views");
    }
    found
}

fn write_latest(encoder: &mut Encoder<'_>, snapshot: &Snapshot, crypter: Option<&Crypter>) -> Result<()> {
    encoder.out().extend_from_slice(b"{\"manifest\":");
    match snapshot.other.get("manifest") {
        Some(manifest) => write_json(encoder.out(), manifest)?,
        None => encoder.out().extend_from_slice(b"{}"),
    }
    let secrets_provider = crypter.map(Crypter::secrets_provider).or_else(|| snapshot.secrets_provider.clone());
    if let Some(record) = secrets_provider {
        encoder.out().extend_from_slice(b",\"secrets_providers\":");
        write_json(encoder.out(), &record)?;
    }
    if !snapshot.resources.is_empty() {
        encoder.out().extend_from_slice(b",\"resources\":[");
        for (index, resource) in snapshot.resources.iter().enumerate() {
            if index > 0 {
                encoder.out().push(b',');
            }
            encoder.resource_state(resource)?;
        }
        encoder.out().push(b']');
    }
    if !snapshot.pending.is_empty() {
        encoder.out().extend_from_slice(b",\"pending_operations\":[");
        for (index, pending) in snapshot.pending.iter().enumerate() {
            if index > 0 {
                encoder.out().push(b',');
            }
            encoder.pending(pending)?;
        }
        encoder.out().push(b']');
    }
    encoder.out().extend_from_slice(b",\"metadata\":");
    match snapshot.other.get("metadata") {
        Some(metadata) => write_json(encoder.out(), metadata)?,
        None => encoder.out().extend_from_slice(b"{}"),
    }
    if !snapshot.unresolved_creates.is_empty() {
        encoder.out().extend_from_slice(format!(",\"{SUSPECTS_KEY}\":[").as_bytes());
        for (index, unresolved) in snapshot.unresolved_creates.iter().enumerate() {
            if index > 0 {
                encoder.out().push(b',');
            }
            encoder.unresolved(unresolved)?;
        }
        encoder.out().push(b']');
    }
    for (key, value) in snapshot.other.iter().filter(|(key, _)| *key != "manifest" && *key != "metadata") {
        write_member(encoder.out(), key, value)?;
    }
    write_extensions(encoder)?;
    encoder.out().push(b'}');
    Ok(())
}

/// Writes what the resources refer to by `extensionRef`.
fn write_extensions(encoder: &mut Encoder<'_>) -> Result<()> {
    let extensions = encoder.take_extensions();
    if extensions.is_empty() {
        return Ok(());
    }
    let parameters: BTreeMap<&str, &ExtensionParameter> =
        extensions.values().filter_map(|extension| Some((extension.reference(), extension.parameter()?))).collect();
    encoder.out().extend_from_slice(format!(",\"{EXTENSIONS_KEY}\":").as_bytes());
    write_json(encoder.out(), &parameters)
}

fn write_members(out: &mut Vec<u8>, members: &Map<String, serde_json::Value>) -> Result<()> {
    members.iter().try_for_each(|(key, value)| write_member(out, key, value))
}

fn write_member(out: &mut Vec<u8>, key: &str, value: &serde_json::Value) -> Result<()> {
    out.push(b',');
    write_string(out, key);
    out.push(b':');
    write_json(out, value)
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
