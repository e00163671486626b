#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;

use futures::executor::block_on;

use super::*;
use crate::environment::SystemFiles;
use crate::environment::files;
use crate::state::fixtures::{PULUMI_PYTHON, python_crypter, resource};
use crate::state::{Change, MIN_GENERATIONS, Session, SessionOptions, create_stack};

const EMPTY: &[u8] = br#"{"version":3,"checkpoint":{"stack":"organization/shop/dev"}}"#;

fn name() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

fn open(directory: &Path) -> LocalBackend {
    LocalBackend::open(directory, Environment::system()).unwrap()
}

fn with_stack() -> (tempfile::TempDir, LocalBackend) {
    let directory = tempfile::tempdir().unwrap();
    let backend = open(directory.path());
    block_on(backend.create(&name(), EMPTY)).unwrap();
    (directory, backend)
}

fn error_of<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.to_string(),
    }
}

fn files_below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for path in files::entries(&SystemFiles, &next).unwrap() {
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    let mut names: Vec<String> =
        found.iter().map(|path| path.strip_prefix(directory).unwrap().display().to_string()).collect();
    names.sort();
    names
}

#[test]
fn stacks_are_kept_in_pulumis_layout() {
    let (directory, backend) = with_stack();
    let expected = [
        ".pulumi/maloko/shop/dev/lease",
        ".pulumi/maloko/shop/dev/summary",
        ".pulumi/meta.yaml",
        ".pulumi/stacks/shop/dev.json",
    ];
    assert_eq!(files_below(directory.path()), expected);
    assert_eq!(fs::read(directory.path().join(".pulumi/meta.yaml")).unwrap(), b"version: 1\n");
    assert_eq!(block_on(backend.list()).unwrap(), [name()]);
    assert_eq!(block_on(backend.load(&name())).unwrap().checkpoint, EMPTY);
    assert!(error_of(block_on(backend.create(&name(), EMPTY))).contains("already"));
    let other = StackName::new("shop", "prod").unwrap();
    assert_eq!(error_of(block_on(backend.load(&other))), "no stack named 'prod' found");
    assert_eq!(error_of(block_on(backend.lease(&other, "test"))), "no stack named 'prod' found");
    assert_eq!(files_below(directory.path()), expected, "looking for a stack leaves nothing behind");
}

#[test]
fn opening_and_listing_make_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let backend = open(directory.path());
    assert_eq!(block_on(backend.list()).unwrap(), []);
    assert_eq!(files_below(directory.path()), [""; 0]);
}

#[test]
fn replacing_keeps_the_one_before() {
    let (directory, backend) = with_stack();
    let attributes = directory.path().join(".pulumi/stacks/shop/dev.json.attrs");
    fs::write(&attributes, "{}").unwrap();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    for content in [b"one".as_slice(), b"two", b"three"] {
        block_on(lease.replace(content, MIN_GENERATIONS)).unwrap();
    }
    assert_eq!(block_on(lease.load()).unwrap().checkpoint, b"three");
    assert_eq!(fs::read(directory.path().join(".pulumi/stacks/shop/dev.json.bak")).unwrap(), b"two");
    assert!(!attributes.exists());
    let left = files_below(directory.path());
    assert!(!left.iter().any(|path| path.contains("tmp")), "{left:?}");
}

#[test]
fn former_checkpoints_are_kept_and_bounded() {
    let (_directory, backend) = with_stack();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    for content in [b"one".as_slice(), b"two", b"three", b"four", b"five"] {
        // Fewer than the least are not to be had.
        block_on(lease.replace(content, 1)).unwrap();
    }
    let kept = block_on(backend.generations(&name())).unwrap();
    assert_eq!(kept.iter().map(|generation| generation.number).collect::<Vec<_>>(), [5, 4, 3]);
    let contents: Vec<_> =
        kept.iter().map(|kept| block_on(backend.load_generation(&name(), kept.number)).unwrap()).collect();
    assert_eq!(contents, [b"four".as_slice(), b"three", b"two"]);
    assert!(error_of(block_on(backend.load_generation(&name(), 2))).contains("generations/2.json"));
}

