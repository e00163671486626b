//! Unpacks an archive into a folder, and nowhere else: no path leaves it, there are no links, and size and count have
//! bounds.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::error::InstallError;
use super::limits::Limits;
use super::progress::Progress;

/// Longer names and headers before one file are no archive's that anybody made on purpose. They are held in memory.
const MAX_HEADERS_LENGTH: u64 = 2 << 20;

/// Unpacks a tar archive with gzip into a folder that is empty.
pub(crate) fn unpack(
    archive: impl Read,
    folder: &Path,
    limits: &Limits,
    progress: &dyn Progress,
) -> Result<(), InstallError> {
    let exceeded = Rc::new(Cell::new(false));
    let broken = |error: std::io::Error| {
        InstallError::last(if exceeded.get() {
            format!("the archive has more than {} bytes unpacked; this is no plugin", limits.unpacked)
        } else {
            format!("the archive is broken or cut off: {error}; download it again")
        })
    };
    let headers = Rc::new(Cell::new(None));
    let bounded = BoundedReader {
        reader: MultiGzDecoder::new(archive),
        left: limits.unpacked,
        exceeded: Rc::clone(&exceeded),
        headers: Rc::clone(&headers),
    };
    let mut archive = Archive::new(bounded);
    let mut place = Place { root: folder, folders: BTreeSet::new() };
    let mut members = 0;
    let mut entries = archive.entries().map_err(broken)?;
    loop {
        // The library reads long names and headers into memory, however long they are.
        headers.set(Some(MAX_HEADERS_LENGTH));
        let Some(entry) = entries.next() else { return Ok(()) };
        headers.set(None);
        let mut entry = entry.map_err(broken)?;
        if progress.is_cancelled() {
            return Err(InstallError::last("the installation was cancelled"));
        }
        members += 1;
        if members > limits.members {
            let most = limits.members;
            return Err(InstallError::last(format!("the archive has more than {most} files; this is no plugin")));
        }
        if entry.header().entry_type() == EntryType::XGlobalHeader {
            continue;
        }
        let named = path_of(&entry.path_bytes());
        let refused = |why: &str| {
            InstallError::last(format!("the archive has {why}: '{}'; it is refused as a whole", named.display()))
        };
        let inside = inside(&named).ok_or_else(|| refused("a path outside of the plugin's folder"))?;
        let cannot = |error: std::io::Error| {
            if exceeded.get() {
                return broken(error);
            }
            InstallError::io(format!("'{}' of the archive cannot be unpacked", named.display()), &error)
        };
        match entry.header().entry_type() {
            EntryType::Directory => place.make_folder(&inside).map_err(cannot)?,
            EntryType::Regular | EntryType::Continuous => {
                let mode = entry.header().mode().unwrap_or(0);
                place.write(&inside, mode, &mut entry).map_err(cannot)?;
            }
            EntryType::Symlink | EntryType::Link => return Err(refused("a link")),
            _ => return Err(refused("something that is neither a file nor a folder")),
        }
    }
}

/// The folder into which an archive is unpacked.
struct Place<'a> {
    root: &'a Path,
    /// Those that were made in it.
    folders: BTreeSet<PathBuf>,
}

impl Place<'_> {
    fn make_folder(&mut self, inside: &Path) -> std::io::Result<()> {
        if inside.as_os_str().is_empty() || !self.folders.insert(inside.to_owned()) {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o755).create(self.root.join(inside))
    }

    fn write(&mut self, inside: &Path, mode: u32, content: &mut impl Read) -> std::io::Result<()> {
        self.make_folder(inside.parent().unwrap_or(Path::new("")))?;
        let mode = mode & 0o755 | 0o600;
        let mut file: File = OpenOptions::new().write(true).create_new(true).mode(mode).open(self.root.join(inside))?;
        std::io::copy(content, &mut file)?;
        // After a crash of the machine, a folder without its marker must have all of its content.
        file.sync_data()
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// The path below the folder; `None` if it leads elsewhere.
fn inside(named: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in named.components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Reads no more than so many bytes.
struct BoundedReader<R> {
    reader: R,
    left: u64,
    exceeded: Rc<Cell<bool>>,
    /// How much of headers may follow; `None` within a file.
    headers: Rc<Cell<Option<u64>>>,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                self.exceeded.set(true);
                return Err(std::io::Error::other("too large"));
            }
        }
        if let Some(headers) = self.headers.get() {
            let left = headers.checked_sub(read as u64);
            self.headers.set(Some(left.ok_or_else(|| std::io::Error::other("a name in it is too long"))?));
        }
        Ok(read)
    }
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
