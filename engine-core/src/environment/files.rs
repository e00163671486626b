//! The disk as the directory store sees it: few operations, each as small as those of an operating system, so that a
//! simulation can drop, reorder and tear what was not synced. What is built of them (a write in one step, a directory
//! with its parents) stands here too, on the near side of the border, and runs in simulation as it is.
//!
//! What a store's disk ([`Files::below`]) makes has the permissions of what it is beside; elsewhere, and where there is
//! nothing beside it, what is made is for its owner only.
//!
//! Errors of the trait are bare `io::Error`s; the functions below give them the path and the way out.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file with content.
    File,
    /// A directory.
    Directory,
}

/// What is another one whenever a file got other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its length in bytes.
    pub length: u64,
    /// When it was written, in nanoseconds since 1970 by the disk's clock.
    pub modified: i128,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Makes it; `AlreadyExists` when there is one of that name.
    New,
    /// Makes it if needed; what is written comes after what is there.
    Append,
    /// It has to be there.
    Existing,
}

/// A disk. Nothing is durable before it was synced: content with [`OpenFile`], names with
/// [`sync_directory`](Files::sync_directory) of the directory that they are in.
pub trait Files: Send + Sync {
    /// The same disk for a store that is kept below a directory: what is reached there is reached without following a
    /// single symbolic link, where the system has such.
    fn below(&self, root: &Path) -> Arc<dyn Files>;

    /// The same disk for files that belong to this one: what is made has no permissions that it does not have, once it is
    /// there.
    fn like(&self, model: &Path) -> Arc<dyn Files>;

    /// All bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What is there, links followed; `None` when nothing is.
    fn kind(&self, path: &Path) -> io::Result<Option<FileKind>>;

    /// How long a file is and when it was written; `None` where no file is, or that is not known.
    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>>;

    /// What is in a directory, in no order.
    fn entries(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes one directory; its parent has to be there.
    fn make_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable: what was made, renamed and removed there.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Opens a file for writing.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name in one step; a file of that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file another name in one step; `AlreadyExists` when there is a file of that name.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file one more name; `AlreadyExists` when there is a file of that name. Some disks cannot.
    fn link(&self, path: &Path, another: &Path) -> io::Result<()>;

    /// Are these two names of one file? Where that cannot be known, they are not.
    fn is_one_file(&self, path: &Path, another: &Path) -> io::Result<bool>;

    /// Gives a file the permissions of another one, whose place it is about to take, and its group where that is possible.
    /// Nothing happens when there is no such file.
    fn take_permissions(&self, path: &Path, of: &Path) -> io::Result<()>;

    /// Locks a file, making it if needed; `None` when another holds the lock, which goes with the holder's process.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockedFile>>>;

    /// Part of a file's name that nobody else uses.
    fn scratch_name(&self) -> String;
}

/// A file that is open for writing.
pub trait OpenFile: Send {
    /// Writes all of `bytes`: at the end when it was opened to append, else after what was written before.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Sees to it that so many more bytes can be written behind the present end, even if the disk is full by then. The
    /// length stays as it is. Cutting the file ends it. Disks that cannot do so promise nothing and say nothing.
    fn reserve(&mut self, bytes: u64) -> io::Result<()>;

    /// Makes content and length durable.
    fn sync_data(&mut self) -> io::Result<()>;

    /// Makes the whole file durable, also what is known of it beside content and length.
    fn sync_all(&mut self) -> io::Result<()>;

    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Cuts the file to that many bytes.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// A file that is locked by us, until this is dropped.
pub trait LockedFile: Send {
    /// What its holder wrote into it. Who has the lock goes by the system's word: damage in the text blocks nobody.
    fn read(&mut self) -> io::Result<String>;

    /// Replaces its content. The text has to have the same length each time, so that the file is never empty in
    /// between.
    fn write(&mut self, text: &str) -> io::Result<()>;

    /// Makes the content durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Is it still the file of its path? Not if another one was put in its place, or it was removed.
    fn is_current(&self) -> io::Result<bool>;
}

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

/// Is there something at that path?
pub(crate) fn exists(files: &dyn Files, path: &Path) -> Result<bool> {
    files.kind(path).map(|kind| kind.is_some()).map_err(|error| io_error("look for", path, error))
}

/// Makes a directory and its missing parents, so that they survive a power cut.
pub(crate) fn create_dir(files: &dyn Files, path: &Path) -> Result<()> {
    make_dirs(files, path, &|above| files.sync_directory(above))
}

/// Makes a directory and its missing parents; a power cut may undo it.
pub(crate) fn create_passing_dir(files: &dyn Files, path: &Path) -> Result<()> {
    make_dirs(files, path, &|_| Ok(()))
}

fn make_dirs(files: &dyn Files, path: &Path, made_in: &dyn Fn(&Path) -> io::Result<()>) -> Result<()> {
    if files.kind(path).is_ok_and(|kind| kind == Some(FileKind::Directory)) {
        return Ok(());
    }
    let above = parent(path);
    make_dirs(files, &above, made_in)?;
    match files.make_directory(path) {
        Ok(()) => made_in(&above).map_err(|error| io_error("make the directory", path, error)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(io_error("make the directory", path, error)),
    }
}

/// What is in a directory, sorted; nothing when there is none.
pub(crate) fn entries(files: &dyn Files, directory: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = match files.entries(directory) {
        Ok(paths) => paths,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("read the directory", directory, error)),
    };
    paths.sort();
    Ok(paths)
}

/// The file's bytes, `None` when there is no such file.
pub(crate) fn read_if_exists(files: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>> {
    match files.read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("read", path, error)),
    }
}

/// Removes a file; it is fine if there is none.
pub(crate) fn remove_if_exists(files: &dyn Files, path: &Path) -> Result<bool> {
    match files.remove(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_error("remove", path, error)),
    }
}

