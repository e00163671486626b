//! The folder of one installed plugin, with the files beside it. Names, lock and marker are those of Pulumi, which installs
//! into the same place.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::InstallError;
use super::progress::Progress;

/// How often an installer looks whether the other one is done.
const LOOK: Duration = Duration::from_millis(50);

/// See the module's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PluginFolder {
    path: PathBuf,
}

impl PluginFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    /// The file that says that the folder is half-written.
    pub(crate) fn marker(&self) -> PathBuf {
        self.beside(".partial")
    }

    /// Is the whole plugin there?
    pub(crate) fn is_whole(&self) -> bool {
        self.path.is_dir() && !self.marker().exists()
    }

    /// Notes that the plugin is used now. Whoever may not write there uses it all the same.
    pub(crate) fn note_use(&self) {
        if let Ok(file) = OpenOptions::new().create(true).append(true).open(self.beside(".lastused")) {
            drop(file.set_modified(SystemTime::now()));
        }
    }

    /// When it was used last.
    pub(crate) fn last_used(&self) -> Option<SystemTime> {
        std::fs::metadata(self.beside(".lastused")).and_then(|file| file.modified()).ok()
    }

    /// Waits until no other process installs or removes this plugin.
    pub(crate) fn lock(&self, progress: &dyn Progress) -> Result<FolderLock, InstallError> {
        let path = self.beside(".lock");
        let failed =
            |error: std::io::Error| InstallError::io(format!("the lock {} cannot be taken", path.display()), &error);
        let parent = self.path.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        let mut waits = false;
        loop {
            let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
            let file = file.map_err(failed)?;
            match file.try_lock() {
                // Whoever removes a plugin removes its lock, too. Then another process may have made a new one.
                Ok(()) if is_at(&file, &path) => return Ok(FolderLock { file, path }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if progress.is_cancelled() {
                        return Err(InstallError::last("the installation was cancelled"));
                    }
                    if !std::mem::replace(&mut waits, true) {
                        progress.says(&format!("Waiting for another process that installs {}", self.path.display()));
                    }
                    std::thread::sleep(LOOK);
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    /// Makes the folder empty and marks it as half-written. The lock is held.
    pub(crate) fn begin(&self, _lock: &FolderLock) -> Result<(), InstallError> {
        let failed = |error: std::io::Error| {
            InstallError::io(format!("the plugin's folder {} cannot be made", self.path.display()), &error)
        };
        File::create(self.marker()).and_then(|marker| marker.sync_all()).map_err(failed)?;
        if self.path.exists() {
            std::fs::remove_dir_all(&self.path).map_err(failed)?;
        }
        std::fs::DirBuilder::new().mode(0o700).create(&self.path).map_err(failed)
    }

    /// From now on the plugin is there. The lock is held.
    pub(crate) fn complete(&self, _lock: &FolderLock) -> Result<(), InstallError> {
        std::fs::remove_file(self.marker()).map_err(|error| {
            InstallError::io(
                format!("{} cannot be removed, so the plugin counts as half-written", self.marker().display()),
                &error,
            )
        })
    }

    /// Removes the folder and what is beside it.
    pub(crate) fn remove(&self, lock: FolderLock) -> Result<(), InstallError> {
        let failed = |error: std::io::Error| {
            InstallError::io(format!("the plugin's folder {} cannot be removed", self.path.display()), &error)
        };
        if self.path.exists() {
            // What is left when this ends half-way is no plugin.
            File::create(self.marker()).map_err(failed)?;
            std::fs::remove_dir_all(&self.path).map_err(failed)?;
        }
        for ending in [".partial", ".lastused"] {
            drop(std::fs::remove_file(self.beside(ending)));
        }
        drop(std::fs::remove_file(&lock.path));
        drop(lock.file);
        Ok(())
    }
}

/// No other process installs or removes the plugin as long as this is there.
pub(crate) struct FolderLock {
    file: File,
    path: PathBuf,
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}
