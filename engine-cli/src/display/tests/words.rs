use std::time::Duration;

use super::story::urn;
use maloko_core::invisible::clean;

use crate::display::words::{TypeNames, count, duration, headline};

#[test]
fn a_type_is_called_by_its_class() {
    let names = TypeNames::default();
    assert_eq!(names.short("pulumi-python:dynamic/labels:Label"), "Label");
    assert_eq!(names.short("pulumi:pulumi:Stack"), "Stack");
    assert_eq!(names.short("my:component"), "component");
    assert_eq!(names.short("odd"), "odd");
    assert_eq!(names.short("odd:"), "odd:");
    assert_eq!(names.title(&urn("pulumi-python:dynamic:Resource", "a::b")), "Resource a::b");
}

#[test]
fn types_that_clash_keep_their_modules() {
    let mut names = TypeNames::default();
    names.learn("pulumi-python:dynamic/github:Label");
    names.learn("pulumi-python:dynamic/github:Label");
    assert_eq!(names.short("pulumi-python:dynamic/github:Label"), "Label");
    names.learn("pulumi-python:dynamic/gitlab:Label");
    names.learn("pulumi-python:dynamic/gitlab:Other");
    assert_eq!(names.short("pulumi-python:dynamic/github:Label"), "github:Label");
    assert_eq!(names.short("pulumi-python:dynamic/gitlab:Label"), "gitlab:Label");
    assert_eq!(names.short("pulumi-python:dynamic/gitlab:Other"), "Other");
    names.learn("pulumi-nodejs:dynamic/gitlab:Label");
    assert_eq!(names.short("pulumi-python:dynamic/gitlab:Label"), "pulumi-python:dynamic/gitlab:Label");
}

#[test]
fn nothing_that_moves_the_cursor_gets_through() {
    assert_eq!(clean("\x1b[2J\x1b[31mred\x1b[0m\r\n\tline\u{7}"), "red\n\tline");
    assert_eq!(clean("\x1b]0;title\x07text"), "text");
    assert_eq!(clean("half an escape \x1b["), "half an escape ");
}

#[test]
fn times_and_counts_are_short() {
    let seconds = |seconds| duration(Duration::from_secs_f64(seconds));
    assert_eq!(
        [0.0, 0.123, 0.996, 4.26, 17.2, 59.7, 125.0, 3599.9, 3725.0].map(seconds),
        ["0.00s", "0.12s", "1.0s", "4.3s", "17s", "1m00s", "2m05s", "60m00s", "1h02m"]
    );
    assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
}

#[test]
fn the_headline_of_a_traceback_is_the_error() {
    assert_eq!(headline("\nHTTP 422\n  more"), "HTTP 422");
    let traceback = "Traceback (most recent call last):\n  File \"a.py\", line 1\n    x()\nValueError: it is wrong\n";
    assert_eq!(headline(traceback), "ValueError: it is wrong");
    assert_eq!(headline("Traceback (most recent call last):\n  cut"), "Traceback (most recent call last):");
    assert_eq!(headline(""), "");
}
