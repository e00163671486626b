//! Assets and archives: what they hold, and the hashes by which they are compared (docs/rules 9.5).
//!
//! A program names files, texts and addresses; the engine reads them and puts the hash of the content beside the name.
//! From then on two assets are equal exactly when their hashes are.
#![expect(clippy::disallowed_methods, reason = "assets are files of the program's own, and the simulation has none")]

mod archive;
mod content;
mod remote;
mod tar;

use std::collections::HashMap;
use std::path::Path;

use crate::digest::sha256_hex;
use crate::property_path::{PropertyPath, Segment};
use crate::value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};

/// Hash of an archive without entries.
pub const EMPTY_ARCHIVE_HASH: &str = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";

/// Puts hashes into the assets and archives of the properties, at any depth. Relative paths begin at `directory`. What
/// has a hash keeps it, but for texts, whose content is at hand. Reads files and fetches remote addresses, so it may
/// take long. The error names the property, and says what could not be read.
pub fn complete(properties: &mut PropertyMap, directory: &Path) -> Result<(), String> {
    for (key, value) in properties {
        let mut path = vec![Segment::Key(key.clone())];
        complete_value(value, directory, &mut path)
            .map_err(|reason| format!("property '{}': {reason}", PropertyPath(path)))?;
    }
    Ok(())
}

/// `path` is left at the value at fault.
fn complete_value(value: &mut Value, directory: &Path, path: &mut Vec<Segment>) -> Result<(), String> {
    match value {
        Value::Asset(asset) => complete_asset(asset, directory),
        Value::Archive(archive) => complete_archive(archive, directory, path),
        Value::Secret(inner) => complete_value(inner, directory, path),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                path.push(Segment::Index(index));
                complete_value(item, directory, path)?;
                path.pop();
            }
            Ok(())
        }
        Value::Object(members) => complete_members(members, directory, path),
        _ => Ok(()),
    }
}

fn complete_members(members: &mut PropertyMap, directory: &Path, path: &mut Vec<Segment>) -> Result<(), String> {
    for (key, member) in members {
        path.push(Segment::Key(key.clone()));
        complete_value(member, directory, path)?;
        path.pop();
    }
    Ok(())
}

fn complete_asset(asset: &mut Asset, directory: &Path) -> Result<(), String> {
    match &asset.source {
        AssetSource::Text(text) => asset.hash = sha256_hex(text.as_bytes()),
        AssetSource::Path(_) | AssetSource::Uri(_) if asset.hash.is_empty() => {
            asset.hash = sha256_hex(&content::of_asset(asset, directory)?);
        }
        AssetSource::Elided if asset.hash.is_empty() => {
            return Err("an asset needs a text, a path or a URI".to_owned());
        }
        _ => {}
    }
    Ok(())
}

fn complete_archive(archive: &mut Archive, directory: &Path, path: &mut Vec<Segment>) -> Result<(), String> {
    if let ArchiveSource::Assets(members) = &mut archive.source {
        if members.values().any(Value::contains_unknown) {
            // In previews: what it holds will be known when it is made.
            return Ok(());
        }
        complete_members(members, directory, path)?;
    }
    if !archive.hash.is_empty() {
        return Ok(());
    }
    archive.hash = match &archive.source {
        ArchiveSource::Elided => return Err("an archive needs assets, a path or a URI".to_owned()),
        source => archive::hash(source, directory)?,
    };
    Ok(())
}

/// Gives assets and archives that have nothing but a hash the content of those of equal hash in `known`.
/// Providers are shown old assets by their hashes, and may well return them.
pub fn restore(returned: &mut PropertyMap, known: &[&PropertyMap]) {
    if !returned.values().any(|value| value.any(&is_elided)) {
        return;
    }
    let mut sources = HashMap::new();
    for value in known.iter().flat_map(|properties| properties.values()) {
        collect(value, &mut sources);
    }
    restore_members(returned, &sources);
}

/// The properties with every asset and archive shown by its hash alone, as the reference engine shows old ones.
#[must_use]
pub fn elide(properties: &PropertyMap) -> PropertyMap {
    properties.iter().map(|(key, value)| (key.clone(), elide_value(value))).collect()
}

/// Is there an asset or archive in the properties?
#[must_use]
pub fn any_in(properties: &PropertyMap) -> bool {
    properties.values().any(|value| value.any(&|inner| matches!(inner, Value::Asset(_) | Value::Archive(_))))
}

fn elide_value(value: &Value) -> Value {
    match value {
        Value::Asset(asset) => Asset { hash: asset.hash.clone(), source: AssetSource::Elided }.into(),
        Value::Archive(archive) => Archive { hash: archive.hash.clone(), source: ArchiveSource::Elided }.into(),
        Value::Secret(inner) => Value::secret(elide_value(inner)),
        Value::Array(items) => Value::Array(items.iter().map(elide_value).collect()),
        Value::Object(members) => Value::Object(elide(members)),
        other => other.clone(),
    }
}

fn is_elided(value: &Value) -> bool {
    match value {
        Value::Asset(asset) => asset.source == AssetSource::Elided,
        Value::Archive(archive) => archive.source == ArchiveSource::Elided,
        _ => false,
    }
}

/// The hash of an asset or archive.
fn hash_of(value: &Value) -> Option<&str> {
    match value {
        Value::Asset(asset) => Some(&asset.hash),
        Value::Archive(archive) => Some(&archive.hash),
        _ => None,
    }
}

fn collect_members<'a>(members: &'a PropertyMap, sources: &mut HashMap<&'a str, &'a Value>) {
    for member in members.values() {
        collect(member, sources);
    }
}

fn collect<'a>(value: &'a Value, sources: &mut HashMap<&'a str, &'a Value>) {
    if let Some(hash) = hash_of(value).filter(|_| !is_elided(value)) {
        sources.entry(hash).or_insert(value);
    }
    match value {
        Value::Archive(archive) => {
            if let Some(members) = archive.members() {
                collect_members(members, sources);
            }
        }
        Value::Secret(inner) => collect(inner, sources),
        Value::Array(items) => {
            for item in items {
                collect(item, sources);
            }
        }
        Value::Object(members) => collect_members(members, sources),
        _ => {}
    }
}

fn restore_members(members: &mut PropertyMap, sources: &HashMap<&str, &Value>) {
    for member in members.values_mut() {
        restore_value(member, sources);
    }
}

fn restore_value(value: &mut Value, sources: &HashMap<&str, &Value>) {
    if let Some(found) = hash_of(value).filter(|_| is_elided(value)).and_then(|hash| sources.get(hash)) {
        *value = (*found).clone();
        return;
    }
    match value {
        Value::Archive(archive) => {
            if let Some(members) = archive.members_mut() {
                restore_members(members, sources);
            }
        }
        Value::Secret(inner) => restore_value(inner, sources),
        Value::Array(items) => {
            for item in items {
                restore_value(item, sources);
            }
        }
        Value::Object(members) => restore_members(members, sources),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
