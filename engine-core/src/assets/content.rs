//! The bytes behind assets: texts, files, remote addresses.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::value::{Asset, AssetSource};

/// The content of an asset.
pub(super) fn of_asset<'a>(asset: &'a Asset, directory: &Path) -> Result<Cow<'a, [u8]>, String> {
    match &asset.source {
        AssetSource::Text(text) => Ok(Cow::Borrowed(text.as_bytes())),
        AssetSource::Path(path) => of_file(&directory.join(path), "asset").map(Cow::Owned),
        AssetSource::Uri(uri) => of_uri(uri, "asset").map(Cow::Owned),
        AssetSource::Elided => Err("only the hash of an asset is known, and its content is needed".to_owned()),
    }
}

/// The content of a file; `what` is made of it (`asset`, `archive`).
pub(super) fn of_file(path: &Path, what: &str) -> Result<Vec<u8>, String> {
    let unreadable = |why: &dyn std::fmt::Display| {
        format!(
            "the file of an {what} cannot be read: {}: {why}. Paths of assets are relative to the program's directory",
            path.display()
        )
    };
    // Reading a pipe would wait for somebody who writes into it, and a device may never end.
    let kind = std::fs::metadata(path).map_err(|error| unreadable(&error))?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(unreadable(&"it is a pipe, a socket or a device, and no file"));
    }
    std::fs::read(path).map_err(|error| unreadable(&error))
}

/// What an address gives.
pub(super) fn of_uri(uri: &str, what: &str) -> Result<Vec<u8>, String> {
    if let Some(path) = file_of(uri)? {
        return of_file(&path, what);
    }
    if uri.starts_with("http://") || uri.starts_with("https://") {
        return super::remote::fetch(uri).map_err(|reason| format!("the {what} at {uri} cannot be fetched: {reason}"));
    }
    Err(format!("the {what} at {uri} cannot be fetched: use an address that begins with file, http or https"))
}

/// The file that a `file:` address names; `None` for other addresses.
pub(super) fn file_of(uri: &str) -> Result<Option<PathBuf>, String> {
    let Some(rest) = uri.strip_prefix("file://") else { return Ok(None) };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(format!("'{uri}' names another machine: a file address begins with file:///"));
    }
    percent_decoded(path).map(|path| Some(PathBuf::from(path))).ok_or_else(|| format!("'{uri}' is not a valid address"))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after.get(2..)?;
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
