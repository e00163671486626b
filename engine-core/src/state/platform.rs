//! What differs between operating systems: private modes, durable directories, locks, and who we are.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// An error with the path and, where there is one, the way out.
pub(crate) fn io_error(action: &str, path: &Path, source: io::Error) -> Error {
    let advice = match source.kind() {
        ErrorKind::PermissionDenied => {
            " (give yourself permission for it and its directory, or name another place for the state with --backend)"
        }
        ErrorKind::ReadOnlyFilesystem => " (name a writable place for the state with --backend)",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => " (free some space, then run the command again)",
        ErrorKind::NotADirectory => " (a file is where a directory should be)",
        ErrorKind::FileTooLarge => " (raise the limit on the size of files, then run the command again)",
        _ => "",
    };
    Error::Io { context: format!("cannot {action} {}{advice}", path.display()), source }
}

/// Makes a directory and its missing parents, for the owner only, so that they survive a power cut.
pub(crate) fn create_private_dir(path: &Path) -> Result<()> {
    make_dirs(path, &|above| sync_dir(above))
}

/// Makes a directory and its missing parents, for the owner only; a power cut may undo it.
pub(crate) fn create_passing_dir(path: &Path) -> Result<()> {
    make_dirs(path, &|_| Ok(()))
}

fn make_dirs(path: &Path, made_in: &dyn Fn(&Path) -> io::Result<()>) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = parent(path);
    make_dirs(&above, made_in)?;
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => made_in(&above).map_err(|error| io_error("make the directory", path, error)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(io_error("make the directory", path, error)),
    }
}

/// Options for a file that only the owner may read, if it is made.
pub(crate) fn private_options() -> OpenOptions {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes the permissions of everybody but the owner from a file, if it grants any.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Makes renames and new names in a directory durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    // Elsewhere directories cannot be opened as files; NTFS journals its names by itself.
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The file's bytes, `None` when there is no such file.
pub(crate) fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("read", path, error)),
    }
}

/// Removes a file; it is fine if there is none.
pub(crate) fn remove_if_exists(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_error("remove", path, error)),
    }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Writes a private file in one step: readers see the old content or the new, also after a power cut. Only one process
/// may do so at a time: what a crash leaves behind has a fixed name and is written over the next time.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut staged = path.as_os_str().to_owned();
    staged.push(".tmp");
    let staged = PathBuf::from(staged);
    remove_if_exists(&staged)?;
    let write = || -> io::Result<()> {
        let mut file = private_options().write(true).create_new(true).open(&staged)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&staged, path)?;
        sync_dir(&parent(path))
    };
    write().map_err(|error| {
        // It may be what filled the disk.
        let _ = fs::remove_file(&staged);
        io_error("write", path, error)
    })
}

/// Writes a private file in one step, but only if there is no such file; says whether it was written.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<bool> {
    let write = || -> io::Result<tempfile::NamedTempFile> {
        // The crate's default mode is 0600.
        let mut file = tempfile::Builder::new().prefix(".maloko-").suffix(".tmp").tempfile_in(parent(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    let file = write().map_err(|error| io_error("write", path, error))?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(io_error("write", path, error.error)),
    }
    sync_dir(&parent(path)).map_err(|error| io_error("write", path, error))?;
    Ok(true)
}

/// Keeps the present content of `path` under the name `backup`, in one step and privately. Nothing happens when there
/// is no such file. The directory is not synced: the write that follows does that.
pub(crate) fn keep_backup(path: &Path, backup: &Path) -> Result<()> {
    let fail = |error| io_error("write", backup, error);
    let staged = backup.with_extension("bak.tmp");
    remove_if_exists(&staged)?;
    match fs::hard_link(path, &staged) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        // No links on this file system: copy.
        Err(_) => {
            let bytes = fs::read(path).map_err(|error| io_error("read", path, error))?;
            return write_atomically(backup, &bytes);
        }
    }
    make_private(&staged).map_err(fail)?;
    fs::rename(&staged, backup).map_err(fail)
}

/// Knows whether it is still in the process that made it. A process that user code forked has copies of everything we
/// hold, but none of our threads, and none of our rights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnProcess(u32);

impl OwnProcess {
    pub(crate) fn here() -> Self {
        Self(std::process::id())
    }

    pub(crate) fn is_here(self) -> bool {
        self.0 == std::process::id()
    }
}

/// A lock of the operating system on a file: gone as soon as the process is.
pub(crate) struct FileLock {
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
    pub(crate) fn try_acquire(path: &Path) -> Result<Option<Self>> {
        loop {
            let file = private_options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .map_err(|error| io_error("open", path, error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(io_error("lock", path, error)),
            }
            // The file may have been removed between opening and locking; then the lock protects nothing.
            if same_file(&file, path) {
                return Ok(Some(Self { file, owner: OwnProcess::here() }));
            }
        }
    }

    /// What its holder wrote into the locked file.
    pub(crate) fn read(&mut self) -> io::Result<String> {
        let mut text = String::new();
        io::Seek::rewind(&mut self.file)?;
        self.file.read_to_string(&mut text)?;
        Ok(text)
    }

    /// Replaces the content of the locked file. The text has to have the same length each time, so that the file is
    /// never empty in between.
    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        io::Seek::rewind(&mut self.file)?;
        self.file.write_all(text.as_bytes())
    }

    /// Makes the content durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(a), Ok(b)) => a.ino() == b.ino() && a.dev() == b.dev(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// The name of this machine; empty when it cannot be found out.
pub(crate) fn host_name() -> String {
    #[cfg(unix)]
    {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        std::env::var("COMPUTERNAME").unwrap_or_default()
    }
}

/// The login name as the environment tells it; empty when it does not.
pub(crate) fn user_name() -> String {
    ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok()).unwrap_or_default()
}

#[cfg(test)]
#[path = "platform_tests.rs"]
mod tests;
