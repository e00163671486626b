//! Several processes on one stack (P5 and P6 of docs/internals/reliability.md): races for the lease, and writers that are stopped, overtaken
//! and woken again.
//! `RACES`, `RACE_SEED` and `TAKEOVERS` choose how many, and of which seed.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use futures::executor::block_on;
use maloko_core::ResourceState;
use maloko_core::environment::Environment;
use maloko_core::state::{
    Backend, Change, Crypter, LocalBackend, Passphrase, PendingKind, PendingOperation, Session, create_stack,
    read_stack,
};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use maloko_test_support::random::{Random, setting};
use maloko_test_support::stories::{self, PASSPHRASE, options, provider, resource, stack};

/// One who was overtaken makes fewer resources than that before it notices, beyond those that it had made.
const ENOUGH: usize = 100;
const PART: &str = "STORE_PROCESS_PART";
const DIRECTORY: &str = "STORE_PROCESS_DIRECTORY";
const SALT: &str = "STORE_PROCESS_SALT";
/// What the parts write begins with this; the rest of their output is the test runner's.
const SAYS: &str = "part: ";

/// A process of this program that plays one part of a test.
struct Part {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Part {
    fn start(test: &str, part: &str, directory: &Path, crypter: &Crypter) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(PART, part)
            .env(DIRECTORY, directory)
            .env(SALT, crypter.record().salt().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next thing that it says; `None` when it has ended.
    fn hear(&mut self) -> Option<String> {
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        lines.find_map(|line| line.rsplit_once(SAYS).map(|(_, said)| said.to_owned()))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it, and waits until it stands still.
    fn stop(&self) {
        self.signal(Signal::STOP);
        waitpid(Some(Pid::from_child(&self.child)), WaitOptions::UNTRACED).unwrap();
    }

    /// Lets it go on.
    fn tell(&mut self) {
        use std::io::Write;
        self.child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(text: &str) {
    println!("{SAYS}{}", text.replace('\n', " "));
}

/// Waits for a line on stdin.
fn wait_to_be_told() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// The part that this process plays, if any.
fn part() -> Option<(String, LocalBackend, Crypter)> {
    let part = std::env::var(PART).ok()?;
    let backend = open(&PathBuf::from(std::env::var_os(DIRECTORY).unwrap()));
    let salt = std::env::var(SALT).unwrap();
    Some((part, backend, Crypter::new(Passphrase::given(PASSPHRASE), &salt, Environment::system()).unwrap()))
}

fn open(directory: &Path) -> LocalBackend {
    LocalBackend::open(directory, Environment::system()).unwrap()
}

fn with_stack() -> (tempfile::TempDir, LocalBackend, Crypter) {
    let directory = tempfile::tempdir().unwrap();
    let backend = open(directory.path());
    let crypter = stories::crypter();
    block_on(create_stack(&backend, &stack(), &crypter, &Environment::system())).unwrap();
    (directory, backend, crypter)
}

/// Makes resources for ever, and says which are durable; the last word is why it had to stop.
fn write_for_ever(backend: &LocalBackend, crypter: &Crypter) {
    let session = block_on(Session::open(backend, &stack(), options(crypter))).unwrap();
    let put = |number, state: Arc<ResourceState>| Change::Put { number, resource: state, in_place_of: None };
    block_on(session.append(vec![put(0, provider())])).unwrap();
    say("open");
    for number in 1.. {
        let state = Arc::new(resource(&format!("r{number}"), 1.0));
        let pending = PendingOperation { resource: Arc::clone(&state), kind: PendingKind::Creating };
        let begun = block_on(session.append(vec![Change::Begin { operation: number, pending, attempt: None }]));
        let done =
            begun.and_then(|()| block_on(session.append(vec![Change::End { operation: number }, put(number, state)])));
        match done {
            Ok(()) => say(&number.to_string()),
            Err(error) => {
                say(&format!("stopped: {error}"));
                let compacted = block_on(session.compact(session.snapshot().clone()));
                say(&format!("compact: {}", compacted.err().map(|error| error.to_string()).unwrap_or_default()));
                return;
            }
        }
    }
}

fn resources(backend: &LocalBackend) -> Vec<String> {
    let resources = block_on(read_stack(backend, &stack(), true)).unwrap().snapshot.resources;
    resources.iter().skip(1).map(|resource| resource.urn.name().to_owned()).collect()
}

/// A writer is stopped at some moment, its stack is taken over and worked on, and then it is woken.
#[test]
pub(crate) fn a_stopped_writer_that_was_overtaken_writes_nothing_when_it_wakes() {
    const TEST: &str = "processes::a_stopped_writer_that_was_overtaken_writes_nothing_when_it_wakes";
    if let Some((_, backend, crypter)) = part() {
        return write_for_ever(&backend, &crypter);
    }
    let mut random = Random::new(setting("RACE_SEED", 1), 1);
    for _ in 0..setting("TAKEOVERS", 6) {
        take_over(TEST, 1 + random.below(40));
    }
}

fn take_over(test: &str, lines: usize) {
    let (directory, backend, crypter) = with_stack();
    let mut writer = Part::start(test, "writer", directory.path(), &crypter);
    let mut acknowledged: Vec<String> = (0..=lines).map(|_| writer.hear().unwrap()).collect();
    writer.stop();
    let pid = writer.child.id();
    match block_on(Session::open(&backend, &stack(), options(&crypter))) {
        Ok(_) => panic!("two writers at once"),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(&format!("process {pid}")) && message.contains("maloko cancel"), "{message}");
        }
    }
    let gone = block_on(backend.break_locks(&stack())).unwrap();
    assert_eq!(gone.iter().map(|holder| holder.pid).collect::<Vec<_>>(), [pid]);
    // The heir begins at once, and finds all that the other was told is durable.
    let session = block_on(Session::open(&backend, &stack(), options(&crypter))).unwrap();
    assert!(session.snapshot().resources.len() >= lines, "{} of {lines}", session.snapshot().resources.len());
    let made = session.snapshot().resources.len();
    let number = u32::try_from(made).unwrap();
    let heirs = Change::Put { number, resource: Arc::new(resource("heirs", 1.0)), in_place_of: None };
    block_on(session.append(vec![heirs])).unwrap();
    let before = files(directory.path());
    writer.signal(Signal::CONT);
    let mut rest = Vec::new();
    while let Some(said) = writer.hear() {
        // What it had said before it was stopped fills the pipe, as far as it was not heard.
        let goes_on = said.parse().is_ok_and(|number: usize| number > made + ENOUGH);
        assert!(!goes_on, "the one who was overtaken goes on: {said} after {made}");
        rest.push(said);
    }
    assert_eq!(files(directory.path()), before, "the one who was overtaken wrote");
    let (late, last) = rest.split_at(rest.len() - 2);
    // What it had said before it was stopped may not have been heard yet.
    acknowledged.extend(late.iter().cloned());
    let here = format!("process {}", std::process::id());
    assert!(last[0].starts_with("stopped: ") && last[0].contains("taken over") && last[0].contains(&here), "{last:?}");
    assert!(last[1].starts_with("compact: ") && last[1].contains("taken over"), "{last:?}");
    let ours = resources(&backend);
    for number in acknowledged.iter().filter(|said| *said != "open") {
        assert!(ours.contains(&format!("r{number}")), "{number} was acknowledged, and is lost: {ours:?}");
    }
    assert!(ours.contains(&"heirs".to_owned()));
    block_on(session.abandon()).unwrap();
}

/// Every file of the store with its content.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push((path.clone(), std::fs::read(&path).unwrap())) }
        }
    }
    found.sort();
    found
}

