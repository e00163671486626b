use std::time::Duration;

use insta::assert_snapshot;
use maloko_core::event::{Diagnostic, Event, Op, Severity, Speaker, StepMetadata};
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::Urn;

use super::story::{
    LABEL, changes, component, creation, failure, options, preview, preview_options, resource, say, stack_resource,
    step, with_outputs,
};
use super::terminal::Terminal;
use crate::display::redact::SecretDisplay;
use crate::display::screen::Size;
use crate::display::tree::Tree;
use crate::display::worker::Renderer;
use crate::display::{DisplayMode, DisplayOptions};

/// A tree on a terminal of this size, and what stands on it.
struct Stage {
    tree: Tree,
    terminal: Terminal,
    now: Duration,
}

impl Stage {
    fn new(options: DisplayOptions, rows: usize, columns: usize) -> Self {
        let redactor = SecretDisplay::new(options.show_secrets, options.redactor.clone());
        let tree = Tree::new(options, redactor, Box::new(move || Size { rows, columns }));
        Self { tree, terminal: Terminal::new(rows, columns), now: Duration::ZERO }
    }

    /// Each event comes 120 milliseconds after the one before; a frame is drawn after each.
    fn play(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            self.now += Duration::from_millis(120);
            self.tree.event(self.now, event, &mut self.terminal).unwrap();
            self.tree.frame(self.now, &mut self.terminal).unwrap();
        }
    }

    /// The component of [`in_progress`], with the second child's provider at work and a third one that waits.
    fn play_in_progress(&mut self) {
        let mut events = in_progress();
        let said = events.split_off(events.len() - 2);
        self.play(events);
        self.tree.called(self.now, &child("two").urn);
        self.play(said);
    }

    fn finish(&mut self) -> String {
        self.tree.finish(self.now, &mut self.terminal).unwrap();
        self.terminal.text()
    }
}

pub(super) fn final_text(options: DisplayOptions, columns: usize, events: Vec<Event>) -> String {
    let mut stage = Stage::new(options, 40, columns);
    stage.play(events);
    stage.finish()
}

fn site() -> ResourceState {
    component("my:web:Site", "site")
}

fn child(name: &str) -> ResourceState {
    let urn = Urn::new("dev", "demo", "my:web:Site", LABEL, name);
    ResourceState { urn, parent: Some(site().urn), ..resource(name, "", [("color", "ff0000".into())]) }
}

/// A component with children, of which the first is done and the second talks.
fn in_progress() -> Vec<Event> {
    let second = child("two");
    vec![
        Event::StepStarted(step(Op::Create, None, Some(stack_resource()))),
        Event::StepStarted(step(Op::Create, None, Some(site()))),
        Event::StepStarted(step(Op::Create, None, Some(child("one")))),
        Event::StepDone(step(Op::Create, None, Some(with_outputs(child("one"), [])))),
        Event::StepStarted(step(Op::Create, None, Some(second.clone()))),
        Event::StepStarted(step(Op::Create, None, Some(child("three")))),
        say(Some(second.urn), Severity::Output, "waiting for the server\nit says: 12 % of the way"),
    ]
}

#[test]
fn while_it_runs_the_tree_shows_who_does_what_since_when() {
    let mut stage = Stage::new(options(), 24, 100);
    stage.play_in_progress();
    assert_snapshot!(stage.terminal.text());
}

#[test]
fn beside_what_a_call_does_since_when_stands_what_it_said_and_not_that_it_lasts() {
    let mut stage = Stage::new(options(), 24, 100);
    stage.play_in_progress();
    let call = |method: &str, urn: Urn| {
        let message = format!("still waiting for {method} of '{}' (20 s)", urn.name());
        let severity = Severity::Info;
        Event::Diagnostic(Diagnostic {
            urn: Some(urn),
            severity,
            message: message.into(),
            ephemeral: true,
            still_waiting: true,
            speaker: Speaker::Engine,
        })
    };
    stage.play([call("create", child("two").urn), call("check", child("three").urn)]);
    stage.tree.called(stage.now, &child("three").urn);
    stage.now = Duration::from_secs(60);
    stage.tree.frame(stage.now, &mut stage.terminal).unwrap();
    let text = stage.terminal.text();
    assert!(text.contains("two       creating (59s)    it says: 12 % of the way"), "{text}");
    assert!(text.contains("three     creating (59s)") && !text.contains("still waiting"), "{text}");
}

