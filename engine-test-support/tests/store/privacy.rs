//! Files are for their owner only, and nothing leads out of the store (P15).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use futures::executor::block_on;
use maloko_core::environment::Environment;
use maloko_core::state::{
    Backend, Change, Crypter, LocalBackend, Session, Snapshot, create_stack, read_generations, read_stack,
};
use rustix::fs::Mode;

use maloko_test_support::stories::{self, options, provider, resource, stack};

fn open(directory: &Path) -> LocalBackend {
    LocalBackend::open(directory, Environment::system()).unwrap()
}

/// All that is done to a stack, one thing after the other; the first error ends it.
fn everything(directory: &Path, crypter: &Crypter) -> maloko_core::Result<()> {
    let backend = LocalBackend::open(directory, Environment::system())?;
    block_on(read_stack(&backend, &stack(), true))?;
    for number in 0..5 {
        let session = block_on(Session::open(&backend, &stack(), options(crypter)))?;
        let next = u32::try_from(session.snapshot().resources.len()).unwrap();
        // The newest generation has another number each time, which the resources have not.
        let newest = block_on(backend.generations(&stack()))?.first().map_or(0, |newest| newest.number);
        let state = std::sync::Arc::new(resource(&format!("r{newest}"), 1.0));
        block_on(session.append(vec![Change::Put { number: next, resource: state.clone(), in_place_of: None }]))?;
        let mut resources = session.snapshot().resources.clone();
        resources.push(state);
        block_on(session.compact(Snapshot { resources, ..Snapshot::default() }))?;
        block_on(backend.add_history(&stack(), number, b"{}", 50))?;
    }
    block_on(read_generations(&backend, &stack()))?;
    block_on(backend.history(&stack(), usize::MAX))?;
    let session = block_on(Session::open(&backend, &stack(), options(crypter)))?;
    block_on(session.append(vec![Change::Remove { number: 1 }]))?;
    block_on(session.abandon())?;
    block_on(backend.break_locks(&stack()))?;
    drop(block_on(Session::open(&backend, &stack(), options(crypter)))?);
    Ok(())
}

fn with_stack() -> (tempfile::TempDir, PathBuf, Crypter) {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    fs::create_dir(&store).unwrap();
    let crypter = stories::crypter();
    let backend = open(&store);
    block_on(create_stack(&backend, &stack(), &crypter, &Environment::system())).unwrap();
    let session = block_on(Session::open(&backend, &stack(), options(&crypter))).unwrap();
    block_on(
        session.compact(Snapshot { resources: vec![provider(), resource("old", 1.0).into()], ..Snapshot::default() }),
    )
    .unwrap();
    (directory, store, crypter)
}

/// Everything below a directory, which is not in it; links are not followed.
fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

fn assert_modes(store: &Path, directories: u32, files: u32) {
    for path in below(&store.join(".pulumi")) {
        let found = path.symlink_metadata().unwrap();
        let expected = if found.is_dir() { directories } else { files };
        assert_eq!(found.permissions().mode() & 0o7777, expected, "{}", path.display());
    }
}

/// Held by who changes the umask, which all threads share.
static UMASK: Mutex<()> = Mutex::new(());

#[test]
pub(crate) fn everything_is_private_whatever_the_umask() {
    let _alone = UMASK.lock().unwrap_or_else(PoisonError::into_inner);
    let before = rustix::process::umask(Mode::empty());
    let (_directory, store, crypter) = with_stack();
    everything(&store, &crypter).unwrap();
    rustix::process::umask(before);
    assert_modes(&store, 0o700, 0o600);
}

/// A store that a team shares, as another tool made it or somebody opened it.
#[test]
fn what_exists_keeps_its_mode_and_new_files_beside_it_take_its_mode() {
    for (directories, files) in [(0o2770, 0o660), (0o2775, 0o664), (0o755, 0o644), (0o755, 0o600)] {
        let (_directory, store, crypter) = with_stack();
        for path in below(&store.join(".pulumi")).into_iter().chain([store.join(".pulumi")]) {
            let mode = if path.is_dir() { directories } else { files };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        everything(&store, &crypter).unwrap();
        assert_modes(&store, directories, files);
    }
}

/// Each file and each directory of a store in turn is a link to one outside, which looks just like it.
#[test]
pub(crate) fn a_link_anywhere_in_the_store_leads_nowhere() {
    let (directory, store, crypter) = with_stack();
    everything(&store, &crypter).unwrap();
    let names: Vec<PathBuf> =
        below(&store).into_iter().map(|path| path.strip_prefix(&store).unwrap().to_owned()).collect();
    drop(directory);
    assert!(names.len() > 20, "{names:?}");
    let mut refused = 0;
    for name in names {
        let (directory, store, crypter) = with_stack();
        everything(&store, &crypter).unwrap();
        let (path, outside) = (store.join(&name), directory.path().join("outside"));
        if !path.exists() {
            // Generations and entries of the history have other names each time.
            continue;
        }
        fs::rename(&path, &outside).unwrap();
        symlink(&outside, &path).unwrap();
        let content = || -> Vec<_> {
            let all = if outside.is_dir() { below(&outside) } else { vec![outside.clone()] };
            all.into_iter().map(|path| (fs::read(&path).ok(), path)).collect()
        };
        let before = content();
        match everything(&store, &crypter) {
            Ok(()) => {}
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("is a symbolic link"), "{}: {message}", name.display());
                refused += 1;
            }
        }
        assert_eq!(content(), before, "{} led outside", name.display());
    }
    assert!(refused > 8, "{refused}");
}

/// A directory of the store is swapped for a link while a run is going on.
#[test]
pub(crate) fn a_directory_that_is_swapped_for_a_link_in_the_middle_of_a_run_leads_nowhere() {
    for name in [".pulumi", ".pulumi/stacks", ".pulumi/stacks/shop", ".pulumi/maloko/shop/dev", ".pulumi/maloko"] {
        let (directory, store, crypter) = with_stack();
        let backend = open(&store);
        let session = block_on(Session::open(&backend, &stack(), options(&crypter))).unwrap();
        let put =
            |number| Change::Put { number, resource: resource(&format!("r{number}"), 1.0).into(), in_place_of: None };
        block_on(session.append(vec![put(2)])).unwrap();
        let (path, outside, aside) =
            (store.join(name), directory.path().join("outside"), directory.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, &path).unwrap();
        // It may say that the lease is lost, or that there is a link; it must not write.
        drop(block_on(session.append(vec![put(3)])));
        assert!(
            block_on(session.compact(Snapshot { resources: vec![provider()], ..Snapshot::default() })).is_err(),
            "{name}"
        );
        drop(session);
        assert_eq!(below(&outside), Vec::<PathBuf>::new(), "{name}");
    }
}
