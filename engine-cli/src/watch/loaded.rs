//! Files outside of a project that its program was loaded from.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::{Failure, Result};

/// Directories of packages that were installed.
const INSTALLED: [&str; 3] = ["dist-packages", "node_modules", "site-packages"];

/// Where a run lists the files that its program was loaded from.
pub(super) struct List(NamedTempFile);

impl List {
    pub(super) fn begin() -> Result<Self> {
        tempfile::Builder::new().prefix("maloko-loaded-").tempfile().map(Self).map_err(|error| {
            Failure::io("a temporary file for the list of what the program is loaded from cannot be made", &error)
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The files of the list, which is empty when the run did not come to write it.
    pub(super) fn end(self) -> Vec<PathBuf> {
        let listed = fs::read(self.path()).unwrap_or_default();
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))).collect()
    }
}

/// Those files that somebody writes beside the project. They are really there, under these paths.
pub(super) fn outside(root: &Path, loaded: &[PathBuf]) -> BTreeSet<PathBuf> {
    let root = real(root);
    let files = loaded.iter().filter_map(|file| file.canonicalize().ok()).filter(|file| file.is_file());
    let is_installed = |file: &Path| {
        file.components().any(|part| part.as_os_str().to_str().is_some_and(|part| INSTALLED.contains(&part)))
    };
    files.filter(|file| !file.starts_with(&root) && !is_installed(file)).collect()
}

/// A path as it is seen from a directory: `../shared/x.py`. Where they have nothing in common, it stays as it is.
pub(super) fn seen_from(directory: &Path, path: &Path) -> PathBuf {
    let directory = real(directory);
    let common = directory.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    // The root of all files is in common anyway.
    if common < 2 {
        return path.to_owned();
    }
    let up = directory.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

fn real(directory: &Path) -> PathBuf {
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}

#[cfg(test)]
#[path = "loaded_tests.rs"]
mod tests;
