//! The disk of this machine, whole or below a directory.

#[cfg(unix)]
mod contained;
#[cfg(unix)]
mod modes;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::files::{FileKind, Files, LockedFile, OpenFile, OpenMode, Stamp};
use super::platform::OwnProcess;
use crate::fail_points;

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFiles;

impl Files for SystemFiles {
    fn below(&self, root: &Path) -> Arc<dyn Files> {
        #[cfg(unix)]
        {
            Arc::new(contained::ContainedFiles::below(root))
        }
        #[cfg(not(unix))]
        {
            let _ = root;
            Arc::new(*self)
        }
    }

    fn like(&self, _model: &Path) -> Arc<dyn Files> {
        Arc::new(*self)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Ok(Some(FileKind::Directory)),
            Ok(_) => Ok(Some(FileKind::File)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
        let modified = found.modified().ok().and_then(since).and_then(|since| i128::try_from(since.as_nanos()).ok());
        Ok(modified.filter(|_| found.is_file()).map(|modified| Stamp { length: found.len(), modified }))
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        #[cfg_attr(not(unix), allow(unused_mut))]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        // Elsewhere directories cannot be opened as files; NTFS journals its names by itself.
        #[cfg(unix)]
        File::open(path)?.sync_all()?;
        #[cfg(not(unix))]
        let _ = path;
        Ok(())
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        let mut options = private_options();
        match mode {
            OpenMode::New => options.write(true).create_new(true),
            OpenMode::Append => options.append(true).create(true),
            OpenMode::Existing => options.write(true),
        };
        Ok(Box::new(options.open(path)?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let from = tempfile::TempPath::try_from_path(from)?;
        from.persist_noclobber(to).map_err(|error| {
            // Who gave the name removes the file, as after any other failure.
            let _ = error.path.keep();
            error.error
        })
    }

    fn link(&self, path: &Path, another: &Path) -> io::Result<()> {
        fs::hard_link(path, another)
    }

    fn is_one_file(&self, path: &Path, another: &Path) -> io::Result<bool> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let (path, another) = (fs::metadata(path)?, fs::metadata(another)?);
            Ok(path.ino() == another.ino() && path.dev() == another.dev())
        }
        #[cfg(not(unix))]
        {
            let _ = (path, another);
            Ok(false)
        }
    }

    fn take_permissions(&self, _path: &Path, _of: &Path) -> io::Result<()> {
        // What is written outside a store stays for its owner only.
        Ok(())
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockedFile>>> {
        Ok(FileLock::try_acquire(path)?.map(|lock| Box::new(lock) as Box<dyn LockedFile>))
    }

    fn scratch_name(&self) -> String {
        uuid::Uuid::new_v4().simple().to_string()
    }
}

/// Takes the permissions of everybody but the owner from a file, if it grants any.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700))?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

impl OpenFile for File {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        fail_points::kill("kill::disk-change");
        Write::write_all(self, bytes)
    }

    fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{FallocateFlags, fallocate};
            use rustix::io::Errno;
            let end = self.metadata()?.len();
            // The system reserves beyond the limit on the size of files, and refuses only to write there.
            let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
            if limit.is_some_and(|limit| end.saturating_add(bytes) > limit) {
                return Err(Errno::FBIG.into());
            }
            match fallocate(&*self, FallocateFlags::KEEP_SIZE, end, bytes) {
                // A file system that cannot promise it can still be used.
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
                other => Ok(other?),
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = bytes;
            Ok(())
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        File::sync_all(self)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        fail_points::kill("kill::disk-change");
        self.set_len(length)
    }
}

/// Options for a file that only the owner may read, if it is made.
fn private_options() -> OpenOptions {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A lock of the operating system on a file: gone as soon as the process is.
pub(crate) struct FileLock {
    path: PathBuf,
    file: File,
    owner: OwnProcess,
}

/// Unlocks expressly: closing the file would not do while a forked process has it open as well.
impl Drop for FileLock {
    fn drop(&mut self) {
        if self.owner.is_here() {
            // The file is closed next, which is as good where nobody forked.
            let _ = self.file.unlock();
        }
    }
}

impl FileLock {
    /// Locks the file, making it if needed; `None` when another process holds it.
    fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let open = || private_options().read(true).write(true).create(true).truncate(false).open(path);
        Self::try_acquire_opened(path, &open)
    }

    /// The same for a file that `open` opens or makes.
    pub(crate) fn try_acquire_opened(path: &Path, open: &dyn Fn() -> io::Result<File>) -> io::Result<Option<Self>> {
        loop {
            let file = open()?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The file may have been removed between opening and locking; then the lock protects nothing.
            if same_file(&file, path)? {
                return Ok(Some(Self { path: path.to_owned(), file, owner: OwnProcess::here() }));
            }
        }
    }
}

impl LockedFile for FileLock {
    fn read(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        io::Seek::rewind(&mut self.file)?;
        self.file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        io::Seek::rewind(&mut self.file)?;
        Write::write_all(&mut self.file, text.as_bytes())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn is_current(&self) -> io::Result<bool> {
        same_file(&self.file, &self.path)
    }
}

/// Is that path the one of the open file?
fn same_file(file: &File, path: &Path) -> io::Result<bool> {
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let here = file.metadata()?;
        Ok(here.ino() == there.ino() && here.dev() == there.dev())
    }
    #[cfg(not(unix))]
    {
        let _ = (file, there);
        Ok(true)
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
