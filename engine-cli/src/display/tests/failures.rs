//! A failure reads in three lines.

use std::path::Path;

use insta::assert_snapshot;
use maloko_core::event::{Event, Op, Outcome, Severity};

use super::story::{options, resource, say, shown, step, summary};
use super::tree::final_text;
use crate::display::failures::{ErrorText, Failures};
use crate::display::paint::Paint;
use crate::display::{DisplayMode, DisplayOptions};

const PYTHON: &str = r#"Refused: HTTP 422 on POST /labels: the quota of labels is used up (20 of 20), ask for more at the desk
Traceback (most recent call last):
  File "/srv/shop/labels.py", line 16, in create
    made = post("/labels", {"title": props["title"]})
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/srv/shop/labels.py", line 11, in post
    raise Refused(f"HTTP 422 on POST {path}: the quota of labels is used up (20 of 20), ask for more at the desk")
Refused: HTTP 422 on POST /labels: the quota of labels is used up (20 of 20), ask for more at the desk"#;

const NODE: &str = "KeyError: no member 'id'
    at post (/srv/shop/labels.ts:8:11)
    at async LabelProvider.create (file:///srv/shop/labels.ts:13:28)";

const RAISED: &str = "10 creates raised: by the SDK's rules they made nothing, and the next run makes them again; \
                      `maloko stack` shows their errors in full";

fn shop(options: DisplayOptions) -> DisplayOptions {
    DisplayOptions { directory: "/srv/shop".into(), ..options }
}

/// An `up` in which so many creates fail at one place.
fn failing(creates: usize) -> Vec<Event> {
    let mut events = Vec::new();
    for number in 0..creates {
        let label = resource(&format!("label-{number}"), "", []);
        events.push(Event::StepStarted(step(Op::Create, None, Some(label.clone()))));
        events.push(say(Some(label.urn.clone()), Severity::Error, PYTHON));
        events.push(Event::StepFailed(step(Op::Create, None, Some(label))));
    }
    let one = RAISED
        .replace("10 creates", "1 create")
        .replace("they", "it")
        .replace("them", "it")
        .replace("their errors", "its error");
    events.push(say(None, Severity::Info, if creates == 1 { &one } else { RAISED }));
    events.push(Event::Summary(summary(Outcome::Failed, [("create", 1)])));
    events.push(Event::End);
    events
}

fn plain(options: DisplayOptions, events: Vec<Event>) -> String {
    shown(DisplayMode::Plain, shop(options), events)
}

/// The rows that lines take on a terminal of 80 columns.
fn rows<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines.map(|line| console::measure_text_width(line).div_ceil(80).max(1)).sum()
}

#[test]
fn one_failure_reads_in_three_lines() {
    assert_snapshot!(plain(options(), failing(1)));
}

#[test]
fn the_traceback_is_shown_where_it_is_wanted() {
    assert_snapshot!(plain(DisplayOptions { show_tracebacks: true, ..options() }, failing(2)));
}

#[test]
fn ten_failures_fit_a_screen_of_a_log() {
    let text = plain(options(), failing(10));
    let told = text.lines().take_while(|line| !line.starts_with("Resources:"));
    assert!(rows(told.clone()) <= 30, "{} rows", rows(told));
    assert_snapshot!(text);
}

#[test]
fn ten_failures_fit_a_screen_of_a_terminal() {
    let text = final_text(shop(options()), 80, failing(10));
    let from = text.lines().skip_while(|line| !line.starts_with("Failed:"));
    assert!(rows(from.clone()) <= 30, "{} rows", rows(from));
    for number in 0..10 {
        let error = format!("label-{number}: Refused: HTTP 422");
        assert_eq!(text.matches(&error).count(), 1, "each error is told once: {error}");
    }
    assert_snapshot!(text);
}

