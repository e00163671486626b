//! The permissions of what a store makes: those of what is beside it, so that a store that several people share stays one
//! that they share, and a private one stays private.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Gid, Mode, RawMode, Stat, fchmod, fchown, fstat};

const FILE: RawMode = 0o666;
const DIRECTORY: RawMode = 0o777;
const OWNER: RawMode = 0o700;
const GROUP: RawMode = 0o070;
const OTHERS: RawMode = 0o007;
/// In a directory: what is made in it belongs to its group.
const SET_GROUP: RawMode = 0o2000;
const ALL: RawMode = 0o7777;

/// The mode with which a file is made, before it is known what it may be.
pub(crate) fn first_of_file() -> Mode {
    Mode::from_raw_mode(FILE & OWNER)
}

/// The mode with which a directory is made.
pub(crate) fn first_of_directory() -> Mode {
    Mode::from_raw_mode(DIRECTORY & OWNER)
}

/// The permissions of what something new is beside.
pub(crate) struct Beside {
    mode: RawMode,
    file_mode: RawMode,
    group: Option<u32>,
}

impl Beside {
    /// There is nothing: it is for its owner only.
    pub(crate) fn nothing() -> Self {
        Self { mode: OWNER, file_mode: OWNER, group: None }
    }

    /// It is in this directory.
    pub(crate) fn directory(directory: &OwnedFd) -> io::Result<Self> {
        let found = fstat(directory)?;
        Ok(Self { mode: found.st_mode & (DIRECTORY | SET_GROUP), file_mode: DIRECTORY, group: Some(found.st_gid) })
    }

    /// And it belongs to what is in this one, which may be less open.
    pub(crate) fn and_directory(self, other: Option<&Stat>) -> Self {
        let Some(other) = other else { return self };
        Self { mode: self.mode & (other.st_mode | SET_GROUP), ..self }
    }

    /// And to this file.
    pub(crate) fn and_file(self, other: Option<&Stat>) -> Self {
        let Some(other) = other else { return self };
        Self { file_mode: self.file_mode & other.st_mode, ..self }
    }

    /// Gives a file that was made just now its permissions.
    pub(crate) fn give_file(&self, file: &impl AsFd) -> io::Result<()> {
        give(file, self.mode & self.file_mode & FILE, self.group)
    }

    /// Gives a directory that was made just now its permissions.
    pub(crate) fn give_directory(&self, directory: &impl AsFd) -> io::Result<()> {
        give(directory, self.mode, self.group)
    }
}

/// Gives a file the permissions of the one whose place it takes.
pub(crate) fn take(file: &impl AsFd, of: &Stat) -> io::Result<()> {
    give(file, of.st_mode & DIRECTORY, Some(of.st_gid))
}

fn give(file: &impl AsFd, mode: RawMode, group: Option<u32>) -> io::Result<()> {
    let found = fstat(file)?;
    let mut mode = mode | (found.st_mode & SET_GROUP);
    if let Some(group) = group.filter(|group| mode & GROUP != 0 && *group != found.st_gid)
        && fchown(file, None, Some(Gid::from_raw(group))).is_err()
    {
        // The permissions were meant for another group: this one gets no more than everybody.
        mode &= !(GROUP | SET_GROUP) | ((mode & OTHERS) << 3);
    }
    if found.st_mode & ALL == mode {
        return Ok(());
    }
    match fchmod(file, Mode::from_raw_mode(mode)) {
        // Where a whole file system has one mode, it is what was chosen for it.
        Err(rustix::io::Errno::PERM | rustix::io::Errno::NOTSUP) => Ok(()),
        other => Ok(other?),
    }
}
