//! Disks that are full or fail: a run stops with a clear error, and no outcome is lost (P4 of docs/internals/reliability.md). `DISK_ERRORS` says how many
//! of the six errors each operation of the disk meets.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures::executor::block_on;
use maloko_core::environment::Environment;
use maloko_core::state::{
    Change, Crypter, LocalBackend, PendingKind, PendingOperation, Session, Snapshot, StackName, create_stack,
    read_stack,
};
use maloko_core::{Error, ResourceState};
use rustix::io::Errno;

use maloko_test_support::failing::{Failing, FaultSchedule};
use maloko_test_support::random::setting;
use maloko_test_support::stories::{self, options, provider, resource, stack};

const ERRORS: [Errno; 6] = [Errno::NOSPC, Errno::IO, Errno::DQUOT, Errno::FBIG, Errno::ROFS, Errno::ACCESS];
/// How many resources a run makes here.
const RESOURCES: u32 = 3;

/// What became of a run: what its program was told, and how it ended.
#[derive(Debug, Default)]
struct Outcome {
    /// The resource whose call was not begun, because that could not be recorded.
    refused: Option<String>,
    /// Resources whose provider was called.
    called: BTreeSet<String>,
    /// Those that were reported as done.
    done: BTreeSet<String>,
    errors: Vec<String>,
}

pub(crate) fn put(number: u32, resource: Arc<ResourceState>) -> Change {
    Change::Put { number, resource, in_place_of: None }
}

/// What a run does: for each resource it journals the intent, "calls the provider", and journals the outcome; after a
/// failure nothing is begun, and what is known is compacted.
fn run(backend: &LocalBackend, environment: Environment, crypter: &Crypter) -> Outcome {
    let mut outcome = Outcome::default();
    let options = maloko_core::state::SessionOptions { environment, ..options(crypter) };
    let session = match block_on(Session::open(backend, &stack(), options)) {
        Ok(session) => session,
        Err(error) => {
            outcome.errors.push(error.to_string());
            return outcome;
        }
    };
    let mut snapshot = session.snapshot().clone();
    let first = u32::try_from(snapshot.resources.len()).unwrap();
    for number in first..first + RESOURCES {
        let state = Arc::new(resource(&format!("r{number}"), 1.0));
        let pending = PendingOperation { resource: Arc::clone(&state), kind: PendingKind::Creating };
        if let Err(error) = block_on(session.append(vec![Change::Begin { operation: number, pending, attempt: None }]))
        {
            outcome.errors.push(error.to_string());
            outcome.refused = Some(state.urn.name().to_owned());
            break;
        }
        outcome.called.insert(state.urn.name().to_owned());
        snapshot.resources.push(Arc::clone(&state));
        match block_on(session.append(vec![Change::End { operation: number }, put(number, Arc::clone(&state))])) {
            Ok(()) => drop(outcome.done.insert(state.urn.name().to_owned())),
            Err(error) => {
                outcome.errors.push(error.to_string());
                break;
            }
        }
    }
    if let Err(error) = block_on(session.compact(snapshot)) {
        outcome.errors.push(error.to_string());
    }
    outcome
}

pub(crate) fn open(directory: &Path, environment: Environment) -> LocalBackend {
    LocalBackend::open(directory, environment).unwrap()
}

fn with_stack() -> (tempfile::TempDir, Crypter) {
    let directory = tempfile::tempdir().unwrap();
    let crypter = stories::crypter();
    let backend = open(directory.path(), Environment::system());
    for name in [stack(), StackName::new("shop", "other").unwrap()] {
        block_on(create_stack(&backend, &name, &crypter, &Environment::system())).unwrap();
    }
    let session = block_on(Session::open(&backend, &stack(), options(&crypter))).unwrap();
    block_on(
        session.compact(Snapshot { resources: vec![provider(), resource("old", 1.0).into()], ..Snapshot::default() }),
    )
    .unwrap();
    (directory, crypter)
}

/// What is left once the disk works again: the names of resources, and of calls whose outcome is unknown.
pub(crate) fn known(directory: &Path, crypter: &Crypter) -> (BTreeSet<String>, BTreeSet<String>) {
    let backend = open(directory, Environment::system());
    let other = block_on(read_stack(&backend, &StackName::new("shop", "other").unwrap(), true)).unwrap();
    assert!(other.snapshot.resources.is_empty());
    let session = block_on(Session::open(&backend, &stack(), options(crypter))).unwrap();
    let snapshot = session.snapshot();
    let resources = snapshot.resources.iter().map(|resource| resource.urn.name().to_owned()).collect();
    let pending = snapshot.pending.iter().map(|pending| pending.resource.urn.name().to_owned()).collect();
    block_on(session.compact(snapshot.clone())).unwrap();
    (resources, pending)
}