/// Takes the lease when told to, and keeps it until told to end.
fn race(backend: &LocalBackend) {
    say("ready");
    loop {
        wait_to_be_told();
        match block_on(backend.lease(&stack(), "maloko up")) {
            Ok(lease) => {
                say("won");
                wait_to_be_told();
                block_on(lease.release()).unwrap();
                say("done");
            }
            Err(error) => {
                say(&format!("lost: {error}"));
                wait_to_be_told();
                say("done");
            }
        }
    }
}

#[test]
pub(crate) fn of_many_processes_exactly_one_gets_the_stack() {
    const TEST: &str = "processes::of_many_processes_exactly_one_gets_the_stack";
    if let Some((_, backend, _)) = part() {
        return race(&backend);
    }
    let (directory, _, crypter) = with_stack();
    let mut racers: Vec<Part> = (0..8).map(|_| Part::start(TEST, "racer", directory.path(), &crypter)).collect();
    for racer in &mut racers {
        assert_eq!(racer.hear().as_deref(), Some("ready"));
    }
    let mut random = Random::new(setting("RACE_SEED", 1), 2);
    for race in 0..setting("RACES", 100) {
        let some = 2 + random.below(racers.len() - 1);
        let racers = &mut racers[..some];
        racers.iter_mut().for_each(Part::tell);
        let said: Vec<String> = racers.iter_mut().map(|racer| racer.hear().unwrap()).collect();
        let won: Vec<usize> = (0..some).filter(|racer| said[*racer] == "won").collect();
        assert_eq!(won.len(), 1, "race {race}: {said:?}");
        for lost in said.iter().filter(|said| *said != "won") {
            assert!(lost.contains("is locked by"), "race {race}: {lost}");
        }
        racers.iter_mut().for_each(Part::tell);
        for racer in racers {
            assert_eq!(racer.hear().as_deref(), Some("done"));
        }
    }
}

/// Its lock goes with a process, however it ends: nothing has to be removed by hand, and nobody waits.
#[test]
fn a_killed_holder_is_no_holder_any_more() {
    const TEST: &str = "processes::a_killed_holder_is_no_holder_any_more";
    if let Some((_, backend, crypter)) = part() {
        return write_for_ever(&backend, &crypter);
    }
    let (directory, backend, crypter) = with_stack();
    for _ in 0..3 {
        let mut writer = Part::start(TEST, "writer", directory.path(), &crypter);
        assert_eq!(writer.hear().as_deref(), Some("open"));
        assert!(block_on(backend.lease(&stack(), "test")).is_err());
        writer.child.kill().unwrap();
        writer.child.wait().unwrap();
        let session = block_on(Session::open(&backend, &stack(), options(&crypter))).unwrap();
        block_on(
            session.compact(maloko_core::state::Snapshot { resources: vec![provider()], ..session.snapshot().clone() }),
        )
        .unwrap();
    }
}
