//! A disk that keeps no more than it has to: without a sync a power cut may take any sector that was written and any
//! name that was given, whatever came after it.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maloko_core::environment::{FileKind, Files, LockedFile, OpenFile, OpenMode, Stamp};

use maloko_test_support::random::Random;

use crate::world::{Fate, World, digest};

/// What a disk writes at once, in bytes.
const SECTOR: usize = 512;

#[derive(Clone, Default)]
struct Node {
    directory: bool,
    content: Vec<u8>,
    /// The content as a power cut leaves it at least.
    durable: Vec<u8>,
}

/// A change of names that is made in one step: each name with what it leads to from then on.
#[derive(Clone)]
struct Renaming {
    directory: PathBuf,
    names: Vec<(PathBuf, Option<usize>)>,
}

/// What is on a disk.
#[derive(Clone, Default)]
pub struct Volume {
    nodes: Vec<Node>,
    names: BTreeMap<PathBuf, usize>,
    durable: BTreeMap<PathBuf, usize>,
    unsynced: Vec<Renaming>,
    /// Nodes that are locked, and the processes that hold the locks.
    locks: BTreeMap<usize, usize>,
    scratch: u64,
}

impl Volume {
    /// An empty disk with these directories.
    #[must_use]
    pub fn with_directory(path: &Path) -> Self {
        let mut volume = Self::default();
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        for directory in above {
            volume.nodes.push(Node { directory: true, ..Node::default() });
            volume.names.insert(directory.to_owned(), volume.nodes.len() - 1);
        }
        volume.durable.clone_from(&volume.names);
        volume
    }

    /// The locks of a process are gone with it.
    pub fn process_ended(&mut self, process: usize) {
        self.locks.retain(|_, holder| *holder != process);
    }

    /// The machine loses its power: of what was not synced, chance decides what is left.
    pub fn power_cut(&mut self, random: &mut Random) {
        // Some cuts take all or nothing of the names, most take some.
        let kept = [0, 30, 50, 80, 100][random.below(5)];
        for renaming in std::mem::take(&mut self.unsynced) {
            if random.percent(kept) {
                apply(&mut self.durable, &renaming.names);
            }
        }
        // In the order of paths, a directory comes before what is in it.
        let mut reachable = BTreeMap::new();
        for (path, node) in std::mem::take(&mut self.durable) {
            if path.parent().is_none_or(|above| reachable.contains_key(above)) {
                reachable.insert(path, node);
            }
        }
        self.durable.clone_from(&reachable);
        self.names = reachable;
        for node in &mut self.nodes {
            node.content = torn(&node.durable, &node.content, random);
            node.durable.clone_from(&node.content);
        }
        self.locks.clear();
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn node(&mut self, node: usize) -> io::Result<&mut Node> {
        self.nodes.get_mut(node).ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Changes names; they have to be in one directory.
    fn rename(&mut self, names: Vec<(PathBuf, Option<usize>)>) -> io::Result<()> {
        let directory = names.first().and_then(|(path, _)| path.parent()).unwrap_or(Path::new("/")).to_owned();
        match self.find(&directory).map(|node| self.nodes[node].directory) {
            Ok(true) => {}
            Ok(false) => return Err(ErrorKind::NotADirectory.into()),
            Err(error) => return Err(error),
        }
        apply(&mut self.names, &names);
        self.unsynced.push(Renaming { directory, names });
        Ok(())
    }

    fn make(&mut self, path: &Path, directory: bool) -> io::Result<usize> {
        if self.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.nodes.push(Node { directory, ..Node::default() });
        let node = self.nodes.len() - 1;
        self.rename(vec![(path.to_owned(), Some(node))])?;
        Ok(node)
    }

    fn is_empty(&self, directory: &Path) -> bool {
        !self.names.keys().any(|path| path.parent() == Some(directory))
    }
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, changes: &[(PathBuf, Option<usize>)]) {
    for (path, node) in changes {
        match node {
            Some(node) => drop(names.insert(path.clone(), *node)),
            None => drop(names.remove(path)),
        }
    }
}

/// What is left of a file: each sector as it was or as it became, and one of the lengths that it had or could have had.
fn torn(durable: &[u8], content: &[u8], random: &mut Random) -> Vec<u8> {
    if durable == content {
        return content.to_vec();
    }
    let (short, long) = (durable.len().min(content.len()), durable.len().max(content.len()));
    let between = short + SECTOR * random.below((long - short) / SECTOR + 1);
    let length = [durable.len(), content.len(), between.min(long)][random.below(3)];
    let mut left = vec![0; length];
    for (index, sector) in left.chunks_mut(SECTOR).enumerate() {
        let source = if random.percent(50) { content } else { durable };
        let source = source.get(index * SECTOR..).unwrap_or_default();
        let there = source.len().min(sector.len());
        sector[..there].copy_from_slice(&source[..there]);
    }
    left
}

/// A disk as one process sees it.
#[derive(Clone)]
pub struct Disk {
    world: World,
    process: usize,
    volume: Arc<Mutex<Volume>>,
}

impl Disk {
    /// The disk `volume` as a process of the world sees it.
    #[must_use]
    pub fn new(world: World, process: usize, volume: Arc<Mutex<Volume>>) -> Self {
        Self { world, process, volume }
    }

    /// Looks at the disk.
    fn look(&self) -> io::Result<MutexGuard<'_, Volume>> {
        if self.world.is_alive(self.process) { Ok(self.unchecked()) } else { Err(gone()) }
    }

    /// Changes something on the disk, unless the process dies before, or the disk fails.
    fn change(&self, what: &str, path: &Path) -> io::Result<MutexGuard<'_, Volume>> {
        match self.world.edge(self.process, &format!("{what} {}", path.display())) {
            Fate::Passes => Ok(self.unchecked()),
            Fate::Dies => Err(gone()),
            Fate::Fails(kind) => Err(kind.into()),
        }
    }

