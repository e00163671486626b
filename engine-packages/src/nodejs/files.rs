//! The files of an SDK while it is made.

use std::collections::BTreeMap;

use crate::SdkFile;

/// The first line of each file.
pub(super) const HEAD: &str = "// Made by `maloko package` from the package's schema.\n";

/// The first lines of each file of code.
pub(super) const CODE: &str = "\"use strict\";\nObject.defineProperty(exports, \"__esModule\", { value: true });\n";

#[derive(Default)]
pub(super) struct Files(BTreeMap<String, String>);

impl Files {
    /// Keeps a file, `what` being for whom it is.
    pub(super) fn add(&mut self, path: String, text: String, what: &str) -> Result<(), String> {
        if !path.split('/').all(is_safe) {
            return Err(format!("the name of {what} makes the path '{path}', which no file can have"));
        }
        if self.0.contains_key(&path) {
            return Err(format!("{what} and another part of the package need the same file '{path}'"));
        }
        self.0.insert(path, text);
        Ok(())
    }

    /// Keeps code and its typing file.
    pub(super) fn pair(&mut self, path: &str, code: &str, typing: &str, what: &str) -> Result<(), String> {
        self.add(format!("{path}.js"), format!("{HEAD}{CODE}{code}"), what)?;
        self.add(format!("{path}.d.ts"), format!("{HEAD}{typing}"), what)
    }

    pub(super) fn sorted(self) -> Vec<SdkFile> {
        self.0.into_iter().map(|(path, text)| SdkFile { path, text }).collect()
    }
}

/// No part of a path leads out of the SDK's folder, on any system.
pub(super) fn is_safe(part: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.' | '-');
    !part.is_empty() && part.chars().all(is_plain) && !part.starts_with('.')
}
