//! Disks that fail: at one operation, from one operation on, or when they are full.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use maloko_core::environment::Environment;
use maloko_core::environment::{FileKind, Files, LockedFile, OpenFile, OpenMode, Stamp};

/// What goes wrong, and when.
#[derive(Clone, Copy, Debug)]
pub struct FaultSchedule {
    /// The number of the operation that fails, from 0.
    pub at: u64,
    /// All after it fail as well.
    pub for_good: bool,
    /// What it fails with.
    pub errno: i32,
}

/// Counts the operations that change the disk, and lets some fail. With `space`, writing takes from it, and reserving too.
#[derive(Clone)]
pub struct Failing {
    inner: Arc<dyn Files>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    plan: Mutex<Option<FaultSchedule>>,
    done: AtomicU64,
    space: Mutex<Option<u64>>,
}

impl Failing {
    /// The machine's disks, which do not fail yet.
    pub fn new() -> Self {
        Self { inner: Environment::system().files, state: Arc::default() }
    }

    /// The machine's environment with these disks.
    pub fn environment(&self) -> Environment {
        Environment { files: Arc::new(self.clone()), ..Environment::system() }
    }

    /// Begins to count from 0.
    pub fn plan(&self, plan: Option<FaultSchedule>) {
        *self.state.plan.lock().unwrap() = plan;
        self.state.done.store(0, Ordering::SeqCst);
    }

    /// How many operations there were since the last plan.
    pub fn done(&self) -> u64 {
        self.state.done.load(Ordering::SeqCst)
    }

    /// From now on, there is room for so many bytes; `None`: without end.
    pub fn leave(&self, space: Option<u64>) {
        *self.state.space.lock().unwrap() = space;
    }

    fn step(&self) -> io::Result<()> {
        step(&self.state)
    }
}

fn step(state: &State) -> io::Result<()> {
    let number = state.done.fetch_add(1, Ordering::SeqCst);
    match *state.plan.lock().unwrap() {
        Some(plan) if number == plan.at || (plan.for_good && number > plan.at) => {
            Err(io::Error::from_raw_os_error(plan.errno))
        }
        _ => Ok(()),
    }
}

fn take(state: &State, bytes: u64) -> io::Result<()> {
    if let Some(space) = &mut *state.space.lock().unwrap() {
        *space = space.checked_sub(bytes).ok_or(io::ErrorKind::StorageFull)?;
    }
    Ok(())
}

struct FailingFile {
    inner: Box<dyn OpenFile>,
    state: Arc<State>,
    reserved: u64,
}

impl OpenFile for FailingFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        step(&self.state)?;
        let length = bytes.len() as u64;
        let paid = length.min(self.reserved);
        if let Err(full) = take(&self.state, length - paid) {
            // As a real disk does, it takes what fits.
            self.inner.write_all(&bytes[..bytes.len() / 3])?;
            return Err(full);
        }
        self.reserved -= paid;
        self.inner.write_all(bytes)
    }

    fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        step(&self.state)?;
        let more = bytes.saturating_sub(self.reserved);
        take(&self.state, more)?;
        self.reserved += more;
        Ok(())
    }

    fn sync_data(&mut self) -> io::Result<()> {
        step(&self.state)?;
        self.inner.sync_data()
    }

    fn sync_all(&mut self) -> io::Result<()> {
        step(&self.state)?;
        self.inner.sync_all()
    }

    fn length(&self) -> io::Result<u64> {
        self.inner.length()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        step(&self.state)?;
        self.inner.truncate(length)
    }
}

struct FailingLock {
    inner: Box<dyn LockedFile>,
    state: Arc<State>,
}

impl LockedFile for FailingLock {
    fn read(&mut self) -> io::Result<String> {
        self.inner.read()
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        step(&self.state)?;
        self.inner.write(text)
    }

    fn sync(&mut self) -> io::Result<()> {
        step(&self.state)?;
        self.inner.sync()
    }

    fn is_current(&self) -> io::Result<bool> {
        self.inner.is_current()
    }
}

impl Files for Failing {
    fn below(&self, root: &Path) -> Arc<dyn Files> {
        Arc::new(Self { inner: self.inner.below(root), state: Arc::clone(&self.state) })
    }

    fn like(&self, model: &Path) -> Arc<dyn Files> {
        Arc::new(Self { inner: self.inner.like(model), state: Arc::clone(&self.state) })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.inner.read(path)
    }

    fn kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        self.inner.kind(path)
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        self.inner.stamp(path)
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner.entries(directory)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.make_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.sync_directory(path)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        self.step()?;
        let inner = self.inner.open(path, mode)?;
        Ok(Box::new(FailingFile { inner, state: Arc::clone(&self.state), reserved: 0 }))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.rename_new(from, to)
    }

    fn link(&self, path: &Path, another: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.link(path, another)
    }

    fn is_one_file(&self, path: &Path, another: &Path) -> io::Result<bool> {
        self.inner.is_one_file(path, another)
    }

    fn take_permissions(&self, path: &Path, of: &Path) -> io::Result<()> {
        self.step()?;
        self.inner.take_permissions(path, of)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockedFile>>> {
        self.step()?;
        let inner = self.inner.try_lock(path)?;
        Ok(inner.map(|inner| Box::new(FailingLock { inner, state: Arc::clone(&self.state) }) as Box<dyn LockedFile>))
    }

    fn scratch_name(&self) -> String {
        self.inner.scratch_name()
    }
}
