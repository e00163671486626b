//! Why a run took long, in lines.

use super::lines;
use crate::page::data::{Activity, PathItem, Resource, Run};

#[test]
fn the_slowest_calls_and_the_longest_parts_are_named() {
    let names = ["db", "web", "queue", "log"];
    let resources: Vec<_> =
        names.iter().map(|name| Resource { name: (*name).to_owned(), ..Resource::default() }).collect();
    let call = |resource, duration| Activity {
        kind: "call".into(),
        name: "create".into(),
        resource: Some(resource),
        duration: Some(duration),
        ..Activity::default()
    };
    let wait = Activity { kind: "permit".into(), ..call(3, 90_000.0) };
    let part = |text: &str, duration| PathItem { text: text.to_owned(), duration, ..PathItem::default() };
    let run = Run {
        activities: vec![call(0, 20_100.0), call(1, 900.0), wait, call(2, 3_000.0), call(3, 10.0)],
        critical_path: vec![
            part("the program", 400.0),
            part("web waits for the journal", 10.0),
            part("the program", 100.0),
            part("create of db", 20_100.0),
        ],
        ..Run::default()
    };
    assert_eq!(
        lines(&resources, &run),
        [
            "Slowest calls: create of db 20.1 s, create of queue 3.0 s, create of web 0.9 s",
            "Critical path: the program 0.5 s, create of db 20.1 s",
        ]
    );
}

#[test]
fn of_a_critical_path_of_many_parts_the_longest_are_named_and_the_others_counted() {
    let part =
        |at: u32| PathItem { text: format!("part {at}"), duration: f64::from(at) * 100.0, ..PathItem::default() };
    let run = Run { critical_path: (1..=8).map(part).collect(), ..Run::default() };
    let line =
        "Critical path: part 3 0.3 s, part 4 0.4 s, part 5 0.5 s, part 6 0.6 s, part 7 0.7 s, part 8 0.8 s, and 2 more";
    assert_eq!(lines(&[], &run), [line]);
    let alike = |at: u32| PathItem { duration: 500.0, ..part(at) };
    let run = Run { critical_path: (1..=7).map(alike).collect(), ..Run::default() };
    let line =
        "Critical path: part 1 0.5 s, part 2 0.5 s, part 3 0.5 s, part 4 0.5 s, part 5 0.5 s, part 6 0.5 s, and 1 more";
    assert_eq!(lines(&[], &run), [line]);
}

#[test]
fn names_give_no_orders_to_a_terminal_and_forge_no_line() {
    let name = "evil\x1b[2J\nCritical path: nothing";
    let resources = [Resource { name: name.into(), ..Resource::default() }];
    let call = Activity {
        kind: "call".into(),
        name: "create".into(),
        resource: Some(0),
        duration: Some(9_000.0),
        ..Activity::default()
    };
    let part = PathItem { text: format!("create of {name}"), duration: 9_000.0, ..PathItem::default() };
    let run = Run { activities: vec![call], critical_path: vec![part], ..Run::default() };
    assert_eq!(
        lines(&resources, &run),
        [
            "Slowest calls: create of evil Critical path: nothing 9.0 s",
            "Critical path: create of evil Critical path: nothing 9.0 s",
        ]
    );
}