#[cfg(unix)]
#[test]
fn a_checkpoint_that_a_killed_replacement_has_kept_is_not_kept_twice() {
    let (directory, backend) = with_stack();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    block_on(lease.replace(b"one", 5)).unwrap();
    let below = |path: &str| directory.path().join(".pulumi").join(path);
    fs::hard_link(below("stacks/shop/dev.json"), below("maloko/shop/dev/generations/2.json")).unwrap();
    block_on(lease.replace(b"two", 5)).unwrap();
    let numbers: Vec<_> = block_on(backend.generations(&name())).unwrap().iter().map(|kept| kept.number).collect();
    assert_eq!(numbers, [2, 1]);
}

#[test]
fn the_seal_is_kept_beside_the_checkpoint() {
    let (_directory, backend) = with_stack();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    assert_eq!(block_on(backend.load(&name())).unwrap().seal, None);
    block_on(lease.write_seal(b"one")).unwrap();
    block_on(lease.write_seal(b"two")).unwrap();
    assert_eq!(block_on(backend.load(&name())).unwrap().seal.as_deref(), Some(b"two".as_slice()));
}

#[test]
fn one_writer_at_a_time_and_the_other_learns_who() {
    let (directory, backend) = with_stack();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    let second = open(directory.path());
    let message = error_of(block_on(second.lease(&name(), "test")));
    let process = format!("process {}", std::process::id());
    assert!(message.contains("'dev' is locked by maloko of") && message.contains(&process), "{message}");
    assert!(message.contains("since 20") && message.contains("Wait"), "{message}");
    let holders = block_on(second.holders(&name())).unwrap();
    assert_eq!((holders.len(), holders[0].pid, holders[0].maloko), (1, std::process::id(), true));
    let epoch = lease.epoch();
    block_on(lease.release()).unwrap();
    assert_eq!(block_on(second.lease(&name(), "test")).unwrap().epoch(), epoch + 1);
    assert!(error_of(block_on(lease.replace(b"late", MIN_GENERATIONS))).contains("given back"));
    assert_eq!(block_on(second.holders(&name())).unwrap(), []);
}

#[test]
fn a_damaged_lease_file_blocks_nobody() {
    let (directory, backend) = with_stack();
    drop(block_on(backend.lease(&name(), "test")).unwrap());
    let file = directory.path().join(".pulumi/maloko").join(name().project()).join("dev/lease");
    std::fs::write(&file, b"\xff\xfe damaged \x80\n").unwrap();
    assert_eq!(block_on(backend.break_locks(&name())).unwrap(), []);
    drop(block_on(backend.lease(&name(), "test")).unwrap());
    assert!(block_on(backend.lease(&name(), "test")).unwrap().epoch() > 1, "it counts on");
}

#[test]
fn a_dropped_lease_is_given_back() {
    let (directory, backend) = with_stack();
    drop(block_on(backend.lease(&name(), "test")).unwrap());
    assert!(!directory.path().join(".pulumi/locks/organization/shop/dev").exists());
    block_on(backend.lease(&name(), "test")).unwrap();
}

#[test]
fn locks_of_pulumi_are_respected() {
    let (directory, backend) = with_stack();
    let locks = directory.path().join(".pulumi/locks/organization/shop/dev");
    fs::create_dir_all(&locks).unwrap();
    let lock = locks.join("0ab3.json");
    fs::write(&lock, r#"{"pid":7,"username":"ann","hostname":"box","timestamp":"2026-01-02T03:04:05Z"}"#).unwrap();
    let message = error_of(block_on(backend.lease(&name(), "test")));
    assert!(message.contains("pulumi of ann (process 7 on box, since 2026-01-02 03:04:05 UTC, "), "{message}");
    assert!(message.contains(" days ago)"), "{message}");
    assert!(message.contains("pulumi cancel") && message.contains("0ab3.json"), "{message}");
    fs::write(&lock, "{").unwrap();
    assert!(error_of(block_on(backend.lease(&name(), "test"))).contains("locked by pulumi of somebody"));
    fs::remove_file(&lock).unwrap();
    block_on(backend.lease(&name(), "test")).unwrap();
}

#[test]
fn what_pulumi_sees_of_us_is_a_lock_of_its_own_form() {
    let (_directory, backend) = with_stack();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    let found = locks::list(&SystemFiles, &backend.layout.stack(&name()).locks).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&found[0].path).unwrap()).unwrap();
    assert!(json["pid"].is_u64() && json["username"].is_string() && json["hostname"].is_string(), "{json}");
    json["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(found[0].path.file_stem().unwrap().len(), 36);
    drop(lease);
}

