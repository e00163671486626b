//! Drift apart from the plan, why a resource is replaced because of another, and changes of the state alone.

use insta::assert_snapshot;
use maloko_core::event::{Event, Op, Outcome, StepMetadata, Summary};
use maloko_core::resource_state::ResourceState;

use super::story::{options, preview_options, resource, shown, step, summary, urn};
use super::tree::final_text;
use crate::display::{DisplayMode, DisplayOptions};

fn both(step: StepMetadata) -> [Event; 2] {
    [Event::StepStarted(step.clone()), Event::StepDone(step)]
}

fn plain(options: DisplayOptions, events: Vec<Event>) -> String {
    shown(DisplayMode::Plain, options, events)
}

fn ended(is_preview: bool, mut events: Vec<Event>) -> Vec<Event> {
    events.push(Event::Summary(Summary { is_preview, ..summary(Outcome::Succeeded, [("same", 1)]) }));
    events.push(Event::End);
    events
}

/// A refresh that finds one object changed, one gone, and one as it was, before an update of another one.
fn refreshed(is_preview: bool) -> Vec<Event> {
    let stored = |name: &str, color: &str| resource(name, name, [("color", color.into())]);
    let found = |note, name: &str, color: &str| {
        let new = (!color.is_empty()).then(|| stored(name, color));
        StepMetadata { note, ..step(Op::Refresh, Some(stored(name, "red")), new) }
    };
    let mut events = Vec::new();
    events.extend(both(found("same", "calm", "red")));
    events.extend(both(found("update", "b", "blue")));
    events.extend(both(found("delete", "a", "")));
    events.extend(both(step(Op::Same, Some(stored("calm", "red")), Some(stored("calm", "red")))));
    events.extend(both(step(Op::Update, Some(stored("b", "blue")), Some(stored("b", "red")))));
    events.extend(both(step(Op::Create, None, Some(stored("a", "red")))));
    ended(is_preview, events)
}

#[test]
fn a_preview_that_refreshes_separates_drift_from_plan() {
    assert_snapshot!(plain(preview_options(), refreshed(true)));
}

#[test]
fn an_update_that_refreshes_separates_drift_from_what_it_does() {
    assert_snapshot!(plain(options(), refreshed(false)));
}

#[test]
fn on_a_terminal_drift_stands_above_the_plan() {
    assert_snapshot!(final_text(preview_options(), 80, refreshed(true)));
}

#[test]
fn where_a_refresh_finds_nothing_that_is_said() {
    let calm = || resource("calm", "1", []);
    let refreshed = StepMetadata { note: "same", ..step(Op::Refresh, Some(calm()), Some(calm())) };
    for (options, plan) in [
        (preview_options(), "Drift found by refreshing: none\nPlan:\n"),
        (options(), "Drift found by refreshing: none\n"),
    ] {
        let mut events = Vec::from(both(refreshed.clone()));
        events.extend(both(step(Op::Same, Some(calm()), Some(calm()))));
        let is_preview = options.is_preview;
        let text = plain(options, ended(is_preview, events.clone()));
        assert!(text.starts_with(plan), "{text}");
    }
}

/// A replacement of `db`, of `web` because of it, and of `own` for a reason of its own; and changes of the state alone.
fn replaced(op: Op) -> Vec<Event> {
    let depending = |name: &str, property: &str| ResourceState {
        property_dependencies: [(property.to_owned(), vec![resource("db", "", []).urn])].into(),
        ..resource(name, "", [])
    };
    let replacing = |new: ResourceState, key: &str| StepMetadata {
        keys: vec![key.to_owned()],
        ..step(op, Some(new.clone()), Some(new))
    };
    let moved = ResourceState { urn: urn("a:b:Former", "old"), ..resource("new", "2", []) };
    let open = || resource("kept", "3", []);
    let mut events = Vec::new();
    events.extend(both(replacing(resource("db", "", []), "zone")));
    events.extend(both(replacing(depending("web", "from"), "from.id")));
    events.extend(both(replacing(depending("dns", "app.from"), "app.from")));
    events.extend(both(replacing(depending("own", "from"), "color")));
    events.extend(both(step(Op::Same, Some(moved), Some(resource("new", "2", [])))));
    events.extend(both(step(
        Op::Same,
        Some(open()),
        Some(ResourceState { protect: true, retain_on_delete: true, ..open() }),
    )));
    events.extend(both(step(Op::Same, Some(open()), Some(open()))));
    ended(op == Op::Replace, events)
}

#[test]
fn a_replacement_says_because_of_what_and_what_changes_in_the_state_alone_is_shown() {
    assert_snapshot!(plain(preview_options(), replaced(Op::Replace)));
    assert_snapshot!(final_text(preview_options(), 80, replaced(Op::Replace)));
}

#[test]
fn the_update_says_so_too() {
    assert_snapshot!(plain(options(), replaced(Op::CreateReplacement)));
}
