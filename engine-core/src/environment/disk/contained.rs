//! The disk below one directory, reached without following a single symbolic link: whoever may write there (or swaps a
//! directory for a link in the middle of a write) cannot lead a store out of its directory. What is no ordinary file or
//! directory, such as a pipe that would block its reader for ever, is refused.
//!
//! Each path is walked from the directory on, one open directory to the next. The way to the directory itself is the
//! user's, links and all.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::modes;
use super::{FileLock, SystemFiles};
use crate::environment::files::{FileKind, Files, LockedFile, OpenFile, OpenMode, Stamp};
use crate::fail_points;

/// The disk below a directory.
///
/// What is there keeps its permissions. A new file or directory has those of the directory that it is in, but none that
/// [`like`](Files::like) rules out. What is made right below the root is made from nothing, and so for its owner only.
#[derive(Clone, Debug)]
pub(crate) struct ContainedFiles {
    root: PathBuf,
    model: Option<PathBuf>,
}

/// A name in a directory that is open.
struct Spot<'p> {
    directory: OwnedFd,
    name: &'p OsStr,
    path: &'p Path,
}

impl ContainedFiles {
    pub(crate) fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), model: None }
    }

    /// The place of a path; `None` when it is not below the root.
    fn spot<'p>(&self, path: &'p Path) -> io::Result<Option<Spot<'p>>> {
        let Ok(inside) = path.strip_prefix(&self.root) else { return Ok(None) };
        let Some(name) = inside.file_name() else { return Ok(None) };
        let mut reached = self.root.clone();
        let mut directory =
            rustix::fs::open(&self.root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for step in inside.parent().unwrap_or(Path::new("")).components() {
            let Component::Normal(step) = step else { return Err(ErrorKind::InvalidInput.into()) };
            reached.push(step);
            directory = Spot { directory, name: step, path: &reached }.open_directory()?;
        }
        Ok(Some(Spot { directory, name, path }))
    }

    /// Opens a file, which is made if there is none.
    fn open_or_make(&self, spot: &Spot<'_>, flags: OFlags) -> io::Result<File> {
        loop {
            match spot.open_file(flags) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                opened => return opened,
            }
            match self.make_file(spot, flags) {
                // Somebody else was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => return made,
            }
        }
    }

    fn make_file(&self, spot: &Spot<'_>, flags: OFlags) -> io::Result<File> {
        let file = spot.open_file(flags | OFlags::CREATE | OFlags::EXCL)?;
        self.model_of(spot)?.give_file(&file)?;
        Ok(file)
    }

    /// What decides the permissions of something new in a directory.
    fn model_of(&self, spot: &Spot<'_>) -> io::Result<modes::Beside> {
        if spot.path.parent() == Some(&self.root) {
            return Ok(modes::Beside::nothing());
        }
        let mut beside = modes::Beside::directory(&spot.directory)?;
        if let Some(model) = &self.model {
            let status = |path: &Path| match self.spot(path) {
                Ok(Some(spot)) => spot.status(),
                _ => Ok(None),
            };
            beside = beside.and_directory(model.parent().map_or(Ok(None), status)?.as_ref());
            beside = beside.and_file(status(model)?.as_ref());
        }
        Ok(beside)
    }
}

