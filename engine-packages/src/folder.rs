//! SDKs in folders: put there as a whole or not at all, and never over what somebody changed by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use similar::TextDiff;

use crate::SdkFile;

/// The file that says what was made, so that changes by hand are seen.
const RECORD: &str = ".maloko-sdk.json";
/// What tools leave in such a folder.
const LEFT_BY_TOOLS: [&str; 6] = ["__pycache__", "node_modules", "build", "dist", ".venv", ".mypy_cache"];

/// What became of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderOutcome {
    /// There was none.
    Made,
    /// Another one was there.
    Replaced,
    /// It was there already, byte for byte.
    Same,
}

/// Why a folder was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum FolderFault {
    /// No generator of ours made what is there.
    #[error("{} is there already, and maloko did not make it", .0.display())]
    Foreign(PathBuf),
    /// Files in it were changed by hand.
    #[error("{} was changed by hand: {}", .folder.display(), .edits.iter().map(|edit| edit.path.as_str()).collect::<Vec<_>>().join(", "))]
    Edited {
        /// The folder.
        folder: PathBuf,
        /// What was changed.
        edits: Vec<Edit>,
    },
    /// A file cannot be read or written.
    #[error("{} cannot be read or written: {error}", .place.display())]
    Io {
        /// The file or folder.
        place: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// A file that was changed by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Its place in the SDK.
    pub path: String,
    /// What replacing it would change, line by line.
    pub diff: String,
}

#[derive(Deserialize, Serialize)]
struct Record {
    /// The version of what made it.
    generator: String,
    /// What it was made of, as whoever asked for it writes it; empty: nobody said.
    #[serde(default)]
    origin: String,
    /// SHA-256 in base64, by place.
    files: BTreeMap<String, String>,
}

/// Puts an SDK into a folder, with what it was made of. `force` replaces what was changed by hand, too.
///
/// # Errors
/// When the folder has something that may not be replaced, or a file cannot be written: then it is as it was.
pub fn write(folder: &Path, files: &[SdkFile], origin: &str, force: bool) -> Result<FolderOutcome, FolderFault> {
    let wanted = Record {
        generator: env!("CARGO_PKG_VERSION").to_owned(),
        origin: origin.to_owned(),
        files: files.iter().map(|file| (file.path.clone(), digest(file.text.as_bytes()))).collect(),
    };
    let is_there = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_there {
        let edits = changes(folder, files)?;
        match edits {
            None if !force => return Err(FolderFault::Foreign(folder.to_owned())),
            Some(edits) if !edits.is_empty() && !force => {
                return Err(FolderFault::Edited { folder: folder.to_owned(), edits });
            }
            Some(edits) if edits.is_empty() && is_whole(folder, &wanted) => return Ok(FolderOutcome::Same),
            _ => {}
        }
    }
    replace(folder, files, &wanted)?;
    Ok(if is_there { FolderOutcome::Replaced } else { FolderOutcome::Made })
}

/// What was changed in a folder since it was made; `None`: nobody knows. The diffs are against these files.
///
/// # Errors
/// When a file cannot be read.
pub fn changes(folder: &Path, files: &[SdkFile]) -> Result<Option<Vec<Edit>>, FolderFault> {
    let Some(record) = read_record(folder) else { return Ok(None) };
    let mut there = BTreeSet::new();
    list(folder, "", &mut there)?;
    let mut edits = Vec::new();
    for path in there {
        let bytes = fs::read(folder.join(&path)).map_err(io_fault(&folder.join(&path)))?;
        if record.files.get(&path).is_some_and(|known| *known == digest(&bytes)) {
            continue;
        }
        let new = files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
        let old = String::from_utf8_lossy(&bytes);
        let diff = TextDiff::from_lines(old.as_ref(), new).unified_diff().header(&path, "as it would be").to_string();
        edits.push(Edit { path, diff });
    }
    Ok(Some(edits))
}

/// Is all of it there, as it is wanted? That nothing was changed is known.
fn is_whole(folder: &Path, wanted: &Record) -> bool {
    let was = read_record(folder);
    was.is_some_and(|was| was.files == wanted.files && was.origin == wanted.origin)
        && wanted.files.keys().all(|path| folder.join(path).exists())
}

/// What the SDK in a folder was made of; `None`: nobody knows.
#[must_use]
pub fn origin(folder: &Path) -> Option<String> {
    read_record(folder).map(|record| record.origin).filter(|origin| !origin.is_empty())
}

fn read_record(folder: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()
}

fn digest(bytes: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(bytes))
}

/// The files of an SDK that another generator has made in a folder.
///
/// # Errors
/// When a file cannot be read, or is no text.
pub fn files_in(folder: &Path) -> Result<Vec<SdkFile>, FolderFault> {
    let mut paths = BTreeSet::new();
    list(folder, "", &mut paths)?;
    let read = |path: String| {
        let text = fs::read_to_string(folder.join(&path)).map_err(io_fault(&folder.join(&path)))?;
        Ok(SdkFile { path, text })
    };
    paths.into_iter().map(read).collect()
}

fn list(folder: &Path, below: &str, found: &mut BTreeSet<String>) -> Result<(), FolderFault> {
    let place = folder.join(below);
    for entry in fs::read_dir(&place).map_err(io_fault(&place))? {
        let entry = entry.map_err(io_fault(&place))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_of_tool = LEFT_BY_TOOLS.contains(&name.as_str()) || name.ends_with(".egg-info") || name == RECORD;
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        match entry.file_type() {
            _ if is_of_tool => {}
            Ok(kind) if kind.is_dir() => list(folder, &path, found)?,
            _ => {
                found.insert(path);
            }
        }
    }
    Ok(())
}

/// Makes it beside the folder, and changes the two at the end: whoever is cut off leaves the old one.
fn replace(folder: &Path, files: &[SdkFile], record: &Record) -> Result<(), FolderFault> {
    let above = folder.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(above).map_err(io_fault(above))?;
    let made = tempfile::Builder::new().prefix(".sdk-").tempdir_in(above).map_err(io_fault(above))?;
    let new = made.path().join("new");
    for file in files {
        let place = new.join(&file.path);
        let inside = place.parent().unwrap_or(&new);
        fs::create_dir_all(inside).map_err(io_fault(inside))?;
        fs::write(&place, &file.text).map_err(io_fault(&place))?;
    }
    fs::create_dir_all(&new).map_err(io_fault(&new))?;
    // A record is names and digests, which can always be written.
    let text = serde_json::to_string_pretty(record).unwrap_or_default();
    fs::write(new.join(RECORD), text + "\n").map_err(io_fault(&new))?;
    let old = made.path().join("old");
    match fs::rename(folder, &old) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_fault(folder)(error)),
        _ => {}
    }
    fs::rename(&new, folder).map_err(|error| {
        // Nothing else can be done about an old one that cannot be put back.
        drop(fs::rename(&old, folder));
        io_fault(folder)(error)
    })
}

fn io_fault(place: &Path) -> impl Fn(io::Error) -> FolderFault {
    let place = place.to_owned();
    move |error| FolderFault::Io { place: place.clone(), error }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
