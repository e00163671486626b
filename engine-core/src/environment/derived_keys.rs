//! The keys that were derived from a key file's passphrase, kept beside it. That passphrase is random, so deriving is
//! no protection there: it is only what Pulumi's format asks for, and takes a fifth of a second of every command.
//! Whoever can read this file could read the key file.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::digest;

use super::disk::SystemFiles;
use super::files;

/// Keys that are remembered; those of stacks that were removed fall out at last.
const MAX_KEYS: usize = 64;

fn file_of(key_file: &Path) -> PathBuf {
    key_file.with_extension("derived")
}

/// Names a key by what it was derived from, so that another passphrase in the key file finds nothing.
pub(crate) fn label(passphrase: &[u8], salt: &[u8]) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(salt);
    context.update(passphrase);
    BASE64.encode(context.finish())
}

/// The key of a passphrase and a salt, if it was derived before.
pub(crate) fn find<const N: usize>(key_file: &Path, passphrase: &str, salt: &[u8]) -> Option<[u8; N]> {
    let label = label(passphrase.as_bytes(), salt);
    let text = String::from_utf8(files::read_if_exists(&SystemFiles, &file_of(key_file)).ok()??).ok()?;
    let (_, key) = text.lines().filter_map(|line| line.split_once(' ')).find(|(known, _)| *known == label)?;
    BASE64.decode(key).ok()?.try_into().ok()
}

/// Remembers a key. When that fails it is derived again the next time.
pub(crate) fn remember(key_file: &Path, passphrase: &str, salt: &[u8], key: &[u8]) {
    let file = file_of(key_file);
    let label = label(passphrase.as_bytes(), salt);
    let known =
        files::read_if_exists(&SystemFiles, &file).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
    let others = known.iter().flat_map(|text| text.lines()).filter(|line| line.split(' ').next() != Some(&*label));
    let mut text = format!("{label} {}\n", BASE64.encode(key));
    for line in others.take(MAX_KEYS - 1) {
        text.push_str(line);
        text.push('\n');
    }
    // The key is there all the same.
    let _ = files::write_atomically(&SystemFiles, &file, text.as_bytes());
}

#[cfg(test)]
#[path = "derived_keys_tests.rs"]
mod tests;
