//! Where things are.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::environment::files::{self, FileKind, Files, io_error};
use crate::error::{Error, Result};
use crate::state::backend::{StackFilter, StoredStack};
use crate::state::name::{ORGANIZATION, StackName};

/// The only version of the layout.
const VERSION: u64 = 1;
/// How often a stack is read that changes meanwhile.
const READ_ATTEMPTS: usize = 10;
/// Endings of stack files that Pulumi compressed.
const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// A whole store.
#[derive(Clone)]
pub(super) struct Layout {
    disk: Arc<dyn Files>,
    directory: PathBuf,
    root: PathBuf,
}

/// The files of one stack.
#[derive(Clone)]
pub(super) struct StackFiles {
    pub(super) disk: Arc<dyn Files>,
    pub(super) name: StackName,
    /// The directory of past operations.
    pub(super) history: PathBuf,
    pub(super) checkpoint: PathBuf,
    pub(super) backup: PathBuf,
    /// Pulumi's tags of the stack.
    pub(super) tags: PathBuf,
    /// The directory of the lock files.
    pub(super) locks: PathBuf,
    /// Our own directory.
    pub(super) own: PathBuf,
    pub(super) lease: PathBuf,
    /// Locked for the moments in which the stack's files change hands or places.
    pub(super) gate: PathBuf,
    pub(super) journal: PathBuf,
    pub(super) seal: PathBuf,
    /// The summary of the checkpoint.
    pub(super) summary: PathBuf,
    /// The directory of former checkpoints.
    pub(super) generations: PathBuf,
    /// There while the stack is being removed.
    pub(super) removed: PathBuf,
}

impl Layout {
    pub(super) fn new(disk: Arc<dyn Files>, directory: &Path) -> Self {
        Self { disk, directory: directory.to_owned(), root: directory.join(".pulumi") }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Refuses a store that this version does not understand.
    pub(super) fn check_version(&self) -> Result<()> {
        let path = self.root.join("meta.yaml");
        if let Some(bytes) = files::read_if_exists(&*self.disk, &path)? {
            let text = String::from_utf8_lossy(&bytes);
            let version = text.lines().find_map(|line| line.strip_prefix("version:"));
            let version = version.map(|rest| rest.split('#').next().unwrap_or_default().trim().parse::<u64>());
            return match version {
                Some(Ok(VERSION)) => Ok(()),
                Some(Ok(newer)) if newer > VERSION => Err(Error::BadState(format!(
                    "the state in {} has layout {newer}, which this version of maloko does not know; use a newer one",
                    self.directory.display()
                ).into())),
                _ => Err(Error::BadState(format!(
                    "{} does not say which layout the state has; it should be the line `version: {VERSION}`",
                    path.display()
                ).into())),
            };
        }
        let has_old_stacks =
            files::entries(&*self.disk, &self.root.join("stacks"))?.iter().any(|entry| is_stack_file(entry).is_some());
        if has_old_stacks {
            return Err(Error::BadState(
                format!(
                    "the state in {} has the old layout without projects; upgrade it with `pulumi state upgrade` first",
                    self.directory.display()
                )
                .into(),
            ));
        }
        Ok(())
    }

    /// Makes the store's own directory and version file, if they are missing.
    pub(super) fn prepare(&self) -> Result<()> {
        files::create_dir(&*self.disk, &self.root)?;
        let path = self.root.join("meta.yaml");
        if !files::exists(&*self.disk, &path)? {
            files::write_new(&*self.disk, &path, format!("version: {VERSION}\n").as_bytes())?;
        }
        Ok(())
    }

    /// Those stacks that are wanted, sorted by name.
    pub(super) fn list(&self, wanted: &StackFilter) -> Result<Vec<StackName>> {
        let mut stacks = BTreeSet::new();
        for project in self.projects("stacks", wanted)? {
            let Some(project_name) = project.file_name().and_then(|name| name.to_str()) else { continue };
            for file in files::entries(&*self.disk, &project)? {
                // Files of other names are not stacks of ours.
                let stack = is_stack_file(&file).and_then(|stack| StackName::new(project_name, &stack).ok());
                stacks.extend(stack.filter(|stack| wanted.has(stack)));
            }
        }
        for missing in self.list_missing(wanted, &stacks)? {
            stacks.insert(missing);
        }
        Ok(stacks.into_iter().collect())
    }

    /// The directories of those projects that are wanted.
    fn projects(&self, below: &str, wanted: &StackFilter) -> Result<Vec<PathBuf>> {
        let mut projects = files::entries(&*self.disk, &self.root.join(below))?;
        let is_wanted = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| wanted.has_project(name))
        };
        projects.retain(|path| is_wanted(path) && self.is_directory(path));
        Ok(projects)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.disk.kind(path).is_ok_and(|kind| kind == Some(FileKind::Directory))
    }

    /// Stacks whose file is missing although something else of them is there.
    fn list_missing(&self, wanted: &StackFilter, known: &BTreeSet<StackName>) -> Result<Vec<StackName>> {
        let mut missing = Vec::new();
        for project in self.projects("maloko", wanted)? {
            for own in files::entries(&*self.disk, &project)? {
                let [Some(project), Some(stack)] = [&project, &own].map(|path| path.file_name()?.to_str()) else {
                    continue;
                };
                let Ok(name) = StackName::new(project, stack) else { continue };
                if wanted.has(&name) && !known.contains(&name) && self.stack(&name).remains()? {
                    missing.push(name);
                }
            }
        }
        Ok(missing)
    }

    pub(super) fn stack(&self, name: &StackName) -> StackFiles {
        let (project, stack) = (name.project(), name.stack());
        let stacks = self.root.join("stacks").join(project);
        let own = self.root.join("maloko").join(project).join(stack);
        let checkpoint = stacks.join(format!("{stack}.json"));
        StackFiles {
            disk: self.disk.like(&checkpoint),
            name: name.clone(),
            history: self.root.join("history").join(project).join(stack),
            checkpoint,
            backup: stacks.join(format!("{stack}.json.bak")),
            tags: stacks.join(format!("{stack}.pulumi-tags")),
            locks: self.root.join("locks").join(ORGANIZATION).join(project).join(stack),
            lease: own.join("lease"),
            gate: own.join("gate"),
            journal: own.join("journal"),
            seal: own.join("seal"),
            summary: own.join("summary"),
            generations: own.join("generations"),
            removed: own.join("removed"),
            own,
        }
    }
}

