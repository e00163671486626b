#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use futures::executor::block_on;
use serde_json::{Value, json};

use super::{StackTask, TaskEnd, TaskRequest};
use crate::plan::{Change, Entry};
use crate::report::Report;
use crate::stack::TestStack;

const KIND: &str = "pulumi-python:dynamic:Resource";

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::project::{KIND}::{name}")
}

fn entry(name: &str, action: &'static str, changes: &[(&str, Value)]) -> Entry {
    let change = |new: &Value| Change { kind: "add", old: None, new: Some(new.clone()) };
    let changes = changes.iter().map(|(path, new)| ((*path).to_owned(), change(new))).collect();
    Entry { changes, ..Entry::for_tests(&urn(name), action) }
}

/// An operation whose plan this is.
fn report(plan: Vec<Entry>) -> Report {
    Report::for_tests(plan)
}

/// A state with one resource, whose key is secret.
fn state(outputs: &Value) -> String {
    let mark = "4dabf18193072939515e22adb298388d";
    let mut outputs = outputs.clone();
    if let Some(key) = outputs["key"].as_str().map(|key| json!(key).to_string()) {
        outputs["key"] = json!({ mark: "1b47061264138c4ac30d75fd1eb44270", "plaintext": key });
    }
    let provider = "urn:pulumi:dev::project::pulumi:providers:pulumi-python::default";
    let resources = json!([
        { "urn": provider, "custom": true, "id": "7", "type": "pulumi:providers:pulumi-python", "inputs": {}, "outputs": {} },
        {
            "urn": urn("a"), "custom": true, "id": "1", "type": KIND, "inputs": {}, "outputs": outputs,
            "provider": format!("{provider}::7"),
        },
    ]);
    json!({ "version": 3, "deployment": { "resources": resources } }).to_string()
}

fn stack(deployment: Option<&str>) -> TestStack {
    let stack = block_on(TestStack::new("project", "dev")).unwrap();
    if let Some(deployment) = deployment {
        block_on(stack.import(deployment.as_bytes(), "the test")).unwrap();
    }
    stack
}

