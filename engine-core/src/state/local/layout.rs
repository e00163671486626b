//! Where things are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::state::backend::StoredStack;
use crate::state::name::{ORGANIZATION, StackName};
use crate::state::platform::{self, io_error};

/// The only version of the layout.
const VERSION: u64 = 1;
/// How often a stack is read that changes meanwhile.
const READ_ATTEMPTS: usize = 10;
/// Endings of stack files that Pulumi compressed.
const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// A whole store.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    directory: PathBuf,
    root: PathBuf,
}

/// The files of one stack.
#[derive(Clone, Debug)]
pub(super) struct StackFiles {
    pub(super) name: StackName,
    /// The directory of past operations.
    pub(super) history: PathBuf,
    pub(super) checkpoint: PathBuf,
    pub(super) backup: PathBuf,
    /// The directory of the lock files.
    pub(super) locks: PathBuf,
    /// Our own directory.
    pub(super) own: PathBuf,
    pub(super) lease: PathBuf,
    pub(super) journal: PathBuf,
}

impl Layout {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), root: directory.join(".pulumi") }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Refuses a store that this version does not understand.
    pub(super) fn check_version(&self) -> Result<()> {
        let path = self.root.join("meta.yaml");
        if let Some(bytes) = platform::read_if_exists(&path)? {
            let text = String::from_utf8_lossy(&bytes);
            let version = text.lines().find_map(|line| line.strip_prefix("version:"));
            let version = version.map(|rest| rest.split('#').next().unwrap_or_default().trim().parse::<u64>());
            return match version {
                Some(Ok(VERSION)) => Ok(()),
                Some(Ok(newer)) if newer > VERSION => Err(Error::BadState(format!(
                    "the state in {} has layout {newer}, which this version of maloko does not know; use a newer one",
                    self.directory.display()
                ))),
                _ => Err(Error::BadState(format!(
                    "{} does not say which layout the state has; it should be the line `version: {VERSION}`",
                    path.display()
                ))),
            };
        }
        let has_old_stacks = entries(&self.root.join("stacks"))?.iter().any(|entry| is_stack_file(entry).is_some());
        if has_old_stacks {
            return Err(Error::BadState(format!(
                "the state in {} has the old layout without projects; upgrade it with `pulumi state upgrade` first",
                self.directory.display()
            )));
        }
        Ok(())
    }

    /// Makes the store's own directory and version file, if they are missing.
    pub(super) fn prepare(&self) -> Result<()> {
        platform::create_private_dir(&self.root)?;
        let path = self.root.join("meta.yaml");
        if !path.exists() {
            platform::write_new(&path, format!("version: {VERSION}\n").as_bytes())?;
        }
        Ok(())
    }

    pub(super) fn list(&self) -> Result<Vec<StackName>> {
        let mut stacks = Vec::new();
        for project in entries(&self.root.join("stacks"))? {
            let Some(project_name) = project.file_name().and_then(|name| name.to_str()) else { continue };
            if !project.is_dir() {
                continue;
            }
            for file in entries(&project)? {
                // Files of other names are not stacks of ours.
                stacks.extend(is_stack_file(&file).and_then(|stack| StackName::new(project_name, &stack).ok()));
            }
        }
        stacks.sort();
        stacks.dedup();
        Ok(stacks)
    }

    pub(super) fn stack(&self, name: &StackName) -> StackFiles {
        let (project, stack) = (name.project(), name.stack());
        let stacks = self.root.join("stacks").join(project);
        let own = self.root.join("maloko").join(project).join(stack);
        StackFiles {
            name: name.clone(),
            history: self.root.join("history").join(project).join(stack),
            checkpoint: stacks.join(format!("{stack}.json")),
            backup: stacks.join(format!("{stack}.json.bak")),
            locks: self.root.join("locks").join(ORGANIZATION).join(project).join(stack),
            lease: own.join("lease"),
            journal: own.join("journal"),
            own,
        }
    }
}

