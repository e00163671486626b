//! A writer that is killed with SIGKILL at some moment: its lock is stale at once, and nothing is lost that it was told
//! is durable.
#![allow(clippy::disallowed_methods, reason = "tests and benches have the machine to themselves")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use futures::executor::block_on;

use maloko_core::environment::Environment;
use maloko_core::state::{
    Change, Crypter, LocalBackend, MIN_GENERATIONS, Passphrase, PendingKind, PendingOperation, Session, SessionOptions,
    StackName, create_stack,
};
use maloko_core::{ResourceState, Urn};

const DIRECTORY_VARIABLE: &str = "KILLED_WRITER_DIRECTORY";
const SALT_VARIABLE: &str = "KILLED_WRITER_SALT";
const TEST: &str = "a_killed_writer_loses_nothing_that_was_acknowledged";

fn stack() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

fn options(salt: &str) -> SessionOptions {
    SessionOptions {
        crypter: Crypter::new(Passphrase::given("p"), salt, Environment::system()).unwrap(),
        environment: Environment::system(),
        check_integrity: true,
        keep_generations: MIN_GENERATIONS,
        command: "up".into(),
    }
}

fn component(number: u32) -> Arc<ResourceState> {
    let urn = Urn::new("dev", "shop", "", "acme:index:Group", &format!("group-{number:06}"));
    Arc::new(ResourceState { urn, kind: "acme:index:Group".into(), ..ResourceState::default() })
}

/// The writer: journals resources for ever and says which ones are durable.
fn write_for_ever(directory: &Path, salt: &str) -> ! {
    let backend = LocalBackend::open(directory, Environment::system()).unwrap();
    let session = block_on(Session::open(&backend, &stack(), options(salt))).unwrap();
    println!("writer: open");
    for number in 0.. {
        let pending = PendingOperation { resource: component(number), kind: PendingKind::Creating };
        block_on(session.append(vec![Change::Begin { operation: number, pending, attempt: None }])).unwrap();
        let put = Change::Put { number, resource: component(number), in_place_of: None };
        block_on(session.append(vec![Change::End { operation: number }, put])).unwrap();
        println!("writer: {number}");
    }
    unreachable!("the numbers do not end before the test does")
}

fn start_writer(directory: &Path, salt: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([TEST, "--exact", "--nocapture"])
        .env(DIRECTORY_VARIABLE, directory)
        .env(SALT_VARIABLE, salt)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    if let (Some(directory), Ok(salt)) = (std::env::var_os(DIRECTORY_VARIABLE), std::env::var(SALT_VARIABLE)) {
        write_for_ever(Path::new(&directory), &salt);
    }
    let crypter = Crypter::with_new_salt(Passphrase::given("p"), Environment::system()).unwrap();
    for lines in [1, 2, 3, 10, 30, 60] {
        kill_after(lines, &crypter);
    }
}

fn kill_after(lines: usize, crypter: &Crypter) {
    let salt = crypter.record().salt().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let backend = LocalBackend::open(directory.path(), Environment::system()).unwrap();
    block_on(create_stack(&backend, &stack(), crypter, &Environment::system())).unwrap();
    let mut writer = start_writer(directory.path(), salt);
    let mut said = BufReader::new(writer.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .filter_map(|line| line.rsplit_once("writer: ").map(|(_, said)| said.to_owned()));
    let mut acknowledged: Vec<String> = said.by_ref().take(lines).collect();
    assert_eq!(acknowledged.len(), lines, "the writer ended by itself");
    match block_on(Session::open(&backend, &stack(), options(salt))) {
        Ok(_) => panic!("two writers at once"),
        Err(error) => assert!(error.to_string().contains(&format!("process {}", writer.id())), "{error}"),
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    acknowledged.extend(said);

    let session = block_on(Session::open(&backend, &stack(), options(salt))).unwrap();
    let resources = &session.snapshot().resources;
    let durable = acknowledged.len() - 1;
    // One more may have been made durable before its writer could say so.
    assert!((durable..=durable + 1).contains(&resources.len()), "{durable} acknowledged, {} found", resources.len());
    for (number, resource) in (0..).zip(resources) {
        assert_eq!(resource.urn, component(number).urn);
    }
    assert!(session.snapshot().pending.len() <= 1, "{:?}", session.snapshot().pending);
}