#[test]
fn the_live_tree_fits_a_narrow_terminal() {
    let mut stage = Stage::new(options(), 24, 44);
    stage.play_in_progress();
    let text = stage.terminal.text();
    assert!(text.lines().all(|line| console::measure_text_width(line) < 44), "{text}");
    assert_snapshot!(text);
}

#[test]
fn the_end_of_a_creation() {
    assert_snapshot!(final_text(options(), 100, creation()));
}

#[test]
fn the_end_of_changes() {
    assert_snapshot!(final_text(options(), 100, changes()));
}

#[test]
fn the_end_of_changes_with_their_details() {
    assert_snapshot!(final_text(DisplayOptions { diff: true, ..options() }, 100, changes()));
}

#[test]
fn the_end_of_a_failure() {
    assert_snapshot!(final_text(options(), 100, failure()));
}

#[test]
fn the_end_of_a_preview() {
    assert_snapshot!(final_text(preview_options(), 100, preview()));
}

#[test]
fn the_end_of_a_preview_with_its_details() {
    assert_snapshot!(final_text(DisplayOptions { diff: true, ..preview_options() }, 100, preview()));
}

#[test]
fn what_was_not_finished_is_said() {
    let mut stage = Stage::new(options(), 24, 100);
    stage.play_in_progress();
    assert_snapshot!(stage.finish());
}

#[test]
fn a_destruction_keeps_children_under_parents_that_go_later() {
    let remove = |resource: ResourceState| {
        let resource = with_outputs(resource, []);
        [
            Event::StepStarted(step(Op::Delete, Some(resource.clone()), None)),
            Event::StepDone(step(Op::Delete, Some(resource), None)),
        ]
    };
    let events = [child("two"), child("one"), site(), stack_resource()].into_iter().flat_map(remove).collect();
    assert_snapshot!(final_text(options(), 100, events));
}

#[test]
fn a_refresh_shows_what_it_found() {
    let old = with_outputs(resource("drifted", "1", []), [("size", 1.0.into())]);
    let new = with_outputs(resource("drifted", "1", []), [("size", 2.0.into())]);
    let steady = with_outputs(resource("steady", "2", []), []);
    let gone = with_outputs(resource("gone", "3", []), []);
    let begin = |resource: &ResourceState| {
        Event::StepStarted(step(Op::Refresh, Some(resource.clone()), Some(resource.clone())))
    };
    let found = |note, old: ResourceState, new: Option<ResourceState>| {
        Event::StepDone(StepMetadata { note, ..step(Op::Refresh, Some(old), new) })
    };
    let events = vec![
        begin(&stack_resource()),
        begin(&old),
        begin(&steady),
        begin(&gone),
        found("same", stack_resource(), Some(stack_resource())),
        found("update", old, Some(new)),
        found("same", steady.clone(), Some(steady)),
        found("delete", gone, None),
    ];
    let options = DisplayOptions { kind: maloko_core::OperationKind::Refresh, diff: true, ..options() };
    assert_snapshot!(final_text(options, 100, events));
}

#[test]
fn the_live_tree_leaves_nothing_behind() {
    for options in [options(), DisplayOptions { color: true, ..options() }] {
        for (rows, columns) in [(40, 100), (12, 60), (6, 30), (3, 10)] {
            let mut drawn = Stage::new(options.clone(), rows, columns);
            drawn.play(changes());
            let drawn = drawn.finish();
            let quiet = DisplayOptions { suppress_progress: true, ..options.clone() };
            let mut silent = Stage::new(quiet, rows, columns);
            for event in changes() {
                silent.now += Duration::from_millis(120);
                silent.tree.event(silent.now, event, &mut silent.terminal).unwrap();
            }
            assert_eq!(drawn, silent.finish(), "at {rows} by {columns}");
        }
    }
}