fn check(outcome: &Outcome, directory: &Path, crypter: &Crypter, what: &str) {
    let (resources, pending) = known(directory, crypter);
    assert!(resources.contains("old"), "{what}: what was there is gone");
    for name in &outcome.done {
        assert!(resources.contains(name), "{what}: {name} was reported as done, and is not in the state");
    }
    for name in &outcome.called {
        assert!(resources.contains(name) || pending.contains(name), "{what}: nothing is known of {name}");
    }
    for name in &pending {
        // A record that a failing disk reported as failed may be there all the same.
        let refused = outcome.refused.as_ref() == Some(name);
        assert!(outcome.called.contains(name) || refused, "{what}: {name} is suspected, and was never called");
    }
}

#[test]
pub(crate) fn whichever_operation_of_the_disk_fails_nothing_is_lost() {
    let disk = Failing::new();
    let (directory, crypter) = with_stack();
    disk.plan(None);
    let backend = open(directory.path(), disk.environment());
    let whole = run(&backend, disk.environment(), &crypter);
    assert_eq!((whole.done.len(), whole.errors.len()), (RESOURCES as usize, 0), "{whole:?}");
    let operations = disk.done();
    assert!(operations > 20, "{operations}");
    let errors = usize::try_from(setting("DISK_ERRORS", 1)).unwrap();
    for at in 0..operations {
        let turn = usize::try_from(at).unwrap();
        for index in (turn..turn + errors).map(|index| index % ERRORS.len()) {
            // By turns for good.
            let for_good = (turn / ERRORS.len() + index).is_multiple_of(2);
            let plan = FaultSchedule { at, for_good, errno: ERRORS[index].raw_os_error() };
            let (directory, crypter) = with_stack();
            let backend = open(directory.path(), disk.environment());
            disk.plan(Some(plan));
            let outcome = run(&backend, disk.environment(), &crypter);
            disk.plan(None);
            drop(backend);
            for error in &outcome.errors {
                let place = directory.path().display().to_string();
                assert!(error.contains(&place), "{plan:?}: which file? {error}");
            }
            check(&outcome, directory.path(), &crypter, &format!("{plan:?}"));
        }
    }
}

/// The disk fills up while providers are at work: their outcomes fit, for room was kept for them; nothing new is begun.
#[test]
pub(crate) fn on_a_full_disk_every_outcome_of_a_call_that_was_begun_is_recorded() {
    let begin = |number: u32| {
        let state = Arc::new(resource(&format!("r{number}"), 1.0));
        Change::Begin {
            operation: number,
            pending: PendingOperation { resource: state, kind: PendingKind::Creating },
            attempt: None,
        }
    };
    for calls in [1, 2, 16] {
        let disk = Failing::new();
        let (directory, crypter) = with_stack();
        let backend = open(directory.path(), disk.environment());
        let opened = maloko_core::state::SessionOptions { environment: disk.environment(), ..options(&crypter) };
        let session = block_on(Session::open(&backend, &stack(), opened)).unwrap();
        for number in 2..2 + calls {
            block_on(session.append(vec![begin(number)])).unwrap();
        }
        disk.leave(Some(0));
        // Some more may fit into what was reserved.
        let fits = |number: &u32| block_on(session.append(vec![begin(*number)])).is_ok();
        let calls = calls + u32::try_from((2 + calls..1000).take_while(fits).count()).unwrap();
        let refused = block_on(session.append(vec![begin(1001)])).unwrap_err().to_string();
        assert!(refused.contains("free some space") && refused.contains("not begun"), "{refused}");
        let large = ResourceState {
            outputs: Some(Arc::new([("text".to_owned(), "x".repeat(20_000).into())].into())),
            ..resource("large", 1.0)
        };
        for number in 2..2 + calls {
            let urn = resource(&format!("r{number}"), 1.0).urn;
            let state = Arc::new(ResourceState { urn, ..large.clone() });
            block_on(session.append(vec![Change::End { operation: number }, put(number, state)])).unwrap();
        }
        let error = block_on(session.compact(Snapshot::default())).unwrap_err();
        assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("free some space"), "{error}");
        assert!(error.to_string().contains("journal"), "it says that nothing is lost: {error}");
        drop(session);
        disk.leave(None);
        let (resources, pending) = known(directory.path(), &crypter);
        assert_eq!(resources.len(), 2 + calls as usize, "{resources:?}");
        assert!(pending.is_empty(), "{pending:?}");
    }
}
