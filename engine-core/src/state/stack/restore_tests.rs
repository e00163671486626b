#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use futures::executor::block_on;

use super::*;
use crate::environment::Environment;
use crate::state::fixtures::{options_for, provider_resource, python_crypter, resource};
use crate::state::{
    Change, MIN_GENERATIONS, MemoryBackend, Passphrase, Session, Snapshot, StoredStack, create_stack, read_stack,
};

fn name() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

fn options() -> SessionOptions {
    options_for("maloko state restore")
}

fn compact(backend: &MemoryBackend, names: &[&str]) {
    let session = block_on(Session::open(backend, &name(), options())).unwrap();
    let resources =
        std::iter::once(provider_resource()).chain(names.iter().map(|name| resource(name, 1.0).into())).collect();
    block_on(session.compact(Snapshot { resources, ..Snapshot::default() })).unwrap();
}

/// A stack with three generations before its state, which holds `a`, `b` and `c`.
fn with_generations() -> MemoryBackend {
    let backend = MemoryBackend::default();
    block_on(create_stack(&backend, &name(), &python_crypter(), &Environment::system())).unwrap();
    for names in [["a"].as_slice(), &["a", "b"], &["a", "b", "c"]] {
        compact(&backend, names);
    }
    backend
}

fn names(backend: &MemoryBackend) -> Vec<String> {
    let resources = block_on(read_stack(backend, &name(), true)).unwrap().snapshot.resources;
    let mut names: Vec<String> = resources.iter().skip(1).map(|resource| resource.urn.name().to_owned()).collect();
    names.sort();
    names
}

fn spoil(backend: &MemoryBackend, checkpoint: &[u8]) {
    let stored = backend.stored(&name()).unwrap();
    backend.restore(&name(), StoredStack { checkpoint: checkpoint.to_vec(), ..stored });
}

