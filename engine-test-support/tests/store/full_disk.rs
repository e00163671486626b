//! Disks that are really full, and limits on the size of files (P4 of docs/internals/reliability.md): the same promise as in `disks`, kept by the system and
//! not by a disk that pretends.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use futures::executor::block_on;
use maloko_core::ResourceState;
use maloko_core::environment::Environment;
use maloko_core::state::{Change, Crypter, PendingKind, PendingOperation, Session, Snapshot, StackName, create_stack};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::disks::{known, open, put};
use maloko_test_support::stories::{self, options, provider, resource, stack};

const PART: &str = "STORE_FULL_DISK";
const DIRECTORY: &str = "STORE_FULL_DISK_DIRECTORY";
const SAYS: &str = "part: ";
/// So many calls are under way at a time.
const AT_ONCE: u32 = 3;
/// What each of them leads to, in bytes: less than the room that is kept for it.
const OUTCOME: usize = 20_000;

/// How the disk gets well again.
#[derive(Clone, Copy)]
enum Cure {
    /// The file system is made larger.
    Larger,
    /// The limit on the size of files is raised.
    NoLimit,
}

impl Cure {
    fn apply(self, directory: &Path) {
        match self {
            Self::Larger => {
                let mount = Command::new("mount").args(["-o", "remount,size=64m"]).arg(directory).status().unwrap();
                assert!(mount.success());
            }
            Self::NoLimit => {
                let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
                setrlimit(Resource::Fsize, Rlimit { current: maximum, maximum }).unwrap();
            }
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Larger => "free some space",
            Self::NoLimit => "raise the limit on the size of files",
        }
    }
}

/// A stack with one resource.
fn prepare(directory: &Path, crypter: &Crypter) -> maloko_core::Result<()> {
    let backend = open(directory, Environment::system());
    for name in [StackName::new("shop", "other").unwrap(), stack()] {
        block_on(create_stack(&backend, &name, crypter, &Environment::system()))?;
    }
    let session = block_on(Session::open(&backend, &stack(), options(crypter)))?;
    block_on(
        session.compact(Snapshot { resources: vec![provider(), resource("old", 1.0).into()], ..Snapshot::default() }),
    )?;
    Ok(())
}

fn begin(session: &Session, number: u32) -> maloko_core::Result<()> {
    let state = Arc::new(resource(&format!("r{number}"), 1.0));
    let pending = PendingOperation { resource: state, kind: PendingKind::Creating };
    block_on(session.append(vec![Change::Begin { operation: number, pending, attempt: None }]))
}

/// Makes resources until there is no room for another, and sees that nothing is lost of them. Gives how many were made.
fn fill(directory: &Path, cure: Cure) -> usize {
    let crypter = stories::crypter();
    if let Err(error) = prepare(directory, &crypter) {
        // Not even the stack fits: that is said, and goes well as soon as there is room.
        assert!(error.to_string().contains(cure.advice()), "{error}");
        cure.apply(directory);
        let backend = open(directory, Environment::system());
        for name in [StackName::new("shop", "other").unwrap(), stack()] {
            // One of them may have been made before the disk was full.
            drop(block_on(create_stack(&backend, &name, &crypter, &Environment::system())));
        }
        assert_eq!(known(directory, &crypter), (BTreeSet::new(), BTreeSet::new()));
        return 0;
    }
    let backend = open(directory, Environment::system());
    let session = block_on(Session::open(&backend, &stack(), options(&crypter))).unwrap();
    let (mut made, mut refused) = (BTreeSet::from(["old".to_owned()]), None);
    for first in (2..).step_by(AT_ONCE as usize) {
        let mut under_way = Vec::new();
        for number in first..first + AT_ONCE {
            match begin(&session, number) {
                Ok(()) => under_way.push(number),
                Err(error) => {
                    refused = Some(error.to_string());
                    break;
                }
            }
        }
        for number in under_way {
            let text = "x".repeat(OUTCOME).as_str().into();
            let state = ResourceState {
                outputs: Some(Arc::new([("text".to_owned(), text)].into())),
                ..resource(&format!("r{number}"), 1.0)
            };
            made.insert(state.urn.name().to_owned());
            let outcome = [Change::End { operation: number }, put(number, state.into())];
            block_on(session.append(outcome.into())).unwrap();
        }
        if refused.is_some() {
            break;
        }
    }
    let refused = refused.unwrap();
    assert!(refused.contains(cure.advice()) && refused.contains("not begun"), "{refused}");
    assert!(refused.contains(&directory.display().to_string()), "which file? {refused}");
    // Whether the state fits depends on the disk; the journal holds all of it.
    drop(session);
    cure.apply(directory);
    let mut resources = known(directory, &crypter);
    resources.0.retain(|name| name.starts_with('r') || name == "old");
    let number = made.len() - 1;
    assert_eq!(resources, (made, BTreeSet::new()));
    number
}

/// The part that this process plays, if any.
fn play() -> bool {
    let Ok(part) = std::env::var(PART) else { return false };
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    let made = fill(&directory, if part == "tmpfs" { Cure::Larger } else { Cure::NoLimit });
    println!("{SAYS}{made}");
    true
}

/// Runs this program once more under a shell that prepares the disk; `script` ends with running it.
fn run(shell: &[&str], script: &str, part: &str, test: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    Command::new(shell[0])
        .args(&shell[1..])
        .args([script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(PART, part)
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap()
}

/// How many resources were made until the disk was full.
fn made(output: &Output) -> usize {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said.lines().find_map(|line| line.rsplit_once(SAYS)?.1.parse().ok()).unwrap()
}

/// The size in blocks of 512 bytes; the signal that comes with the error would end the process.
fn limited(blocks: usize, test: &str) -> usize {
    let script = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$@\"");
    made(&run(&["sh", "-c"], &script, "limit", test))
}

#[test]
fn under_a_limit_on_the_size_of_files_nothing_is_lost() {
    const TEST: &str = "full_disk::under_a_limit_on_the_size_of_files_nothing_is_lost";
    if play() {
        return;
    }
    let made = [64, 512, 1024, 2048].map(|blocks| limited(blocks, TEST));
    assert!(made.is_sorted() && made[3] > made[1], "{made:?}");
}

/// Where nobody may mount a file system, a limit on the size of files takes its place.
#[test]
fn on_a_disk_that_is_really_full_nothing_is_lost() {
    const TEST: &str = "full_disk::on_a_disk_that_is_really_full_nothing_is_lost";
    if play() {
        return;
    }
    let may = Command::new("unshare").args(["-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).output();
    let why = match may {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = why {
        println!("no file system of its own can be had here ({}); with a limit on the size of files:", why.trim());
        assert!(limited(1024, TEST) > 0);
        return;
    }
    let made = [16, 64, 256, 1024].map(|kibibytes| {
        let script = format!("mount -t tmpfs -o size={kibibytes}k tmpfs \"${DIRECTORY}\" && exec \"$@\"");
        made(&run(&["unshare", "-rm", "sh", "-c"], &script, "tmpfs", TEST))
    });
    assert!(made.is_sorted() && made[3] > 1, "{made:?}");
}
