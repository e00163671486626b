#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use serde_json::{Value as Json, json};

use super::{CallOrFile, CallOutcome, LoggedCall, fits};

fn call(method: &str, args: &Json, result: &Json, error: Option<&str>) -> LoggedCall {
    serde_json::from_value(json!({ "method": method, "args": args, "result": result, "error": error })).unwrap()
}

fn created(result: &Json) -> LoggedCall {
    call("create", &json!({ "props": {} }), result, None)
}

fn failed(texts: &[&str]) -> CallOutcome {
    CallOutcome::Failed(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn refused(logged: Json) -> String {
    LoggedCall::to_repeat(CallOrFile::Call(logged), "`save`").unwrap_err()
}

#[test]
fn arguments_come_in_the_order_of_the_method() {
    let logged = json!({ "method": "update", "args": { "news": { "n": 2 }, "olds": { "n": 1 }, "id": "it" } });
    let found = LoggedCall::to_repeat(CallOrFile::Call(logged), "`save`").unwrap();
    assert_eq!(found["arguments"], json!(["it", { "n": 1 }, { "n": 2 }]));
    assert_eq!(found["call"]["error"], Json::Null);
}

#[test]
fn a_file_has_what_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("call.json");
    call("delete", &json!({ "id": "it", "props": {} }), &Json::Null, Some("no")).save(&file).unwrap();
    let found = LoggedCall::to_repeat(CallOrFile::File(file), "`save`").unwrap();
    assert_eq!(
        found["call"],
        json!({ "method": "delete", "args": { "id": "it", "props": {} }, "result": null, "error": "no" })
    );
}

#[test]
fn what_is_no_call_is_refused_with_what_is_missing() {
    assert_eq!(
        refused(json!({})),
        "what is given is no call that could be made again: missing field `method`. `save` writes one"
    );
    assert!(refused(json!({ "method": "close", "args": {} })).contains("`close` cannot be called by itself"));
    assert!(refused(json!({ "method": "create", "args": {} })).contains("`args` has no `props`"));
    let nowhere = CallOrFile::File("/nowhere/call.json".into());
    let refused = LoggedCall::to_repeat(nowhere, "`save`").unwrap_err();
    assert!(refused.starts_with("/nowhere/call.json is no call that could be made again: No such file"), "{refused}");
}

#[test]
fn every_place_is_told_that_is_not_as_logged() {
    let logged = created(&json!({ "id": "one", "outs": { "size": 1, "tags": ["a", "b"], "key": "k" } }));
    let answer = json!({ "id": "two", "outs": { "size": 1.0, "tags": ["a"], "more": true } });
    assert_eq!(
        logged.difference(&CallOutcome::Answered(answer)).unwrap(),
        "`create` does not answer as logged\n  id: expected \"one\", got \"two\"\n  outs.tags: expected [\"a\",\"b\"], got [\"a\"]\n  \
         outs.key: expected \"k\", got nothing"
    );
}

#[test]
fn what_stands_for_anything_has_to_be_there() {
    let logged = created(&json!({ "id": "bucket-*", "outs": { "size": "*", "key": "[secret]" } }));
    let same = json!({ "id": "bucket-7", "outs": { "size": [1], "key": "k" } });
    assert_eq!(logged.difference(&CallOutcome::Answered(same)), None);
    let without = json!({ "id": "bucket-7", "outs": { "key": "k" } });
    assert_eq!(
        logged.difference(&CallOutcome::Answered(without)).unwrap(),
        "`create` does not answer as logged\n  outs.size: expected \"*\", got nothing"
    );
}

#[test]
fn no_answer_is_logged_as_null() {
    let logged = call("delete", &json!({ "id": "it", "props": {} }), &Json::Null, None);
    assert_eq!(logged.difference(&CallOutcome::Answered(Json::Null)), None);
    let told = logged.difference(&CallOutcome::Answered(json!("it"))).unwrap();
    assert_eq!(told, "`delete` does not answer as logged\n  expected null, got \"it\"");
}

#[test]
fn a_failure_has_to_be_the_same() {
    let logged = call("create", &json!({ "props": {} }), &Json::Null, Some("OSError: full (caused by [secret])"));
    assert_eq!(logged.difference(&failed(&["full", "OSError: full (caused by me)"])), None);
    assert_eq!(
        logged.difference(&failed(&["other", "OSError: other"])).unwrap(),
        "`create` fails otherwise than logged: other\nlogged: OSError: full (caused by [secret])"
    );
    assert_eq!(
        logged.difference(&CallOutcome::Answered(Json::Null)).unwrap(),
        "`create` does not fail, as it did when it was logged: OSError: full (caused by [secret])"
    );
    let told = created(&Json::Null).difference(&failed(&["full"])).unwrap();
    assert_eq!(told, "`create` fails, which it did not when it was logged: full");
}

#[test]
fn a_text_fits_whose_other_parts_are_there_in_order() {
    assert!(fits("a*b[secret]c", "a 1 b 2 c"));
    assert!(fits("*", ""));
    assert!(!fits("a*a", "a"));
    assert!(!fits("a*c*b*", "a b c"));
    assert!(!fits("[a]", "a"));
}
