#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use futures::executor::block_on;
use serde_json::{Value as Json, json};

use crate::plan::{Change, Entry};
use crate::report::Report;
use crate::stack::TestStack;
use crate::step_log::Message;

const KIND: &str = "pulumi-python:dynamic:Resource";
const PROVIDER: &str = "urn:pulumi:dev::project::pulumi:providers:pulumi-python::default";

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::project::{KIND}::{name}")
}

/// A stack with the resource of a law, beside another one.
fn stack() -> TestStack {
    let resource = |name: &str| {
        json!({
            "urn": urn(name), "custom": true, "id": format!("{name}-1"), "type": KIND, "provider": format!("{PROVIDER}::7"),
            "inputs": { "__provider": "maloko:object", "size": 1 }, "outputs": { "__provider": "maloko:object", "size": 1 },
        })
    };
    let provider = json!({
        "urn": PROVIDER, "custom": true, "id": "7", "type": "pulumi:providers:pulumi-python", "inputs": {}, "outputs": {},
    });
    let state = json!({ "version": 3, "deployment": { "resources": [provider, resource("it"), resource("other")] } });
    let stack = block_on(TestStack::new("project", "dev")).unwrap();
    block_on(stack.import(state.to_string().as_bytes(), "the state of a test")).unwrap();
    stack
}

fn answer(stack: &TestStack, request: &Json) -> Json {
    block_on(stack.answer(&request.to_string())).unwrap()
}

fn names(stack: &TestStack) -> Vec<String> {
    block_on(stack.made()).unwrap().keys().cloned().collect()
}

#[test]
fn a_resource_that_is_forgotten_can_be_imported_and_comes_back_with_the_copy() {
    let stack = stack();
    answer(&stack, &json!({ "do": "save" }));
    let import = answer(&stack, &json!({ "do": "forget", "name": "it" }));
    assert_eq!(import, json!({ "urn": urn("it"), "type": KIND, "parent": null, "id": "it-1" }));
    assert_eq!(names(&stack), ["other"]);
    let again = block_on(stack.answer(&json!({ "do": "forget", "name": "it" }).to_string()));
    assert_eq!(again.unwrap_err().to_string(), "the state has no resource 'it' to forget");
    answer(&stack, &json!({ "do": "restore" }));
    assert_eq!(names(&stack), ["it", "other"]);
    answer(&stack, &json!({ "do": "reload" }));
    assert_eq!(names(&stack), ["it", "other"]);
}

#[test]
fn a_former_resource_keeps_todays_provider() {
    let stack = stack();
    let former = json!({ "id": "", "inputs": { "size": 2 }, "outputs": { "size": 2, "old": true } });
    answer(&stack, &json!({ "do": "put-former", "former": former }));
    let exported: Json = serde_json::from_str(&block_on(stack.export()).unwrap()).unwrap();
    let resources = exported["deployment"]["resources"].as_array().unwrap();
    let it = resources.iter().find(|it| it["urn"] == urn("it").as_str()).unwrap();
    assert_eq!(it["id"], "it-1");
    assert_eq!(it["inputs"], json!({ "__provider": "maloko:object", "size": 2 }));
    assert_eq!(it["outputs"], json!({ "__provider": "maloko:object", "size": 2, "old": true }));
    // The next one takes the place of the resource as it was before the first.
    let former = json!({ "id": "it-0", "inputs": {}, "outputs": {} });
    answer(&stack, &json!({ "do": "put-former", "former": former }));
    assert_eq!(block_on(stack.made()).unwrap()["it"]["id"], "it-0");
}

#[test]
fn outcomes_have_changes_in_order_and_marks_for_what_is_not_shown() {
    let stack = stack();
    let secret = json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" });
    let change = |old: Json, new: Json| Change { kind: "update", old: Some(old), new: Some(new) };
    let changes = [
        ("size".to_owned(), change(json!(1), json!("04da6b54-80e4-46f7-96ec-b56ff0331ba9"))),
        ("key".to_owned(), change(secret.clone(), json!([secret]))),
    ];
    let updated = Entry { changes: changes.into(), ..Entry::for_tests(&urn("it"), "update") };
    let same = Entry::for_tests(&urn("other"), "same");
    let said = |text: &str| Message { severity: "warning", urn: urn("it"), text: text.to_owned() };
    let said = ["create returned a value to look at: size is infinity", "slow"].map(said);
    stack.ended_with(Some(Report { diagnostics: said.into(), ..Report::for_tests(vec![updated, same]) }));
    let told = json!([
        { "path": "key", "old": "[secret]", "new": ["[secret]"] },
        { "path": "size", "old": 1, "new": "[unknown]" },
    ]);
    let law = answer(&stack, &json!({ "do": "law-outcome" }));
    assert_eq!(law["step"]["changes"], told);
    assert_eq!(law["resources"]["it"]["id"], "it-1");
    assert_eq!(law["noted"], json!(["create returned a value to look at: size is infinity"]));
    let life = answer(&stack, &json!({ "do": "life-outcome" }));
    let plan = json!([{
        "name": "it", "urn": urn("it"), "type": KIND, "parent": null, "action": "update", "changes": told,
    }]);
    assert_eq!(life["plan"], plan);
    assert_eq!(life["resources"].as_array().unwrap().len(), 2);
    assert_eq!(life["unresolved"], 0);
}

#[test]
fn an_operation_without_a_report_was_cut_off() {
    let life = answer(&stack(), &json!({ "do": "life-outcome" }));
    assert_eq!(life["crashed"], true);
}
