//! Which files of a project count, and what they are like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{loaded, neighbours};
use crate::failure::{Failure, Result};

/// Directories that hold state, installed packages and caches.
const LEFT_OUT: [&str; 11] = [
    ".git",
    ".hg",
    ".maloko",
    ".mypy_cache",
    ".pulumi",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "node_modules",
    "venv",
];
/// Endings of files that only people and their editors write.
const PROGRAM: [&str; 10] = ["cjs", "cts", "js", "jsx", "mjs", "mts", "py", "ts", "tsx", "yaml"];

/// The files below some places of a project, and others that its program was loaded from.
pub(super) struct Files {
    root: PathBuf,
    places: Vec<PathBuf>,
    /// Files outside of the project that the program was loaded from.
    loaded: BTreeSet<PathBuf>,
    /// What maloko's own output goes to.
    left_out: Vec<PathBuf>,
    /// What the program was seen to write.
    written: Vec<PathBuf>,
}

/// What the files are like at a time.
pub(super) struct Look {
    at: SystemTime,
    /// When each file last changed, and how long it is.
    files: BTreeMap<PathBuf, (Option<SystemTime>, u64)>,
}

impl Files {
    /// Those below `paths`, which are relative to the project, or all of the project's and of the packages of its workspace that
    /// it imports.
    pub(super) fn new(root: &Path, paths: &[PathBuf]) -> Result<Self> {
        let places: Vec<PathBuf> = if paths.is_empty() {
            [vec![root.to_owned()], neighbours::of(root)].concat()
        } else {
            paths.iter().map(|path| root.join(path)).collect()
        };
        match places.iter().find(|place| !place.exists()) {
            Some(missing) => Err(Failure::configuration(format!(
                "there is no {} (from --path); name files and directories relative to {}",
                missing.display(),
                root.display()
            ))),
            None => Ok(Self {
                root: root.to_owned(),
                places,
                loaded: BTreeSet::new(),
                left_out: Vec::new(),
                written: Vec::new(),
            }),
        }
    }

    /// From now on, what the program was loaded from outside of the project counts, too. A run that failed may have come only to
    /// some of these files: what earlier runs were loaded from goes on to count.
    pub(super) fn follow(&mut self, loaded: &[PathBuf], has_failed: bool) {
        if !has_failed {
            self.loaded.clear();
        }
        self.loaded.extend(loaded::outside(&self.root, loaded));
    }

    /// From now on, what happens to a file during a run does not count. Between runs only somebody else can change it.
    pub(super) fn is_written_by_the_program(&mut self, file: PathBuf) {
        self.written.push(file);
    }

    /// From now on, what these files are does not count, wherever they are: output goes there.
    pub(super) fn leave_out_outputs(&mut self, outputs: &[Metadata]) {
        let mut written = Vec::new();
        self.walk(&mut |path, is_directory| {
            let is_output = |file: &Metadata| outputs.iter().any(|output| is_same(output, file));
            if !is_directory && path.metadata().is_ok_and(|file| is_output(&file)) {
                written.push(path.to_owned());
            }
        });
        self.left_out.extend(written);
    }

    /// Does a change of this path matter?
    pub(super) fn counts(&self, path: &Path) -> bool {
        // Of a directory that was moved away with such a file in it, only the directory is told when it comes back.
        if self.loaded.iter().any(|file| file.starts_with(path)) {
            return true;
        }
        let Some(below) = self.places.iter().find_map(|place| path.strip_prefix(place).ok()) else { return false };
        let hidden = |name: &str| LEFT_OUT.contains(&name);
        let left_out = below.components().any(|part| part.as_os_str().to_str().is_some_and(hidden));
        // Editors write beside the file first; what they leave there is no part of the project.
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let scratch = path.extension().is_some_and(|ending| ending == "log" || ending == "swp");
        let is_own = self.left_out.iter().any(|own| own == path);
        !left_out && !is_own && !scratch && !name.ends_with('~') && !name.starts_with(".Pulumi.")
    }

    /// The path as the user knows it.
    pub(super) fn shown(&self, path: &Path) -> String {
        let seen = path.strip_prefix(&self.root).map_or_else(|_| loaded::seen_from(&self.root, path), Path::to_owned);
        seen.display().to_string()
    }

    /// The directories to be watched: of files, the directory that they are in, because editors replace files.
    pub(super) fn directories(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.walk(&mut |path, is_directory| {
            if is_directory {
                found.push(path.to_owned());
            }
        });
        let files = self.places.iter().filter(|place| place.is_file());
        found.extend(files.filter_map(|file| Some(file.parent()?.to_owned())));
        // Where the directory of such a file is gone, it may come back.
        found.extend(
            self.loaded.iter().filter_map(|file| Some(file.ancestors().skip(1).find(|it| it.is_dir())?.to_owned())),
        );
        found.sort();
        found.dedup();
        found
    }

    /// What the files are like now.
    pub(super) fn look(&self) -> Look {
        let mut look = Look { at: SystemTime::now(), files: BTreeMap::new() };
        self.walk(&mut |path, is_directory| {
            if !is_directory && let Ok(metadata) = path.metadata() {
                look.files.insert(path.to_owned(), (metadata.modified().ok(), metadata.len()));
            }
        });
        look
    }

    /// Is it a file that people and their editors write?
    pub(super) fn is_program(&self, path: &Path) -> bool {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| PROGRAM.contains(&ending)) || self.loaded.contains(path)
    }

    /// A file of the program that is not as it was before a run. Other files may have been written by the program itself, which
    /// would make it run for ever.
    pub(super) fn changed_program(&self, before: &Look) -> Option<PathBuf> {
        let now = self.look().files;
        let counts = |path: &PathBuf| self.is_program(path) && self.counts(path) && !self.written.contains(path);
        let other = |path: &&PathBuf| match (before.files.get(*path), now.get(*path)) {
            // Nobody looked at it before it was loaded.
            (None, Some((modified, _))) if self.loaded.contains(*path) => *modified > Some(before.at),
            (before, now) => before != now,
        };
        now.keys().chain(before.files.keys()).find(|path| counts(path) && other(path)).cloned()
    }

    /// Visits what counts; what cannot be read is left out.
    fn walk(&self, visit: &mut dyn FnMut(&Path, bool)) {
        let mut open: Vec<PathBuf> = self.places.iter().chain(&self.loaded).cloned().collect();
        while let Some(path) = open.pop() {
            if !self.counts(&path) {
                continue;
            }
            // Links are not followed: they may lead out of the project, or in circles.
            let is_directory = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
            visit(&path, is_directory);
            if is_directory && let Ok(entries) = std::fs::read_dir(&path) {
                open.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
            }
        }
    }
}

/// The files that the output of this process goes to.
pub(super) fn outputs() -> Vec<Metadata> {
    let streams = [std::io::stdout().as_fd().try_clone_to_owned(), std::io::stderr().as_fd().try_clone_to_owned()];
    let files = streams.into_iter().filter_map(|stream| File::from(stream.ok()?).metadata().ok());
    files.filter(Metadata::is_file).collect()
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