impl Spot<'_> {
    fn open_as(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory, self.name, flags, modes::first_of_file())
            .map_err(|error| self.explain(error))
    }

    fn open_directory(&self) -> io::Result<OwnedFd> {
        self.open_as(OFlags::RDONLY | OFlags::DIRECTORY)
    }

    fn open_file(&self, flags: OFlags) -> io::Result<File> {
        let file = self.open_as(flags)?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        if kind == FileType::RegularFile { Ok(File::from(file)) } else { Err(self.refuse(kind)) }
    }

    /// What is known of what is there; a link is not followed.
    fn status(&self) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.directory, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What is there; a link is not followed.
    fn kind(&self) -> io::Result<Option<FileType>> {
        Ok(self.status()?.map(|found| FileType::from_raw_mode(found.st_mode)))
    }

    /// The systems say in several ways that they met a link; this says it in one.
    fn explain(&self, error: Errno) -> io::Error {
        let is_link = matches!(error, Errno::LOOP | Errno::NOTDIR | Errno::MLINK)
            && self.kind().is_ok_and(|kind| kind == Some(FileType::Symlink));
        // Opening a pipe that nobody reads.
        if is_link || error == Errno::NXIO {
            self.refuse(if is_link { FileType::Symlink } else { FileType::Fifo })
        } else {
            error.into()
        }
    }

    fn refuse(&self, kind: FileType) -> io::Error {
        let path = self.path.display();
        let problem = match kind {
            FileType::Symlink => format!(
                "{path} is a symbolic link, and inside a store none is followed, so that nothing is written elsewhere; put \
                 there what it leads to, or name that place with --backend"
            ),
            FileType::Directory => return ErrorKind::IsADirectory.into(),
            _ => format!("{path} is not a regular file; move it to another place"),
        };
        io::Error::other(problem)
    }

    fn file_kind(&self, kind: FileType) -> io::Result<FileKind> {
        match kind {
            FileType::RegularFile => Ok(FileKind::File),
            FileType::Directory => Ok(FileKind::Directory),
            other => Err(self.refuse(other)),
        }
    }

    /// Is it a file? It has to be there.
    fn require_file(&self) -> io::Result<()> {
        match self.kind()? {
            Some(FileType::RegularFile) => Ok(()),
            Some(other) => Err(self.refuse(other)),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn rename(&self, to: &Self) -> io::Result<()> {
        fail_points::kill("kill::disk-change");
        Ok(rustix::fs::renameat(&self.directory, self.name, &to.directory, to.name)?)
    }

    fn link(&self, another: &Self) -> io::Result<()> {
        self.require_file()?;
        fail_points::kill("kill::disk-change");
        Ok(rustix::fs::linkat(&self.directory, self.name, &another.directory, another.name, AtFlags::empty())?)
    }

    fn remove(&self) -> io::Result<()> {
        fail_points::kill("kill::disk-change");
        Ok(rustix::fs::unlinkat(&self.directory, self.name, AtFlags::empty())?)
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn rename_new(&self, to: &Self) -> io::Result<()> {
        fail_points::kill("kill::disk-change");
        let flags = rustix::fs::RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&self.directory, self.name, &to.directory, to.name, flags) {
            // Not every file system knows the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.link_and_remove(to),
            other => Ok(other?),
        }
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn rename_new(&self, to: &Self) -> io::Result<()> {
        self.link_and_remove(to)
    }

    fn link_and_remove(&self, to: &Self) -> io::Result<()> {
        self.link(to)?;
        self.remove()
    }
}

impl Files for ContainedFiles {
    fn below(&self, root: &Path) -> Arc<dyn Files> {
        Arc::new(Self::below(root))
    }

    fn like(&self, model: &Path) -> Arc<dyn Files> {
        Arc::new(Self { model: Some(model.to_owned()), ..self.clone() })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let Some(spot) = self.spot(path)? else { return SystemFiles.read(path) };
        let mut bytes = Vec::new();
        spot.open_file(OFlags::RDONLY)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        let spot = match self.spot(path) {
            Ok(Some(spot)) => spot,
            Ok(None) => return SystemFiles.kind(path),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        spot.kind()?.map(|kind| spot.file_kind(kind)).transpose()
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        let spot = match self.spot(path) {
            Ok(Some(spot)) => spot,
            Ok(None) => return SystemFiles.stamp(path),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let found = spot.status()?.filter(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        Ok(found.and_then(|found| {
            let modified = i128::from(found.st_mtime) * 1_000_000_000 + i128::from(found.st_mtime_nsec);
            Some(Stamp { length: u64::try_from(found.st_size).ok()?, modified })
        }))
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let Some(spot) = self.spot(directory)? else { return SystemFiles.entries(directory) };
        let mut paths = Vec::new();
        for entry in Dir::read_from(spot.open_directory()?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                paths.push(directory.join(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name)));
            }
        }
        Ok(paths)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let Some(spot) = self.spot(path)? else { return SystemFiles.make_directory(path) };
        fail_points::kill("kill::disk-change");
        rustix::fs::mkdirat(&spot.directory, spot.name, modes::first_of_directory())?;
        self.model_of(&spot)?.give_directory(&spot.open_directory()?)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let Some(spot) = self.spot(path)? else { return SystemFiles.remove_directory(path) };
        fail_points::kill("kill::disk-change");
        Ok(rustix::fs::unlinkat(&spot.directory, spot.name, AtFlags::REMOVEDIR)?)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let Some(spot) = self.spot(path)? else { return SystemFiles.sync_directory(path) };
        Ok(rustix::fs::fsync(spot.open_directory()?)?)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        let Some(spot) = self.spot(path)? else { return SystemFiles.open(path, mode) };
        fail_points::kill("kill::disk-change");
        let file = match mode {
            OpenMode::New => self.make_file(&spot, OFlags::WRONLY),
            OpenMode::Append => self.open_or_make(&spot, OFlags::WRONLY | OFlags::APPEND),
            OpenMode::Existing => spot.open_file(OFlags::WRONLY),
        };
        Ok(Box::new(file?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let Some(spot) = self.spot(path)? else { return SystemFiles.remove(path) };
        spot.remove()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some(from), Some(to)) = (self.spot(from)?, self.spot(to)?) else { return SystemFiles.rename(from, to) };
        from.rename(&to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some(from), Some(to)) = (self.spot(from)?, self.spot(to)?) else {
            return SystemFiles.rename_new(from, to);
        };
        from.rename_new(&to)
    }

    fn link(&self, path: &Path, another: &Path) -> io::Result<()> {
        let (Some(path), Some(another)) = (self.spot(path)?, self.spot(another)?) else {
            return SystemFiles.link(path, another);
        };
        path.link(&another)
    }

    fn is_one_file(&self, path: &Path, another: &Path) -> io::Result<bool> {
        let (Some(path), Some(another)) = (self.spot(path)?, self.spot(another)?) else {
            return SystemFiles.is_one_file(path, another);
        };
        let known = path.status()?.zip(another.status()?);
        Ok(known.is_some_and(|(path, another)| path.st_ino == another.st_ino && path.st_dev == another.st_dev))
    }

    fn take_permissions(&self, path: &Path, of: &Path) -> io::Result<()> {
        let (Some(spot), Some(of)) = (self.spot(path)?, self.spot(of)?) else {
            return SystemFiles.take_permissions(path, of);
        };
        match of.status()? {
            Some(of) => modes::take(&spot.open_file(OFlags::WRONLY)?, &of),
            None => Ok(()),
        }
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockedFile>>> {
        let Some(spot) = self.spot(path)? else { return SystemFiles.try_lock(path) };
        let open = || self.open_or_make(&spot, OFlags::RDWR);
        Ok(FileLock::try_acquire_opened(path, &open)?.map(|lock| Box::new(lock) as Box<dyn LockedFile>))
    }

    fn scratch_name(&self) -> String {
        SystemFiles.scratch_name()
    }
}

#[cfg(test)]
#[path = "contained_tests.rs"]
mod tests;
