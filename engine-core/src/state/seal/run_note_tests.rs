#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use futures::executor::block_on;

use crate::environment::Environment;
use crate::error::Result;
use crate::state::fixtures::faulty::failing_after;
use crate::state::fixtures::{options_for, python_crypter, resource};
use crate::state::{
    Backend, Change, MemoryBackend, PendingKind, PendingOperation, Session, SessionOptions, StackName, StoredStack,
    create_stack, read_stack_with, reseal_stack,
};

fn name() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

fn options() -> SessionOptions {
    options_for("maloko up")
}

fn open(backend: &dyn Backend) -> Result<Session> {
    block_on(Session::open(backend, &name(), options()))
}

fn empty_stack() -> MemoryBackend {
    let backend = MemoryBackend::default();
    block_on(create_stack(&backend, &name(), &python_crypter(), &Environment::system())).unwrap();
    backend
}

/// A create is begun, and the process is gone.
fn interrupt(backend: &dyn Backend) -> Result<()> {
    let session = open(backend)?;
    let pending = PendingOperation { resource: Arc::new(resource("a", 1.0)), kind: PendingKind::Creating };
    block_on(session.append(vec![Change::Begin { operation: 0, pending, attempt: None }]))?;
    block_on(session.abandon())
}

/// What writers and readers say of a stack.
fn problem(backend: &dyn Backend) -> Option<String> {
    let read = block_on(read_stack_with(backend, &name(), true, Some(&python_crypter())));
    let written = open(backend).err().map(|error| error.to_string());
    assert_eq!(read.err().map(|error| error.to_string()), written, "readers see what writers see");
    written
}

#[test]
fn a_journal_that_is_gone_is_missed() {
    let backend = empty_stack();
    interrupt(&backend).unwrap();
    let whole = backend.stored(&name()).unwrap();
    let another = {
        let other = empty_stack();
        // Its lease has another epoch.
        open(&other).unwrap();
        interrupt(&other).unwrap();
        other.stored(&name()).unwrap().journal
    };
    for (journal, fate) in [
        (None, "is gone, so"),
        (Some(Vec::new()), "is gone, so"),
        (Some(whole.journal.as_deref().unwrap()[..20].to_vec()), "another one is in its place"),
        (another, "another one is in its place"),
    ] {
        backend.restore(&name(), StoredStack { journal: journal.clone(), ..whole.clone() });
        let problem = problem(&backend).unwrap();
        assert!(problem.contains(fate) && problem.contains("`maloko up`"), "{problem}");
        assert!(problem.contains(&whole.journal_place) && problem.contains("maloko state reseal"), "{problem}");
        let after = backend.stored(&name()).unwrap();
        assert_eq!((after.checkpoint, after.journal), (whole.checkpoint.clone(), journal), "nothing is written");
    }
    backend.restore(&name(), whole);
    let session = open(&backend).unwrap();
    assert_eq!(session.snapshot().pending.len(), 1, "a journal that was put back is taken up");
}

#[test]
fn the_loss_of_a_journal_is_accepted_on_purpose_only() {
    let backend = empty_stack();
    interrupt(&backend).unwrap();
    let whole = backend.stored(&name()).unwrap();
    backend.restore(&name(), StoredStack { journal: None, ..whole });
    let accepted = block_on(reseal_stack(&backend, &name(), &options())).unwrap();
    assert!(accepted.iter().any(|told| told.contains("the journal of a run")), "{accepted:?}");
    assert_eq!(problem(&backend), None);
}

/// The bug turns the test of its promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn the_planted_bug_of_lost_journals_is_noticed() {
    use crate::fail_points::is_noticed;
    assert!(is_noticed("planted::journal-not-missed", a_journal_that_is_gone_is_missed));
}

#[test]
fn no_crash_leaves_a_note_without_its_journal() {
    for changes in [true, false] {
        for writes in 0.. {
            let backend = empty_stack();
            let crashing = failing_after(backend.clone(), writes, false);
            let ran = run(&crashing, changes);
            assert_eq!(problem(&backend), None, "after {writes} writes");
            if ran.is_ok() {
                assert!(writes > 3, "the note was made and taken away");
                break;
            }
        }
    }
}

/// A whole run, which changes something or only looks.
fn run(backend: &dyn Backend, changes: bool) -> Result<()> {
    let session = open(backend)?;
    let mut snapshot = session.snapshot().clone();
    let pending = PendingOperation { resource: Arc::new(resource("a", 1.0)), kind: PendingKind::Reading };
    block_on(session.append(vec![Change::Begin { operation: 0, pending, attempt: None }]))?;
    block_on(session.append(vec![Change::End { operation: 0 }]))?;
    if changes {
        snapshot.other.insert("metadata".into(), serde_json::json!({ "changed": true }));
    }
    block_on(session.compact(snapshot)).map(drop)
}
