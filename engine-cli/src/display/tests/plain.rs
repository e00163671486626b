use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use maloko_core::event::{Event, Op};

use super::story::{changes, creation, failure, options, preview, preview_options, resource, shown, step};
use crate::display::{DisplayMode, DisplayOptions, renderer};

fn plain(options: DisplayOptions, events: Vec<Event>) -> String {
    shown(DisplayMode::Plain, options, events)
}

#[test]
fn a_creation_is_told_line_by_line() {
    assert_snapshot!(plain(options(), creation()));
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