#[test]
fn what_an_error_says_comes_first_and_then_where_it_was_raised() {
    let said = |text: &str| {
        let error = ErrorText::of(text, Path::new("/srv/shop"));
        let rest = error.rest(false, &mut std::collections::BTreeSet::new());
        std::iter::once(error.first().to_owned()).chain(rest).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(said(PYTHON), @r"
    Refused: HTTP 422 on POST /labels: the quota of labels is used up (20 of 20), ask for more at the desk
    at post (labels.py:11), from create (labels.py:16)
    ");
    assert_snapshot!(said(NODE), @r"
    KeyError: no member 'id'
    at post (labels.ts:8), from LabelProvider.create (labels.ts:13)
    ");
    // What is no traceback is told in full.
    let refused = "check refused the inputs:\n    * name: is missing\n    * size: is no number\n    * zone: is missing";
    assert_eq!(said(refused), refused);
    assert_eq!(said(""), "");
}

#[test]
fn of_a_deep_traceback_the_users_own_code_and_the_providers_method_are_named() {
    let own = [
        ("/srv/shop/labels.py", 16, "create"),
        ("/srv/shop/client.py", 3, "post"),
        ("/srv/shop/client.py", 9, "send"),
        ("/srv/shop/client.py", 12, "sign"),
    ];
    let libraries = [
        ("/usr/lib/python3.12/pathlib.py", 1147, "unlink"),
        ("/venv/lib/python3.12/site-packages/requests/models.py", 1021, "raise_for_status"),
    ];
    let told = |frames: &[(&str, u32, &str)]| {
        let frames = frames.iter();
        let frames = frames.map(|(file, line, name)| format!("  File \"{file}\", line {line}, in {name}\n    code\n"));
        let frames = frames.collect::<Vec<_>>().concat();
        let cause = "Traceback (most recent call last):\n  File \"/srv/shop/deep.py\", line 1, in deep\nKeyError: 1\n\nThe \
                     above exception was the direct cause of the following exception:\n\n";
        let text = format!("HTTPError: 500\n{cause}Traceback (most recent call last):\n{frames}HTTPError: 500");
        let error = ErrorText::of(&text, Path::new("/srv/shop"));
        assert_eq!(error.first(), "HTTPError: 500");
        error.rest(false, &mut std::collections::BTreeSet::new())
    };
    assert_eq!(
        told(&[&own[..], &libraries].concat()),
        ["at sign (client.py:12), from send (client.py:9), from create (labels.py:16)"]
    );
    // Where all of it is a package's, the package is told.
    assert_eq!(
        told(&libraries),
        ["at raise_for_status (requests/models.py:1021), from unlink (/usr/lib/python3.12/pathlib.py:1147)"]
    );
}

#[test]
fn a_page_that_was_raised_is_cut_short() {
    let page = format!("ApiError: <html>\n{}\n<p>\n<p>\n<p>\n    at create (/work/a.ts:1:1)", "x".repeat(2000));
    let error = ErrorText::of(&page, Path::new(""));
    let rest = error.rest(false, &mut std::collections::BTreeSet::new());
    assert_eq!((rest.len(), rest[0].len()), (3, 604));
    assert_eq!(rest[1..], ["<p> ... (2 more lines)", "at create (/work/a.ts:1)"]);
}

#[test]
fn failures_are_listed_by_name_with_how_many_more_errors_there_were() {
    let mut failures = Failures::default();
    let paint = Paint::new(false);
    assert!(failures.lines(paint, false).is_empty() && failures.names(paint).is_empty());
    for number in (0..12).rev() {
        failures.step(format!("Label l{number}"));
        failures.error(format!("Label l{number}"), ErrorText::of("no", Path::new("")));
        failures.error(format!("Label l{number}"), ErrorText::of("a later error", Path::new("")));
    }
    failures.step("Label waiting".to_owned());
    let lines = failures.lines(paint, false);
    assert_eq!(lines[..2], ["Failed:", "    Label l0: no (and 1 more error)"]);
    assert_eq!(lines[12..], ["    Label l11: no (and 1 more error)", "1 step was cancelled before it began", ""]);
    let names: Vec<String> = (0..10).map(|number| format!("Label l{number}")).collect();
    assert_eq!(failures.names(paint)[0], format!("Failed: {} and 2 more", names.join(", ")));
}

#[test]
fn an_error_that_was_reported_in_a_step_which_was_done_is_no_failure() {
    let mut failures = Failures::default();
    let paint = Paint::new(false);
    let error = |failures: &mut Failures, title: &str, text| {
        failures.error(title.to_owned(), ErrorText::of(text, Path::new("")));
    };
    error(&mut failures, "Command broken", "exit status 3");
    failures.step("Command broken".to_owned());
    error(&mut failures, "Command noisy", "a warning of the command");
    failures.done("Command noisy");
    failures.done("Command quiet");
    let done = ["Done, with errors:", "    Command noisy: a warning of the command", ""];
    let failed = ["Failed:", "    Command broken: exit status 3", ""];
    assert_eq!(failures.lines(paint, false), [done, failed].concat());
    assert!(failures.names(paint).is_empty(), "one failure needs no list of names");

    // What is refused later, before another step begins, failed.
    error(&mut failures, "Command noisy", "check refused the inputs");
    assert_eq!(failures.names(paint), ["Failed: Command broken, Command noisy", ""]);
}