#[test]
fn generations_tell_what_they_hold_also_beside_damaged_ones() {
    let backend = with_generations();
    spoil(&backend, b"{");
    assert!(block_on(read_stack(&backend, &name(), true)).unwrap_err().to_string().contains("maloko state restore"));
    block_on(restore_stack(&backend, &name(), 3, &options())).unwrap();
    let readings = block_on(read_generations(&backend, &name())).unwrap();
    assert_eq!(readings.iter().map(|reading| reading.number).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert!(readings[0].content.as_ref().unwrap_err().contains("generations/4"), "{:?}", readings[0]);
    let content = readings[1].content.clone().unwrap();
    assert_eq!((content.resources, content.pending), (3, 0));
    content.written.parse::<jiff::Timestamp>().unwrap();
}

#[test]
fn a_generation_takes_the_place_of_a_damaged_or_missing_state_which_is_kept() {
    for damage in [b"".as_slice(), b"\0\0\0", br#"{"version":3,"#] {
        let backend = with_generations();
        spoil(&backend, damage);
        assert_eq!(block_on(restore_stack(&backend, &name(), 3, &options())).unwrap(), [""; 0]);
        assert_eq!(names(&backend), ["a", "b"]);
        assert_eq!(block_on(backend.load_generation(&name(), 4)).unwrap(), damage);
        // Work goes on.
        compact(&backend, &["d"]);
        assert_eq!(names(&backend), ["d"]);
    }
}

#[test]
fn a_generation_that_cannot_be_used_changes_nothing() {
    let backend = with_generations();
    spoil(&backend, b"{");
    block_on(restore_stack(&backend, &name(), 3, &options())).unwrap();
    for (number, word) in [(4, "generation 4"), (77, "77")] {
        let message = block_on(restore_stack(&backend, &name(), number, &options())).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
        assert_eq!(names(&backend), ["a", "b"]);
    }
    let lease = block_on(backend.lease(&name(), "maloko up")).unwrap();
    let locked = block_on(restore_stack(&backend, &name(), 2, &options())).unwrap_err();
    assert!(matches!(locked, Error::InUse { .. }), "{locked}");
    block_on(lease.release()).unwrap();
    let same = block_on(backend.load_generation(&name(), 3)).unwrap();
    spoil(&backend, &same);
    let notices = block_on(restore_stack(&backend, &name(), 3, &options())).unwrap();
    assert!(notices[0].contains("nothing had to be changed"), "{notices:?}");
}

#[test]
fn the_journal_of_that_generation_is_taken_up_and_any_other_is_kept_aside() {
    let interrupted = || {
        let backend = with_generations();
        let session = block_on(Session::open(&backend, &name(), options())).unwrap();
        block_on(session.append(vec![Change::Put {
            number: 4,
            resource: resource("d", 1.0).into(),
            in_place_of: None,
        }]))
        .unwrap();
        block_on(session.abandon()).unwrap();
        backend
    };
    let backend = interrupted();
    spoil(&backend, b"{");
    let notices = block_on(restore_stack(&backend, &name(), 2, &options())).unwrap();
    assert!(notices[0].contains("belongs to another state"), "{notices:?}");
    assert_eq!((names(&backend), backend.journals_set_aside(&name()).len()), (vec!["a".to_owned()], 1));

    let backend = interrupted();
    let good = backend.stored(&name()).unwrap().checkpoint;
    let lease = block_on(backend.lease(&name(), "test")).unwrap();
    block_on(lease.replace(b"{", MIN_GENERATIONS)).unwrap();
    block_on(lease.release()).unwrap();
    assert_eq!(block_on(backend.load_generation(&name(), 4)).unwrap(), good);
    let notices = block_on(restore_stack(&backend, &name(), 4, &options())).unwrap();
    assert!(notices[0].contains("the next command brings back"), "{notices:?}");
    assert_eq!(names(&backend), ["a", "b", "c", "d"]);
}

#[test]
fn what_is_readable_of_a_damaged_journal_is_brought_back_and_the_rest_kept_aside() {
    let backend = with_generations();
    let salvage = || block_on(salvage_journal(&backend, &name(), "maloko state restore"));
    assert!(salvage().unwrap_err().to_string().contains("no run was interrupted"));
    let session = block_on(Session::open(&backend, &name(), options())).unwrap();
    for (number, made) in [(4, "d"), (5, "e"), (6, "f")] {
        block_on(session.append(vec![Change::Put { number, resource: resource(made, 1.0).into(), in_place_of: None }]))
            .unwrap();
    }
    block_on(session.abandon()).unwrap();
    assert!(salvage().unwrap_err().to_string().contains("is damaged; the next command takes it up"));
    let stored = backend.stored(&name()).unwrap();
    let mut journal = stored.journal.clone().unwrap();
    let e = journal.windows(4).position(|bytes| bytes == b"id-e").unwrap();
    journal[e] ^= 1;
    backend.restore(&name(), StoredStack { journal: Some(journal.clone()), ..stored.clone() });
    let message = block_on(read_stack(&backend, &name(), true)).unwrap_err().to_string();
    assert!(message.contains("maloko state restore --journal"), "{message}");
    let done = salvage().unwrap();
    assert!(done.starts_with("1 record is readable"), "{done}");
    assert_eq!(names(&backend), ["a", "b", "c", "d"]);
    assert_eq!(backend.journals_set_aside(&name()), [journal]);
}

#[test]
fn a_generation_under_a_former_key_says_what_it_takes() {
    let backend = with_generations();
    let before = backend.stored(&name()).unwrap().checkpoint;
    let crypter = Crypter::with_new_salt(Passphrase::given("another"), Environment::system()).unwrap();
    let rotated = SessionOptions { crypter, ..options() };
    let error = block_on(restore_stack(&backend, &name(), 2, &rotated)).unwrap_err().to_string();
    assert!(error.contains("before `maloko stack change-secrets-provider`"), "{error}");
    assert_eq!(backend.stored(&name()).unwrap().checkpoint, before);
}

#[test]
fn a_journal_whose_first_line_is_damaged_is_kept_aside_whole() {
    let backend = with_generations();
    let salvage = || block_on(salvage_journal(&backend, &name(), "maloko state restore"));
    let stored = backend.stored(&name()).unwrap();
    let damaged = b"00000000 {\"maloko\":1}\n{}\n".to_vec();
    backend.restore(&name(), StoredStack { journal: Some(damaged.clone()), ..stored.clone() });
    let message = block_on(read_stack(&backend, &name(), true)).unwrap_err().to_string();
    assert!(message.contains("maloko state restore --journal"), "{message}");
    let done = salvage().unwrap();
    assert!(done.starts_with("nothing of the journal is readable"), "{done}");
    assert_eq!(backend.journals_set_aside(&name()), [damaged]);
    assert_eq!(backend.stored(&name()).unwrap().journal, None);
    assert_eq!(names(&backend), ["a", "b", "c"]);
}