#[test]
fn the_lock_of_a_killed_maloko_is_stale_at_once() {
    let (directory, backend) = with_stack();
    let locks = directory.path().join(".pulumi/locks/organization/shop/dev");
    fs::create_dir_all(&locks).unwrap();
    let left = r#"{"pid":7,"username":"ann","hostname":"box","timestamp":"2026-01-02T03:04:05Z","maloko":"0.1.0"}"#;
    fs::write(locks.join("0ab3.json"), left).unwrap();
    fs::write(locks.join("0ab4.json"), [0; 9]).unwrap();
    fs::write(locks.join("0ab5.json"), "").unwrap();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    assert_eq!(block_on(backend.holders(&name())).unwrap().len(), 1, "only the living one is left");
    drop(lease);
}

#[test]
fn a_broken_lock_stops_its_writer() {
    let (directory, backend) = with_stack();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    block_on(lease.append(b"one\n")).unwrap();
    assert_eq!(block_on(open(directory.path()).break_locks(&name())).unwrap().len(), 1);
    for outcome in [
        block_on(lease.append(b"two\n")),
        block_on(lease.replace(b"x", MIN_GENERATIONS)),
        block_on(lease.remove_journal()),
    ] {
        assert!(error_of(outcome).contains("was taken over by maloko"));
    }
    let stored = block_on(backend.load(&name())).unwrap();
    assert_eq!((stored.checkpoint.as_slice(), stored.journal.as_deref()), (EMPTY, Some(b"one\n".as_slice())));
}

#[test]
fn while_a_journal_is_left_pulumi_stays_locked_out() {
    let (_directory, backend) = with_stack();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    block_on(lease.append(b"one\n")).unwrap();
    block_on(lease.append(b"two\n")).unwrap();
    drop(lease);
    assert_eq!(block_on(backend.holders(&name())).unwrap().len(), 1);
    let heir = block_on(backend.lease(&name(), "test")).unwrap();
    assert_eq!(block_on(heir.load()).unwrap().journal.unwrap(), b"one\ntwo\n");
    block_on(heir.cut_journal(4)).unwrap();
    block_on(heir.append(b"three\n")).unwrap();
    assert_eq!(block_on(heir.load()).unwrap().journal.unwrap(), b"one\nthree\n");
    let aside = block_on(heir.set_journal_aside()).unwrap();
    assert_eq!(fs::read(aside).unwrap(), b"one\nthree\n");
    assert_eq!(block_on(heir.load()).unwrap().journal, None);
    drop(heir);
    assert_eq!(block_on(backend.holders(&name())).unwrap(), []);
}

#[test]
fn the_copies_of_checkpoints_go_with_the_entries_of_the_history() {
    let (directory, backend) = with_stack();
    for at in 1..=5 {
        block_on(backend.add_history(&name(), at, b"{}", 2)).unwrap();
    }
    let left = files_below(&directory.path().join(".pulumi/history/shop/dev"));
    let kept = ["dev-4.checkpoint.json", "dev-4.history.json", "dev-5.checkpoint.json", "dev-5.history.json"];
    assert_eq!(left, kept);
}

#[test]
fn a_removed_stack_leaves_its_backup() {
    let (directory, backend) = with_stack();
    let history = directory.path().join(".pulumi/history/shop/dev");
    fs::create_dir_all(&history).unwrap();
    fs::write(history.join("dev-1.history.json"), "{}").unwrap();
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    block_on(lease.remove_stack()).unwrap();
    block_on(lease.release()).unwrap();
    assert_eq!(files_below(directory.path()), [".pulumi/meta.yaml", ".pulumi/stacks/shop/dev.json.bak"]);
    assert_eq!(block_on(backend.list()).unwrap(), []);
    block_on(backend.create(&name(), EMPTY)).unwrap();
}

