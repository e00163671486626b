//! What the duration of a run is made of.

use super::critical_path;
use crate::page::data::{Activity, Dependency, PathItem, Resource};

fn resource(name: &str, on: &[usize]) -> Resource {
    let dependencies = on.iter().map(|on| Dependency { on: *on, properties: Vec::new() }).collect();
    Resource { name: name.to_owned(), dependencies, ..Resource::default() }
}

fn activity(kind: &str, name: &str, resource: usize, began: f64, duration: f64) -> Activity {
    let (kind, name) = (kind.to_owned(), name.to_owned());
    Activity { kind, name, resource: Some(resource), began, duration: Some(duration), ..Activity::default() }
}

fn call(name: &str, resource: usize, began: f64, duration: f64) -> Activity {
    activity("call", name, resource, began, duration)
}

fn texts(path: &[PathItem]) -> Vec<String> {
    path.iter().map(|item| format!("{} {} +{}", item.text, item.began, item.duration)).collect()
}

#[test]
fn a_chain_of_dependencies_is_followed_from_the_end() {
    let resources = [resource("db", &[]), resource("web", &[0]), resource("other", &[])];
    let activities = [
        call("check", 0, 100.0, 1.0),
        call("create", 0, 101.0, 200.0),
        call("create", 2, 101.0, 150.0),
        call("create", 1, 320.0, 80.0),
    ];
    let path = critical_path(&resources, &activities, 410.0);
    assert_eq!(
        texts(&path),
        [
            "the program 0 +100",
            "check of db 100 +1",
            "create of db 101 +200",
            "the program 301 +19",
            "create of web 320 +80",
            "the program 400 +10",
        ]
    );
    let whole: f64 = path.iter().map(|item| item.duration).sum();
    assert!((whole - 410.0).abs() < 1e-9, "the parts are the whole: {whole}");
}

#[test]
fn what_waits_for_a_permit_waits_for_the_call_that_gave_it_back() {
    let resources = [resource("a", &[]), resource("b", &[])];
    let activities =
        [call("create", 0, 0.0, 50.0), activity("permit", "--parallel", 1, 2.0, 48.0), call("create", 1, 50.0, 30.0)];
    let path = critical_path(&resources, &activities, 80.0);
    assert_eq!(texts(&path), ["create of a 0 +50", "create of b 50 +30"]);
}

#[test]
fn a_delete_waits_for_those_of_its_dependents() {
    let resources = [resource("db", &[]), resource("web", &[0])];
    let activities = [call("delete", 1, 5.0, 20.0), call("delete", 0, 25.0, 10.0)];
    let path = critical_path(&resources, &activities, 35.0);
    assert_eq!(texts(&path), ["the program 0 +5", "delete of web 5 +20", "delete of db 25 +10"]);
}

#[test]
fn a_record_of_a_delete_waits_for_the_deletes_of_dependents() {
    let resources = [resource("base", &[]), resource("copy", &[0])];
    let activities = [
        call("create", 0, 0.0, 20.0),
        call("create", 1, 20.0, 30.0),
        call("delete", 1, 50.0, 4.0),
        activity("disk", "the journal", 0, 54.0, 2.0),
        call("delete", 0, 56.0, 5.0),
    ];
    let path = critical_path(&resources, &activities, 61.0);
    let calls = ["create of base 0 +20", "create of copy 20 +30", "delete of copy 50 +4"];
    assert_eq!(texts(&path), [&calls[..], &["base waits for the journal 54 +2", "delete of base 56 +5"]].concat());
}

#[test]
fn what_belongs_to_no_resource_waits_for_whatever_ended_before() {
    let record = Activity { resource: None, ..activity("disk", "the journal", 0, 30.0, 5.0) };
    let path = critical_path(&[resource("a", &[])], &[call("create", 0, 0.0, 30.0), record], 35.0);
    assert_eq!(texts(&path), ["create of a 0 +30", "the journal 30 +5"]);
}

#[test]
fn a_run_without_calls_is_the_program() {
    assert_eq!(texts(&critical_path(&[], &[], 12.0)), ["the program 0 +12"]);
}

#[test]
fn resources_that_name_one_another_do_not_keep_the_path_from_ending() {
    let resources = [resource("a", &[1]), resource("b", &[0])];
    let activities = [call("read", 0, 0.0, 10.0), call("read", 1, 0.0, 10.0), call("update", 0, 10.0, 5.0)];
    assert_eq!(critical_path(&resources, &activities, 15.0).last().map(|item| item.text.as_str()), Some("update of a"));
}

#[test]
fn a_wait_for_what_comes_before_is_what_was_done_meanwhile() {
    // `other` depends on nothing, and goes in an earlier group.
    let resources = [resource("db", &[]), resource("web", &[0]), resource("other", &[])];
    let activities = [
        call("delete", 1, 5.0, 10.0),
        call("delete", 2, 6.0, 30.0),
        // The engine notes its end a little later.
        activity("dependency", "what is deleted before it", 0, 5.0, 31.5),
        call("delete", 0, 36.5, 4.0),
    ];
    let path = critical_path(&resources, &activities, 40.5);
    assert_eq!(texts(&path), ["the program 0 +6", "delete of other 6 +30", "delete of db 36.5 +4"]);
}

#[test]
fn what_took_no_time_does_not_keep_the_path_from_ending() {
    let resources = [resource("db", &[1]), resource("web", &[0])];
    let wait = |resource| activity("dependency", "what is deleted before it", resource, 5.0, 0.1);
    let activities = [wait(0), wait(1), call("delete", 0, 5.1, 0.0), call("delete", 1, 5.1, 0.0)];
    assert!(critical_path(&resources, &activities, 6.0).len() < 8);
}