#[test]
fn a_big_stack_shows_what_is_in_progress_and_what_was_last() {
    let mut stage = Stage::new(options(), 12, 80);
    let named = |number: usize| resource(&format!("label-{number:05}"), "", []);
    stage
        .tree
        .event(
            Duration::ZERO,
            Event::StepStarted(step(Op::Same, Some(stack_resource()), Some(stack_resource()))),
            &mut stage.terminal,
        )
        .unwrap();
    for number in 0..10_000 {
        let op = if number % 3 == 0 { Op::Create } else { Op::Same };
        let (old, new) = (named(number), named(number));
        let step = step(op, (op == Op::Same).then_some(old), Some(new));
        let at = Duration::from_millis(number as u64);
        stage.tree.event(at, Event::StepStarted(step.clone()), &mut stage.terminal).unwrap();
        stage.tree.called(at, &step.urn);
        if !(9_990..9_995).contains(&number) {
            stage.tree.event(at, Event::StepDone(step), &mut stage.terminal).unwrap();
        }
    }
    stage.tree.frame(Duration::from_secs(12), &mut stage.terminal).unwrap();
    assert_snapshot!(stage.terminal.text());
    let lines = stage.finish().lines().count();
    assert!(lines > 3_300, "in the end all that was created is listed: {lines}");
}

#[test]
fn only_the_last_lines_of_a_long_log_are_kept_but_every_warning() {
    let talker = resource("talker", "1", []);
    let mut events = vec![say(Some(talker.urn.clone()), Severity::Warning, "mind the gap")];
    events.extend((0..500).map(|line| say(Some(talker.urn.clone()), Severity::Output, &format!("line {line}"))));
    let text = final_text(options(), 100, events);
    assert!(text.contains("mind the gap") && text.contains("line 499") && text.contains("line 400"), "{text}");
    assert!(text.contains("(400 earlier lines left out)") && !text.contains("line 399\n"), "{text}");
}

#[test]
fn a_dumb_terminal_gets_lines() {
    let as_plain = super::story::shown(DisplayMode::Plain, options(), creation());
    assert!(!as_plain.contains('\x1b'));
    assert!(final_text(options(), 100, creation()).starts_with("Updating (dev):\n"));
}

#[test]
fn a_resource_that_failed_before_its_step_could_begin_is_marked() {
    let stack = Event::StepStarted(step(Op::Same, Some(stack_resource()), Some(stack_resource())));
    let refused =
        say(Some(resource("odd", "", []).urn), Severity::Error, "property color is not valid: six hex digits");
    assert_snapshot!(final_text(options(), 100, vec![stack, refused]));
}

#[test]
fn what_was_cancelled_before_it_began_is_no_failure() {
    let waiting = || step(Op::Create, None, Some(resource("waiting", "", [])));
    let mut events = in_progress();
    events.extend([Event::StepStarted(waiting()), Event::StepFailed(waiting())]);
    let text = final_text(options(), 100, events);
    assert!(text.contains("waiting   cancelled") && text.contains("1 step was cancelled before it began"), "{text}");
}

#[test]
fn long_names_do_not_pad_the_final_tree() {
    let long = resource(&"a-name-that-somebody-generated-".repeat(5), "", [("color", "ff0000".into())]);
    let both = [resource("short", "", [("color", "ff0000".into())]), long];
    let done = |resource: ResourceState| {
        let begun = step(Op::Create, None, Some(resource.clone()));
        [Event::StepStarted(begun), Event::StepDone(step(Op::Create, None, Some(with_outputs(resource, []))))]
    };
    let text = final_text(options(), 300, both.into_iter().flat_map(done).collect());
    let short = text.lines().find(|line| line.contains("short")).unwrap();
    assert!(console::measure_text_width(short) < 80, "{text}");
    assert!(text.contains(&"a-name-that-somebody-generated-".repeat(5)), "{text}");
}

#[test]
fn words_are_not_cut_in_the_middle() {
    let talking = child("talks");
    let reason = "the quota of the project is exhausted until somebody raises it";
    for columns in 60..130 {
        let mut stage = Stage::new(options(), 24, columns);
        stage.play([
            Event::StepStarted(step(Op::Create, None, Some(talking.clone()))),
            say(Some(talking.urn.clone()), Severity::Error, reason),
            say(None, Severity::Output, reason),
        ]);
        let live = stage.terminal.text();
        for line in live.lines().filter(|line| line.contains("the quota")) {
            let shown = &line[line.find("the quota").unwrap()..];
            let shown = shown.strip_suffix('…').map_or(shown, str::trim_end);
            let rest = reason.strip_prefix(shown);
            assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')), "{columns}: {line}");
        }
    }
}