#[test]
fn a_stack_is_removed_wherever_a_run_or_a_removal_was_killed() {
    let (directory, backend) = with_stack();
    let at = |path: &str| directory.path().join(".pulumi").join(path);
    let lease = block_on(backend.lease(&name(), "up")).unwrap();
    block_on(lease.replace(EMPTY, MIN_GENERATIONS)).unwrap();
    block_on(lease.write_seal(b"a seal")).unwrap();
    // As in the middle of a replacement: the backup is another name of the checkpoint.
    fs::remove_file(at("stacks/shop/dev.json.bak")).unwrap();
    fs::hard_link(at("stacks/shop/dev.json"), at("stacks/shop/dev.json.bak")).unwrap();
    block_on(lease.remove_stack()).unwrap();
    block_on(lease.release()).unwrap();
    assert!(matches!(block_on(backend.load(&name())), Err(Error::NoStack { .. })));
    // Without its lease, its seal says that there was one.
    block_on(backend.create(&name(), EMPTY)).unwrap();
    let lease = block_on(backend.lease(&name(), "up")).unwrap();
    block_on(lease.write_seal(b"a seal")).unwrap();
    block_on(lease.release()).unwrap();
    for lost in ["stacks/shop/dev.json", "maloko/shop/dev/lease"] {
        fs::remove_file(at(lost)).unwrap();
    }
    assert!(block_on(backend.load(&name())).unwrap().checkpoint.is_empty());
    assert!(error_of(block_on(backend.create(&name(), EMPTY))).contains("already"));
    let lease = block_on(backend.lease(&name(), "up")).unwrap();
    block_on(lease.remove_stack()).unwrap();
    block_on(lease.release()).unwrap();
    // As in the middle of a removal: it is one, and no lost checkpoint; what it left is not the next stack's.
    block_on(backend.create(&name(), EMPTY)).unwrap();
    let lease = block_on(backend.lease(&name(), "up")).unwrap();
    block_on(lease.replace(EMPTY, MIN_GENERATIONS)).unwrap();
    block_on(lease.write_seal(b"a seal")).unwrap();
    block_on(lease.append(b"a mark")).unwrap();
    fs::write(at("maloko/shop/dev/removed"), "").unwrap();
    drop(lease);
    assert_eq!(block_on(backend.load(&name())).unwrap().checkpoint, EMPTY, "it had not begun");
    fs::rename(at("stacks/shop/dev.json"), at("stacks/shop/dev.json.bak")).unwrap();
    assert!(matches!(block_on(backend.load(&name())), Err(Error::NoStack { .. })));
    assert!(block_on(backend.list()).unwrap().is_empty());
    block_on(backend.create(&name(), EMPTY)).unwrap();
    let made = block_on(backend.load(&name())).unwrap();
    assert_eq!((made.journal, made.seal), (None, None));
    assert!(!at("maloko/shop/dev/removed").exists());
}

#[test]
fn other_layouts_and_compressed_stacks_are_refused_with_the_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join(".pulumi");
    fs::create_dir_all(root.join("stacks/shop")).unwrap();
    fs::write(root.join("stacks/dev.json"), "{}").unwrap();
    let refuse = || error_of(LocalBackend::open(directory.path(), Environment::system()));
    assert!(refuse().contains("pulumi state upgrade"));
    fs::write(root.join("meta.yaml"), "version: 2\n").unwrap();
    assert!(refuse().contains("layout 2"));
    fs::write(root.join("meta.yaml"), "").unwrap();
    assert!(refuse().contains("meta.yaml"));
    fs::write(root.join("meta.yaml"), "version: 1").unwrap();
    fs::write(root.join("stacks/shop/dev.json.gz"), "").unwrap();
    let backend = open(directory.path());
    assert_eq!(block_on(backend.list()).unwrap(), [name()]);
    assert!(error_of(block_on(backend.load(&name()))).contains("PULUMI_DIY_BACKEND_GZIP"));
    assert!(error_of(block_on(backend.create(&name(), EMPTY))).contains("already"));
}