/// Removes a directory with the files in it; it is fine if there is none.
pub(crate) fn remove_flat_dir(files: &dyn Files, path: &Path) -> Result<()> {
    for file in entries(files, path)? {
        remove_if_exists(files, &file)?;
    }
    match files.remove_directory(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error("remove", path, error)),
        _ => Ok(()),
    }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Writes a new file, with the permissions of the one whose place it is to take.
fn write_and_sync(files: &dyn Files, path: &Path, in_place_of: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = files.open(path, OpenMode::New)?;
    files.take_permissions(path, in_place_of)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Writes a file in one step: readers see the old content or the new, also after a power cut. Only one process
/// may do so at a time: what a crash leaves behind has a fixed name and is written over the next time.
pub(crate) fn write_atomically(files: &dyn Files, path: &Path, bytes: &[u8]) -> Result<()> {
    let staged = stage(files, path, "tmp", bytes)?;
    put_in_place(files, &staged, path)
}

/// Writes a file that readers see whole or not at all, unless the power fails: then anything may be left of it. For what can
/// be made anew.
pub(crate) fn write_passing(files: &dyn Files, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut staged = path.as_os_str().to_owned();
    staged.push(".tmp");
    let staged = PathBuf::from(staged);
    remove_if_exists(files, &staged)?;
    let write = || {
        let mut file = files.open(&staged, OpenMode::New)?;
        file.write_all(bytes)?;
        files.rename(&staged, path)
    };
    write().map_err(|error| {
        // It may be what filled the disk.
        let _ = files.remove(&staged);
        io_error("write", path, error)
    })
}

/// The first half of a write in one step: a file beside `path`, with an ending of its own, that is whole and durable.
pub(crate) fn stage(files: &dyn Files, path: &Path, ending: &str, bytes: &[u8]) -> Result<PathBuf> {
    let mut staged = path.as_os_str().to_owned();
    staged.push(".");
    staged.push(ending);
    let staged = PathBuf::from(staged);
    remove_if_exists(files, &staged)?;
    write_and_sync(files, &staged, path, bytes).map_err(|error| {
        // It may be what filled the disk.
        let _ = files.remove(&staged);
        io_error("write", path, error)
    })?;
    Ok(staged)
}

/// The second half: the staged file takes its place.
pub(crate) fn put_in_place(files: &dyn Files, staged: &Path, path: &Path) -> Result<()> {
    files.rename(staged, path).and_then(|()| files.sync_directory(&parent(path))).map_err(|error| {
        let _ = files.remove(staged);
        io_error("write", path, error)
    })
}

/// Writes a file in one step, but only if there is no such file; says whether it was written.
pub(crate) fn write_new(files: &dyn Files, path: &Path, bytes: &[u8]) -> Result<bool> {
    let fail = |error| io_error("write", path, error);
    let staged = parent(path).join(format!(".maloko-{}.tmp", files.scratch_name()));
    let written = write_and_sync(files, &staged, path, bytes).and_then(|()| files.rename_new(&staged, path));
    if let Err(error) = written {
        let _ = files.remove(&staged);
        return if error.kind() == ErrorKind::AlreadyExists { Ok(false) } else { Err(fail(error)) };
    }
    files.sync_directory(&parent(path)).map_err(fail)?;
    Ok(true)
}

/// Keeps the present content of `path` under the name `backup`, in one step. Nothing happens when there
/// is no such file. The directory is not synced: the write that follows does that.
pub(crate) fn keep_backup(files: &dyn Files, path: &Path, backup: &Path) -> Result<()> {
    let fail = |error| io_error("write", backup, error);
    let staged = backup.with_extension("bak.tmp");
    remove_if_exists(files, &staged)?;
    match files.link(path, &staged) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        // No links on this file system: copy.
        Err(_) => {
            let bytes = files.read(path).map_err(|error| io_error("read", path, error))?;
            return write_atomically(files, backup, &bytes);
        }
    }
    files.rename(&staged, backup).map_err(fail)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
