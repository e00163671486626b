#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::sync::{Arc, Mutex};

use maloko_core::environment::KnownKeys;
use maloko_core::event::Outcome;

use super::{Cancellation, CommandOutcome, EngineEvents, Invocation, run_in};
use crate::embedding::EventLines;
use crate::progress::ProgressMeter;
use crate::testing::{NoLanguage, OutputBuffer, World};

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl EngineEvents for Told {
    fn event(&self, json: &str) {
        self.0.lock().unwrap().push(json.to_owned());
    }
}

/// What a library sees of a command line.
struct Seen {
    finished: CommandOutcome,
    out: String,
    err: String,
    events: Vec<String>,
}

fn variables(world: &World) -> BTreeMap<String, OsString> {
    world.variables.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

async fn seen(world: &World, line: &str, variables: BTreeMap<String, OsString>, cancellation: Cancellation) -> Seen {
    let (out, err, events) = (OutputBuffer::default(), OutputBuffer::default(), Arc::new(Told::default()));
    let invocation = Invocation {
        arguments: line.split_whitespace().map(OsString::from).collect(),
        directory: world.project.clone(),
        variables,
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        events: Some(Arc::clone(&events) as Arc<_>),
        progress: None,
        meter: ProgressMeter::default(),
        cancellation,
        known_keys: KnownKeys::default(),
    };
    let finished = run_in(invocation, Arc::new(NoLanguage)).await;
    let events = events.0.lock().unwrap().clone();
    Seen { finished, out: out.text(), err: err.text(), events }
}

fn run(world: &World, line: &str) -> Seen {
    block_on(seen(world, line, variables(world), Cancellation::default()))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

#[test]
fn a_stack_is_made_and_the_selection_of_the_user_stays() {
    let world = World::with_shared_state();
    assert_eq!(run(&world, "stack init dev").finished.code, 0);
    assert!(!world.project.join(".maloko").exists());
    let listed = run(&world, "stack ls --json");
    assert!(listed.out.contains("\"dev\""), "{}", listed.out);
}

#[test]
fn an_operation_tells_its_events_and_its_outcome() {
    let world = World::with_shared_state();
    run(&world, "stack init dev");
    // Without a preview before it, and without `--skip-preview`.
    let up = run(&world, "up --stack dev --yes --message hello --exec-kind auto.inline");
    let end = up.finished.operation.unwrap();
    assert_eq!((up.finished.code, end.outcome), (0, Outcome::Succeeded));
    assert!(end.source.is_none() && end.urn.is_none());
    assert!(up.out.contains("Updating (dev)"), "the display writes to the stream that was given: {}", up.out);
    let events: Vec<serde_json::Value> = up.events.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    assert!(events.iter().any(|event| event.get("summaryEvent").is_some()));
    assert!(events.last().unwrap().get("cancelEvent").is_some());
    let history = run(&world, "stack history --stack dev --json").out;
    assert!(history.contains("\"exec.kind\": \"auto.inline\"") && history.contains("hello"), "{history}");
}

#[test]
fn wrong_arguments_are_told_and_end_nothing() {
    let world = World::with_shared_state();
    let wrong = run(&world, "up --no-such-flag");
    assert_eq!(wrong.finished.code, 2);
    assert!(wrong.err.contains("--no-such-flag"));
    let help = run(&world, "up --help");
    assert!(help.finished.code == 0 && help.out.contains("--parallel"));
    let missing = run(&world, "up --stack none --yes");
    assert!(missing.finished.code == 6 && missing.finished.message.contains("none"), "{}", missing.finished.message);
    assert_eq!(run(&world, "up --stack none").finished.code, 2, "nobody can be asked");
}

#[test]
fn the_environment_is_the_one_that_was_given() {
    let world = World::with_shared_state();
    let mut given = variables(&world);
    given.insert("PULUMI_PARALLEL".to_owned(), "many".into());
    let up = block_on(seen(&world, "up --yes --stack dev", given, Cancellation::default()));
    assert!(up.finished.code == 2 && up.err.contains("many"), "{}", up.err);
    // Without HOME there is no place of the user's own to look into, and embedded state needs none.
    let bare = BTreeMap::from([("PULUMI_CONFIG_PASSPHRASE".to_owned(), "other".into())]);
    let made = block_on(seen(&world, "stack init dev", bare, Cancellation::default()));
    assert_eq!(made.finished.code, 0, "{}", made.finished.message);
    assert!(world.project.join(".maloko/.pulumi").exists(), "the other environment's backend is not this one's");
}

#[test]
fn two_runs_at_once_do_not_see_one_another() {
    let (one, two) = (World::with_shared_state(), World::with_shared_state());
    block_on(async {
        for world in [&one, &two] {
            assert_eq!(seen(world, "stack init dev", variables(world), Cancellation::default()).await.finished.code, 0);
        }
        let up = |world| Box::pin(seen(world, "up --yes --stack dev", variables(world), Cancellation::default()));
        let (first, second) = futures::future::join(up(&one), up(&two)).await;
        assert_eq!((first.finished.code, second.finished.code), (0, 0));
        assert_eq!(first.events.len(), second.events.len());
    });
}

#[test]
fn a_run_that_was_cancelled_before_it_began_does_nothing() {
    let world = World::with_shared_state();
    run(&world, "stack init dev");
    let cancellation = Cancellation::default();
    assert!(!cancellation.is_running());
    cancellation.cancel();
    let up = block_on(seen(&world, "up --yes --stack dev", variables(&world), cancellation.clone()));
    assert!(up.finished.operation.is_none() && up.events.is_empty());
    assert_eq!((up.finished.code, up.finished.message.as_str()), (8, "cancelled before it began"));
    let init = block_on(seen(&world, "stack init other", variables(&world), cancellation.clone()));
    assert_eq!(init.finished.code, 8);
    assert!(!run(&world, "stack ls --json").out.contains("other"));
    assert!(cancellation.is_requested() && !cancellation.is_running());
}

#[test]
fn what_needs_a_process_of_its_own_is_refused() {
    let world = World::with_shared_state();
    run(&world, "stack init dev");
    for verb in ["watch --stack dev", "state edit --stack dev"] {
        let refused = run(&world, verb);
        assert!(refused.finished.code == 2 && refused.finished.message.contains("process of its own"), "{verb}");
    }
    let unread = run(&world, "config set --stack dev name");
    assert!(unread.finished.code == 2 && unread.finished.message.contains("give the value"));
}

#[test]
fn the_files_of_a_child_get_events_and_outcome() {
    let world = World::with_shared_state();
    run(&world, "stack init dev");
    let up = run(&world, "up --yes --stack dev --event-log events.jsonl --outcome-file outcome.json");
    assert_eq!(world.read("events.jsonl").lines().count(), up.events.len());
    let outcome: serde_json::Value = serde_json::from_str(&world.read("outcome.json")).unwrap();
    assert_eq!(outcome["outcome"], "succeeded");
    assert_eq!(outcome["exception"], serde_json::Value::Null);
}

#[test]
fn events_are_whole_in_whatever_pieces_they_are_written() {
    let told = Arc::new(Told::default());
    let mut lines = EventLines::new(Arc::clone(&told) as Arc<_>);
    for part in ["{\"a\"", ":1}\n{\"b\":2}\n", "", "{\"c\"", ":3}\n"] {
        lines.write_all(part.as_bytes()).unwrap();
    }
    assert_eq!(*told.0.lock().unwrap(), ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
}