#[test]
fn urls_name_directories() {
    let base = Path::new("/project");
    let of = |url| directory_of(url, base, Some(Path::new("/home/ann")));
    assert_eq!(of("file://./state").unwrap(), Path::new("/project/./state"));
    assert_eq!(of("file:///var/state").unwrap(), Path::new("/var/state"));
    assert_eq!(of("file://~").unwrap(), Path::new("/home/ann/"));
    assert_eq!(of("file://~/state").unwrap(), Path::new("/home/ann/state"));
    assert!(error_of(of("s3://bucket")).contains("s3://bucket"));
    assert!(error_of(of("file://")).contains("no directory"));
    assert!(error_of(directory_of("file://~", base, None)).contains("HOME"));
}

#[cfg(unix)]
#[test]
fn what_maloko_makes_from_nothing_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, backend) = with_stack();
    let mode = |path: &str| fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o777;
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    block_on(lease.append(b"x")).unwrap();
    block_on(lease.replace(EMPTY, MIN_GENERATIONS)).unwrap();
    for path in files_below(directory.path()) {
        assert_eq!(mode(&path), 0o600, "{path}");
    }
    for path in ["", "/stacks", "/stacks/shop", "/maloko/shop/dev", "/locks/organization/shop/dev"] {
        assert_eq!(mode(&format!(".pulumi{path}")), 0o700, "{path}");
    }
}

#[test]
fn a_file_in_the_place_of_a_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let blocked = directory.path().join("file");
    fs::write(&blocked, "").unwrap();
    let message = error_of(LocalBackend::open(&blocked, Environment::system()));
    assert!(message.contains(&blocked.display().to_string()), "{message}");
    assert!(message.contains("a file is where a directory should be"), "{message}");
}

/// Nobody may write there, root included.
#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_named_with_the_way_out() {
    let place = Path::new("/sys/kernel/state");
    let message = error_of(block_on(open(place).create(&name(), EMPTY)));
    assert!(message.contains("/sys/kernel/state") && message.contains("--backend"), "{message}");
}

fn options() -> SessionOptions {
    SessionOptions {
        crypter: python_crypter(),
        environment: Environment::system(),
        check_integrity: true,
        keep_generations: MIN_GENERATIONS,
        command: "up".into(),
    }
}

#[test]
fn a_session_on_disk_survives_its_abandonment() {
    let directory = tempfile::tempdir().unwrap();
    let backend = open(directory.path());
    block_on(create_stack(&backend, &name(), &python_crypter(), &Environment::system())).unwrap();
    let session = block_on(Session::open(&backend, &name(), options())).unwrap();
    let provider = Change::Put { number: 0, resource: crate::state::fixtures::provider_resource(), in_place_of: None };
    let resource = Change::Put { number: 1, resource: resource("a", 1.0).into(), in_place_of: None };
    block_on(session.append(vec![provider])).unwrap();
    drop(session.append(vec![resource]));
    block_on(session.abandon()).unwrap();
    assert!(directory.path().join(".pulumi/maloko/shop/dev/journal").exists());
    let session = block_on(Session::open(&backend, &name(), options())).unwrap();
    assert_eq!(session.snapshot().resources.len(), 2);
    block_on(session.compact(session.snapshot().clone())).unwrap();
    let expected = [
        ".pulumi/maloko/shop/dev/gate",
        ".pulumi/maloko/shop/dev/generations/1.json",
        ".pulumi/maloko/shop/dev/lease",
        ".pulumi/maloko/shop/dev/seal",
        ".pulumi/maloko/shop/dev/summary",
        ".pulumi/meta.yaml",
        ".pulumi/stacks/shop/dev.json",
        ".pulumi/stacks/shop/dev.json.bak",
    ];
    assert_eq!(files_below(directory.path()), expected);
}

#[test]
fn a_state_that_pulumi_wrote_is_opened_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let stacks = directory.path().join(".pulumi/stacks/conformance");
    fs::create_dir_all(&stacks).unwrap();
    fs::write(directory.path().join(".pulumi/meta.yaml"), "version: 1\n").unwrap();
    fs::write(stacks.join("dev.json"), PULUMI_PYTHON).unwrap();
    let backend = open(directory.path());
    let stack = StackName::new("conformance", "dev").unwrap();
    let session = block_on(Session::open(&backend, &stack, options())).unwrap();
    block_on(session.compact(session.snapshot().clone())).unwrap();
    assert_eq!(fs::read(stacks.join("dev.json")).unwrap(), PULUMI_PYTHON);
    assert!(!stacks.join("dev.json.bak").exists());
}