impl StackFiles {
    fn compressed(&self) -> Option<PathBuf> {
        COMPRESSED.iter().map(|ending| self.checkpoint.with_extension(format!("json.{ending}"))).find(|p| p.exists())
    }

    /// Is there a stack, in whatever form?
    pub(super) fn exists(&self) -> Result<bool> {
        let exists = self.checkpoint.try_exists().map_err(|error| io_error("look for", &self.checkpoint, error))?;
        Ok(exists || self.compressed().is_some())
    }

    /// Fails unless there is a stack that we can read.
    pub(super) fn require(&self) -> Result<()> {
        if self.checkpoint.try_exists().map_err(|error| io_error("look for", &self.checkpoint, error))? {
            return Ok(());
        }
        Err(self.missing())
    }

    fn missing(&self) -> Error {
        match self.compressed() {
            Some(path) => Error::BadState(format!(
                "the stack file {} is compressed, which maloko does not support; unset PULUMI_DIY_BACKEND_GZIP and let \
                 `pulumi stack export` and `pulumi stack import` write it anew",
                path.display()
            )),
            None => Error::NoStack { stack: self.name.stack().to_owned() },
        }
    }

    /// Writes the first checkpoint; false when there is one already.
    pub(super) fn create(&self, checkpoint: &[u8]) -> Result<bool> {
        if let Some(directory) = self.checkpoint.parent() {
            platform::create_private_dir(directory)?;
        }
        platform::write_new(&self.checkpoint, checkpoint)
    }

    pub(super) fn load(&self) -> Result<StoredStack> {
        let mut journal = platform::read_if_exists(&self.journal)?;
        for _ in 0..READ_ATTEMPTS {
            let checkpoint = platform::read_if_exists(&self.checkpoint)?.ok_or_else(|| self.missing())?;
            // A run that is under way may fold its journal between the two reads; then they do not belong together.
            let again = platform::read_if_exists(&self.journal)?;
            let belongs = match (&journal, &again) {
                (None, None) => true,
                (Some(first), Some(second)) => second.starts_with(first),
                _ => false,
            };
            if belongs {
                return Ok(StoredStack {
                    checkpoint,
                    checkpoint_place: self.checkpoint.display().to_string(),
                    journal,
                    journal_place: self.journal.display().to_string(),
                });
            }
            journal = again;
        }
        Err(Error::Locked(format!(
            "the stack '{}' is being changed all the time; run the command again when that is over",
            self.name.stack()
        )))
    }

    /// Replaces the checkpoint and keeps the one before.
    pub(super) fn replace(&self, checkpoint: &[u8]) -> Result<()> {
        platform::keep_backup(&self.checkpoint, &self.backup)?;
        platform::write_atomically(&self.checkpoint, checkpoint)?;
        // Pulumi keeps a checksum beside the file, which would now be wrong and may be absent.
        platform::remove_if_exists(&self.checkpoint.with_extension("json.attrs"))?;
        Ok(())
    }

    /// Removes the stack, its history, tags and journal; the checkpoint stays as the backup.
    pub(super) fn remove(&self) -> Result<()> {
        fs::rename(&self.checkpoint, &self.backup).map_err(|error| io_error("remove", &self.checkpoint, error))?;
        platform::remove_if_exists(&self.checkpoint.with_extension("json.attrs"))?;
        platform::remove_if_exists(&self.checkpoint.with_extension("pulumi-tags"))?;
        platform::remove_if_exists(&self.journal)?;
        match fs::remove_dir_all(&self.history) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("remove", &self.history, error)),
            _ => Ok(()),
        }
    }
}

/// What is in a directory, sorted; nothing when there is none.
pub(super) fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let read = match fs::read_dir(directory) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("read the directory", directory, error)),
    };
    let mut paths = read
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(|error| io_error("read the directory", directory, error))?;
    paths.sort();
    Ok(paths)
}

/// The stack's name, if this is a stack file.
fn is_stack_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let plain = COMPRESSED.iter().find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.')).unwrap_or(name);
    plain.strip_suffix(".json").map(str::to_owned)
}
