use std::sync::Arc;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use maloko_core::event::{Diagnostic, Event, Op, Outcome, Severity, Speaker, Summary};

use super::story::{
    changes, creation, failure, map, options, prelude, preview, preview_options, resource, say, shown, step, summary,
};
use crate::display::{DisplayMode, DisplayOptions, renderer};

fn plain(options: DisplayOptions, events: Vec<Event>) -> String {
    shown(DisplayMode::Plain, options, events)
}

#[test]
fn a_creation_is_told_line_by_line() {
    assert_snapshot!(plain(options(), creation()));
}

#[test]
fn the_programs_name_stands_before_what_the_program_said() {
    let of_engine = Event::Diagnostic(Diagnostic {
        urn: None,
        severity: Severity::Info,
        message: "1 create was tried again".into(),
        ephemeral: false,
        still_waiting: false,
        speaker: Speaker::Engine,
    });
    for mode in [DisplayMode::Plain, DisplayMode::Tree] {
        let events = [prelude(), say(None, Severity::Output, "hello"), of_engine.clone(), Event::End];
        let said = shown(mode, options(), events.into());
        assert_eq!(said.matches("program:").count(), 1, "{said}");
    }
    assert!(plain(options(), vec![prelude(), of_engine]).contains("\n1 create was tried again"));
}

#[test]
fn outputs_are_those_that_change_and_all_of_them_after_a_change() {
    let outputs = |new: f64| Event::StackOutputs {
        old: Arc::new(map([("count", 1.0.into()), ("url", "u".into())])),
        new: Arc::new(map([("count", new.into()), ("url", "u".into())])),
    };
    let told = |options, new, changes: &[(&'static str, u64)], is_preview| {
        let changes = changes.iter().copied().collect();
        let summary = Summary { is_preview, changes, ..summary(Outcome::Succeeded, []) };
        let text = plain(options, vec![prelude(), outputs(new), Event::Summary(summary), Event::End]);
        ["count", "url"].map(|name| text.contains(name))
    };
    assert_eq!(told(options(), 2.0, &[("update", 1), ("same", 1)], false), [true, true]);
    assert_eq!(told(options(), 2.0, &[("same", 2)], false), [true, false]);
    assert_eq!(told(options(), 1.0, &[("same", 2)], false), [false, false]);
    assert_eq!(told(preview_options(), 1.0, &[("update", 1)], true), [false, false]);
}

#[test]
fn changes_say_what_changed() {
    assert_snapshot!(plain(options(), changes()));
}

#[test]
fn unchanged_resources_are_told_on_request() {
    assert_snapshot!(plain(DisplayOptions { show_sames: true, suppress_outputs: true, ..options() }, changes()));
}

#[test]
fn with_diff_each_change_is_told_property_by_property() {
    assert_snapshot!(plain(DisplayOptions { diff: true, ..options() }, changes()));
}

#[test]
fn an_error_stands_in_full_under_its_resource_and_in_short_at_the_end() {
    assert_snapshot!(plain(options(), failure()));
}

#[test]
fn a_preview_tells_what_would_be_done() {
    assert_snapshot!(plain(preview_options(), preview()));
}

#[test]
fn a_preview_with_diff_tells_it_property_by_property() {
    assert_snapshot!(plain(DisplayOptions { diff: true, ..preview_options() }, preview()));
}

#[test]
fn colours_are_used_where_they_are_wanted() {
    let coloured = plain(DisplayOptions { color: true, diff: true, ..options() }, changes());
    assert_snapshot!(coloured.replace('\x1b', "^"));
    assert_eq!(
        console::strip_ansi_codes(&coloured),
        plain(DisplayOptions { diff: true, ..options() }, changes()),
        "colours change nothing else"
    );
}

#[test]
fn a_call_that_takes_long_is_mentioned_now_and_then_and_timed_from_its_beginning() {
    let mut plain = renderer(DisplayMode::Plain, options(), SystemTime::UNIX_EPOCH);
    let mut out = Vec::new();
    let slow = step(Op::Create, None, Some(resource("slow", "", [])));
    plain.event(Duration::ZERO, Event::StepStarted(slow.clone()), &mut out).unwrap();
    plain.called(Duration::from_secs(100), &slow.urn);
    for second in 0..200 {
        plain.frame(Duration::from_secs(second), &mut out).unwrap();
    }
    plain.event(Duration::from_secs(200), Event::StepDone(slow), &mut out).unwrap();
    assert_snapshot!(String::from_utf8(out).unwrap(), @r"
    Label slow: still creating (20s)
    Label slow: still creating (40s)
    Label slow: still creating (1m20s)
    + Label slow created (1m40s)
    ");
}

#[test]
fn off_a_terminal_each_of_several_long_creates_is_reported_as_still_going() {
    let options = DisplayOptions { mention_after: Duration::from_secs(5), ..options() };
    let mut plain = renderer(DisplayMode::Plain, options, SystemTime::UNIX_EPOCH);
    let mut out = Vec::new();
    for (name, second) in [("one", 0), ("two", 1), ("three", 3)] {
        let long = step(Op::Create, None, Some(resource(name, "", [])));
        plain.event(Duration::ZERO, Event::StepStarted(long.clone()), &mut out).unwrap();
        plain.called(Duration::from_secs(second), &long.urn);
    }
    for second in 0..12 {
        plain.frame(Duration::from_secs(second), &mut out).unwrap();
    }
    assert_snapshot!(String::from_utf8(out).unwrap(), @r"
    Label one: still creating (5.0s)
    Label two: still creating (5.0s)
    Label three: still creating (5.0s)
    Label one: still creating (10s)
    Label two: still creating (10s)
    ");
}
