//! Which plugins are installed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use semver::Version;

use super::error::InstallError;
use super::layout::PluginFolder;
use super::progress::Progress;

/// What plugins are for, as their folders' names begin.
const KINDS: [&str; 5] = ["analyzer", "converter", "language", "resource", "tool"];
/// Deeper nesting is no plugin.
const MAX_DEPTH: usize = 64;

/// A folder of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginEntry {
    /// What it is for: `resource` serves a package.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Its folder.
    pub folder: PathBuf,
    /// Is it whole? An installation that was killed leaves one that is not.
    pub is_whole: bool,
    /// When it was installed.
    pub installed: Option<SystemTime>,
    /// When it was used last.
    pub last_used: Option<SystemTime>,
}

impl PluginEntry {
    fn at(folder: PathBuf) -> Option<Self> {
        let name = folder.file_name()?.to_str()?;
        let (kind, rest) = name.split_once('-')?;
        let is_version = |at: usize| Version::parse(&rest[at + 2..]).ok().map(|version| (at, version));
        let (end, version) = rest.match_indices("-v").find_map(|(at, _)| is_version(at))?;
        let (kind, name) = (kind.to_owned(), rest[..end].to_owned());
        if !KINDS.contains(&kind.as_str()) || name.is_empty() || !folder.is_dir() {
            return None;
        }
        let place = PluginFolder::new(folder);
        let (is_whole, last_used) = (place.is_whole(), place.last_used());
        let folder = place.path().to_owned();
        let installed = std::fs::metadata(&folder).and_then(|folder| folder.modified()).ok();
        Some(Self { kind, name, version, folder, is_whole, installed, last_used })
    }

    /// How many bytes its files have.
    #[must_use]
    pub fn size(&self) -> u64 {
        size_of(&self.folder, MAX_DEPTH)
    }

    /// Removes the plugin.
    pub fn remove(&self, progress: &dyn Progress) -> Result<(), InstallError> {
        let folder = PluginFolder::new(self.folder.clone());
        let lock = folder.lock(progress)?;
        folder.remove(lock)
    }
}

fn size_of(folder: &Path, depth: usize) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() && depth > 0 => size_of(&entry.path(), depth - 1),
        Ok(meta) if meta.is_file() => meta.len(),
        _ => 0,
    };
    entries.map(size).sum()
}

/// The plugins in a folder, by kind, name and version. A folder that is not there has none.
pub fn installed_plugins(folder: &Path) -> Result<Vec<PluginEntry>, InstallError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(InstallError::io(format!("the folder {} cannot be read", folder.display()), &error)),
    };
    let mut found: Vec<_> = entries.filter_map(|entry| PluginEntry::at(entry.ok()?.path())).collect();
    found.sort_by(|one, other| (&one.name, &one.kind, &one.version).cmp(&(&other.name, &other.kind, &other.version)));
    Ok(found)
}