impl StackFiles {
    fn compressed(&self) -> Option<PathBuf> {
        let mut paths = COMPRESSED.iter().map(|ending| self.checkpoint.with_extension(format!("json.{ending}")));
        paths.find(|path| files::exists(&*self.disk, path).unwrap_or(false))
    }

    /// Is there a stack, in whatever form?
    pub(super) fn exists(&self) -> Result<bool> {
        Ok(files::exists(&*self.disk, &self.checkpoint)? || self.compressed().is_some() || self.remains()?)
    }

    /// Is something left that a missing checkpoint can be brought back from? Of a stack that maloko removed there is neither
    /// lease nor seal, so its former checkpoints do not count.
    pub(super) fn remains(&self) -> Result<bool> {
        let disk = &*self.disk;
        if files::exists(disk, &self.removed)? {
            return Ok(false);
        }
        if !files::exists(disk, &self.lease)? {
            return files::exists(disk, &self.seal);
        }
        Ok(files::exists(disk, &self.journal)? || !files::entries(disk, &self.generations)?.is_empty())
    }

    /// Fails unless there is a stack that we can read.
    pub(super) fn require(&self) -> Result<()> {
        if files::exists(&*self.disk, &self.checkpoint)? || (self.compressed().is_none() && self.remains()?) {
            return Ok(());
        }
        Err(self.missing())
    }

    /// The checkpoint; no bytes at all if it is missing although there was one, which nobody can take for a state.
    fn checkpoint(&self) -> Result<Vec<u8>> {
        match files::read_if_exists(&*self.disk, &self.checkpoint)? {
            Some(checkpoint) => Ok(checkpoint),
            None => self.require().map(|()| Vec::new()),
        }
    }

    fn missing(&self) -> Error {
        match self.compressed() {
            Some(path) => Error::BadState(format!(
                "the stack file {} is compressed, which maloko does not support; unset PULUMI_DIY_BACKEND_GZIP and let \
                 `pulumi stack export` and `pulumi stack import` write it anew",
                path.display()
            ).into()),
            None => Error::NoStack { stack: self.name.stack().to_owned() },
        }
    }