/// Does a task, of which `run` runs the operations: it gives the report and what was raised.
fn done(
    stack: &TestStack,
    task: &Value,
    mut run: impl FnMut(&Value) -> (Option<Report>, Option<&'static str>),
) -> TaskEnd {
    let mut task = StackTask::new(stack.clone(), &task.to_string()).unwrap();
    let mut answer = Value::Null;
    loop {
        match block_on(task.next(answer)).unwrap() {
            TaskRequest::End(end) => return end,
            TaskRequest::Run { order } => {
                let (report, error) = run(&order);
                let on = if order["copy"] == true { stack.copy().unwrap() } else { stack.clone() };
                on.ended_with(report);
                answer = json!({ "error": error });
            }
        }
    }
}

fn text(end: TaskEnd) -> String {
    match end {
        TaskEnd::Broken { text, .. } => text,
        other => format!("{other:?}"),
    }
}

const NOTHING: TaskEnd = TaskEnd::Done { value: Value::Null };

#[test]
fn a_stack_has_settled_when_two_plans_of_what_was_done_are_empty() {
    let stack = stack(None);
    let settle = json!({ "task": "settle", "after": "up", "targets": ["**::a"] });
    let mut orders = Vec::new();
    let end = done(&stack, &settle, |order| {
        orders.push(order.clone());
        (Some(report(vec![entry("a", "same", &[]), entry("b", "read", &[])])), None)
    });
    assert_eq!(end, NOTHING);
    assert!(orders.iter().all(|it| it["preview"] == true && it["aside"] == true && it["targets"] == json!(["**::a"])));
    assert_eq!(orders.iter().map(|it| it["refresh"].clone()).collect::<Vec<_>>(), [false, true]);

    let drifts = done(&stack, &settle, |order| {
        let action = if order["refresh"] == true { "update" } else { "same" };
        (Some(report(vec![entry("a", action, &[("size", json!(1))])])), None)
    });
    let told = text(drifts);
    assert!(told.starts_with(
        "the stack never settles: planned again right after `up`, with a refresh, it is not left as it is"
    ));
    assert!(told.contains("but would\n  update a\n      size: nothing -> 1\n"), "{told}");
    assert_eq!(done(&stack, &settle, |_| (Some(report(Vec::new())), Some("no network"))), TaskEnd::Raised);
    assert_eq!(done(&stack, &settle, |_| (None, Some("locked"))), TaskEnd::Raised);
}

#[test]
fn an_object_is_imported_as_what_the_program_registers() {
    let stack = stack(None);
    let import = json!({ "task": "import", "name": "a", "id": "7" });
    let plan = || Some(report(vec![entry("a", "create", &[])]));
    let mut orders = Vec::new();
    let end = done(&stack, &import, |order| {
        orders.push(order.clone());
        (plan(), None)
    });
    assert_eq!(end, NOTHING);
    assert_eq!(orders[0]["aside"], true);
    let imports = json!([{ "urn": urn("a"), "type": KIND, "parent": null, "id": "7" }]);
    assert_eq!(orders[1], json!({ "verb": "import", "imports": imports }));
    let unknown = done(&stack, &json!({ "task": "import", "name": "c", "id": "7" }), |_| (plan(), None));
    assert_eq!(
        text(unknown),
        "the program registers no resource 'c' that could be imported; those that it registers: a"
    );
}

#[test]
fn an_import_is_clean_when_id_inputs_outputs_and_the_next_plan_are_as_before() {
    let before = json!({ "size": 1, "key": "hunter22", "tags": { "etag": "x" } });
    let stack = stack(Some(&state(&before)));
    let import = |name: &str, ignore: &[&str], taken: &Value, action: &'static str| {
        done(&stack, &json!({ "task": "import_cleanly", "name": name, "ignore": ignore }), |order| {
            if order["verb"] == "import" {
                block_on(stack.copy().unwrap().import(state(taken).as_bytes(), "the test")).unwrap();
            }
            (Some(report(vec![entry("a", action, &[("tags.etag", json!("y"))])])), None)
        })
    };
    assert_eq!(import("a", &[], &before, "same"), NOTHING);
    let taken = json!({ "size": 1, "key": "other-secret", "tags": { "etag": "y" } });
    let told = text(import("a", &["tags"], &taken, "update"));
    assert!(
        told.contains(
            "'a' does not import cleanly:\n  outputs.key: [secret] when imported, [secret] in the state\n`read`"
        ),
        "{told}"
    );
    assert_eq!(import("a", &["tags", "key"], &taken, "update"), NOTHING);
    let told = text(import("a", &["key"], &taken, "update"));
    assert!(
        told.contains("  outputs.tags: {\"etag\": \"y\"} when imported, {\"etag\": \"x\"} in the state\n"),
        "{told}"
    );
    assert!(told.contains("  the next `up` would update a\n      tags.etag: nothing -> \"y\"\n"), "{told}");
    assert_eq!(text(import("b", &[], &taken, "same")), "the state has no resource 'b'; those that it has: a");
    let task = json!({ "task": "import_cleanly", "name": "a", "ignore": [] });
    let failed = done(&stack, &task, |_| (Some(report(Vec::new())), Some("no such object")));
    let told = "'a' cannot be imported by its id '1': no such object".to_owned();
    assert_eq!(failed, TaskEnd::Broken { text: told, caused: true });
}

#[test]
fn a_teardown_destroys_what_is_there_and_names_what_stays() {
    let tear_down = json!({ "task": "tear_down", "name": "dev", "ledger": null });
    let stack = stack(Some(&state(&json!({ "size": 1 }))));
    let mut orders = Vec::new();
    let end = done(&stack, &tear_down, |order| {
        orders.push(order.clone());
        (Some(report(Vec::new())), Some("it sticks"))
    });
    let problem = format!("the stack 'dev' could not be torn down; left over: 'a' ({KIND}, id '1'). it sticks");
    assert_eq!(end, TaskEnd::Done { value: json!({ "deleted": [], "forgotten": [], "problems": [problem] }) });
    let order = json!({ "verb": "destroy", "continueOnError": true, "ignoreProtect": true, "aside": true });
    assert_eq!(orders, [order]);

    let end = done(&stack, &tear_down, |_| {
        let nothing = json!({ "version": 3, "deployment": { "resources": [] } }).to_string();
        block_on(stack.import(nothing.as_bytes(), "the test")).unwrap();
        (Some(report(Vec::new())), None)
    });
    let deleted = format!("'a' ({KIND}, id '1')");
    assert_eq!(end, TaskEnd::Done { value: json!({ "deleted": [deleted], "forgotten": [], "problems": [] }) });
    let again = done(&stack, &tear_down, |order| (None, Some(if order.is_null() { "" } else { "it runs" })));
    assert_eq!(again, TaskEnd::Done { value: json!({ "deleted": [], "forgotten": [], "problems": [] }) });
}