    fn unchecked(&self) -> MutexGuard<'_, Volume> {
        self.volume.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone() -> io::Error {
    io::Error::other("the process is gone")
}

impl Files for Disk {
    fn below(&self, _root: &Path) -> Arc<dyn Files> {
        Arc::new(self.clone())
    }

    fn like(&self, _model: &Path) -> Arc<dyn Files> {
        Arc::new(self.clone())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut volume = self.look()?;
        let node = volume.find(path)?;
        let node = volume.node(node)?;
        if node.directory { Err(ErrorKind::IsADirectory.into()) } else { Ok(node.content.clone()) }
    }

    fn kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        let mut volume = self.look()?;
        let Ok(node) = volume.find(path) else { return Ok(None) };
        Ok(Some(if volume.node(node)?.directory { FileKind::Directory } else { FileKind::File }))
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        let mut volume = self.look()?;
        let Ok(node) = volume.find(path) else { return Ok(None) };
        let found = volume.node(node)?;
        // Each file is another node, and what is there is never written over in place: so that is its time.
        let (length, modified) = (found.content.len() as u64, i128::try_from(node).unwrap_or(i128::MAX));
        Ok((!found.directory).then_some(Stamp { length, modified }))
    }

    fn entries(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let volume = self.look()?;
        volume.find(directory)?;
        Ok(volume.names.keys().filter(|path| path.parent() == Some(directory)).cloned().collect())
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.change("make directory", path)?.make(path, true).map(drop)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let mut volume = self.change("remove directory", path)?;
        volume.find(path)?;
        if !volume.is_empty(path) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        volume.rename(vec![(path.to_owned(), None)])
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let mut volume = self.change("sync directory", path)?;
        volume.find(path)?;
        let (of_it, others) =
            std::mem::take(&mut volume.unsynced).into_iter().partition(|renaming| renaming.directory == path);
        volume.unsynced = others;
        let of_it: Vec<Renaming> = of_it;
        for renaming in of_it {
            apply(&mut volume.durable, &renaming.names);
        }
        Ok(())
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn OpenFile>> {
        let found = self.look()?.find(path);
        let node = match (mode, found) {
            (OpenMode::New, Ok(_)) => return Err(ErrorKind::AlreadyExists.into()),
            (OpenMode::Existing, Err(error)) => return Err(error),
            (OpenMode::Append | OpenMode::Existing, Ok(node)) => node,
            (OpenMode::New | OpenMode::Append, Err(_)) => self.change("make", path)?.make(path, false)?,
        };
        let at = if mode == OpenMode::Append { None } else { Some(0) };
        Ok(Box::new(SimulatedFile { disk: self.clone(), path: path.to_owned(), node, at }))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.look()?.find(path)?;
        self.change("remove", path)?.rename(vec![(path.to_owned(), None)])
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut volume = self.change("rename to", to)?;
        let node = volume.find(from)?;
        if from.parent() == to.parent() {
            return volume.rename(vec![(from.to_owned(), None), (to.to_owned(), Some(node))]);
        }
        volume.rename(vec![(to.to_owned(), Some(node))])?;
        volume.rename(vec![(from.to_owned(), None)])
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.look()?.find(to).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.rename(from, to)
    }

    fn link(&self, path: &Path, another: &Path) -> io::Result<()> {
        let mut volume = self.change("link", another)?;
        let node = volume.find(path)?;
        if volume.names.contains_key(another) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        volume.rename(vec![(another.to_owned(), Some(node))])
    }

    fn is_one_file(&self, path: &Path, another: &Path) -> io::Result<bool> {
        let volume = self.look()?;
        Ok(volume.find(path).ok().zip(volume.find(another).ok()).is_some_and(|(path, another)| path == another))
    }

    fn take_permissions(&self, path: &Path, _of: &Path) -> io::Result<()> {
        // There are no modes here: others have tests for them.
        self.look()?.find(path).map(drop)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockedFile>>> {
        let found = self.look()?.find(path);
        let node = match found {
            Ok(node) => node,
            Err(_) => self.change("make", path)?.make(path, false)?,
        };
        let mut volume = self.look()?;
        if volume.locks.contains_key(&node) {
            return Ok(None);
        }
        volume.locks.insert(node, self.process);
        Ok(Some(Box::new(Lock { disk: self.clone(), path: path.to_owned(), node })))
    }

    fn scratch_name(&self) -> String {
        let mut volume = self.unchecked();
        volume.scratch += 1;
        volume.scratch.to_string()
    }
}

struct SimulatedFile {
    disk: Disk,
    path: PathBuf,
    node: usize,
    /// Where the next write goes; `None`: to the end.
    at: Option<usize>,
}

impl SimulatedFile {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut volume = self.disk.unchecked();
        let node = volume.node(self.node)?;
        let at = self.at.unwrap_or(node.content.len());
        let end = at + bytes.len();
        if node.content.len() < end {
            node.content.resize(end, 0);
        }
        node.content[at..end].copy_from_slice(bytes);
        if self.at.is_some() {
            self.at = Some(end);
        }
        Ok(())
    }
}

impl OpenFile for SimulatedFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let was_alive = self.disk.world.is_alive(self.disk.process);
        let what = format!("write {} bytes ({:016x}) to", bytes.len(), digest(bytes));
        match self.disk.change(&what, &self.path).map(drop) {
            Ok(()) => self.put(bytes),
            Err(error) => {
                if was_alive {
                    // A write that is cut short has done a part of its work.
                    let part = self.disk.world.below(bytes.len() + 1);
                    self.put(&bytes[..part])?;
                }
                Err(error)
            }
        }
    }

    fn reserve(&mut self, _bytes: u64) -> io::Result<()> {
        self.disk.look().map(drop)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut volume = self.disk.change("sync", &self.path)?;
        let node = volume.node(self.node)?;
        node.durable.clone_from(&node.content);
        Ok(())
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.look()?.node(self.node)?.content.len() as u64)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut volume = self.disk.change("truncate", &self.path)?;
        let length = usize::try_from(length).map_err(|_| io::Error::from(ErrorKind::FileTooLarge))?;
        volume.node(self.node)?.content.resize(length, 0);
        Ok(())
    }
}

struct Lock {
    disk: Disk,
    path: PathBuf,
    node: usize,
}

impl LockedFile for Lock {
    fn read(&mut self) -> io::Result<String> {
        let mut volume = self.disk.look()?;
        Ok(String::from_utf8_lossy(&volume.node(self.node)?.content).into_owned())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let mut volume = self.disk.change("write lease", &self.path)?;
        let node = volume.node(self.node)?;
        let length = node.content.len().max(text.len());
        node.content.resize(length, 0);
        node.content[..text.len()].copy_from_slice(text.as_bytes());
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut volume = self.disk.change("sync lease", &self.path)?;
        let node = volume.node(self.node)?;
        node.durable.clone_from(&node.content);
        Ok(())
    }

    fn is_current(&self) -> io::Result<bool> {
        Ok(self.disk.look()?.find(&self.path).is_ok_and(|node| node == self.node))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.disk.world.is_alive(self.disk.process) {
            self.disk.unchecked().locks.remove(&self.node);
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