    /// Writes the first checkpoint; false when there is one already.
    pub(super) fn create(&self, checkpoint: &[u8]) -> Result<bool> {
        if let Some(directory) = self.checkpoint.parent() {
            files::create_dir(&*self.disk, directory)?;
        }
        files::write_new(&*self.disk, &self.checkpoint, checkpoint)
    }

    pub(super) fn load(&self) -> Result<StoredStack> {
        let mut journal = files::read_if_exists(&*self.disk, &self.journal)?;
        for _ in 0..READ_ATTEMPTS {
            let checkpoint = self.checkpoint()?;
            // A run that is under way may compact its journal between the two reads; then they do not belong together.
            let again = files::read_if_exists(&*self.disk, &self.journal)?;
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
                    seal: files::read_if_exists(&*self.disk, &self.seal)?,
                });
            }
            journal = again;
        }
        Err(Error::Locked(
            format!(
                "the stack '{}' is being changed all the time; run the command again when that is over",
                self.name.stack()
            )
            .into(),
        ))
    }

    /// Writes the next checkpoint beside the present one. The name tells of which lease, so that two never meet.
    pub(super) fn stage(&self, checkpoint: &[u8], epoch: u64) -> Result<PathBuf> {
        files::stage(&*self.disk, &self.checkpoint, &format!("{epoch}.tmp"), checkpoint)
    }

    /// Removes what killed runs left behind of checkpoints that they were writing.
    pub(super) fn remove_staged(&self) -> Result<()> {
        let (Some(directory), Some(name)) = (self.checkpoint.parent(), self.checkpoint.file_name()) else {
            return Ok(());
        };
        let prefix = format!("{}.", name.to_string_lossy());
        for path in files::entries(&*self.disk, directory)? {
            let middle = path.file_name().and_then(|name| name.to_str()?.strip_prefix(&prefix)?.strip_suffix(".tmp"));
            if middle.is_some_and(|middle| middle.bytes().all(|byte| byte.is_ascii_digit())) {
                files::remove_if_exists(&*self.disk, &path)?;
            }
        }
        Ok(())
    }

    /// Puts the staged checkpoint in its place; the one before is the backup.
    pub(super) fn replace(&self, staged: &Path) -> Result<()> {
        files::keep_backup(&*self.disk, &self.checkpoint, &self.backup)?;
        files::put_in_place(&*self.disk, staged, &self.checkpoint)?;
        // Pulumi keeps a checksum beside the file, which would now be wrong and may be absent.
        files::remove_if_exists(&*self.disk, &self.checkpoint.with_extension("json.attrs"))?;
        Ok(())
    }

    /// Removes the stack, its history, tags and journal; the checkpoint stays as the backup.
    pub(super) fn remove(&self) -> Result<()> {
        // From here on a checkpoint that is missing was not lost.
        files::write_atomically(&*self.disk, &self.removed, b"")?;
        match self.disk.rename(&self.checkpoint, &self.backup) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("remove", &self.checkpoint, error));
            }
            _ => {}
        }
        // Where both names are of one file, as after a kill in the middle of a replacement, a rename changes nothing.
        files::remove_if_exists(&*self.disk, &self.checkpoint)?;
        self.remove_rest()
    }

    /// Ends a removal that was killed, if the checkpoint was gone by then; otherwise there was none.
    pub(super) fn settle_removal(&self) -> Result<()> {
        if !files::exists(&*self.disk, &self.removed)? {
            return Ok(());
        }
        if !files::exists(&*self.disk, &self.checkpoint)? {
            self.remove_rest()?;
        }
        files::remove_if_exists(&*self.disk, &self.removed).map(drop)
    }

    /// Removes what stands around a checkpoint; former ones stay.
    fn remove_rest(&self) -> Result<()> {
        files::remove_if_exists(&*self.disk, &self.checkpoint.with_extension("json.attrs"))?;
        files::remove_if_exists(&*self.disk, &self.tags)?;
        files::remove_if_exists(&*self.disk, &self.seal)?;
        files::remove_if_exists(&*self.disk, &self.summary)?;
        files::remove_flat_dir(&*self.disk, &self.history)?;
        // At the end: it may say that the stack has become another one.
        files::remove_if_exists(&*self.disk, &self.journal).map(drop)
    }
}

/// The stack's name, if this is a stack file.
fn is_stack_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let plain = COMPRESSED.iter().find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.')).unwrap_or(name);
    plain.strip_suffix(".json").map(str::to_owned)
}
