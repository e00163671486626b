use maloko_core::error::{Error, Result};
use serde_json::{Value as Json, json};

use super::{End, LawTrial, Request, Subject};

/// What the law asks for, answer by answer; the last is its end.
fn asked(law: &str, methods: &[&str], answers: Vec<Json>) -> Result<Vec<Json>> {
    asked_of(law, json!({ "methods": methods, "inputs": [{ "size": 1 }] }), answers)
}

fn asked_of(law: &str, subject: Json, answers: Vec<Json>) -> Result<Vec<Json>> {
    let subject = serde_json::from_value(subject).map_err(|error| Error::Configuration(error.to_string().into()))?;
    let mut trial = LawTrial::new(law, subject)?;
    let told = |request: Request| {
        serde_json::to_value(&request).map_err(|error| Error::Configuration(error.to_string().into()))
    };
    let mut asked = vec![told(trial.next(Json::Null)?)?];
    for answer in answers {
        asked.push(told(trial.next(answer)?)?);
    }
    Ok(asked)
}

fn checked(inputs: &Json, news_left: &Json) -> Json {
    let given = json!({ "olds": {}, "news": { "size": 1 } });
    json!({ "inputs": inputs, "failures": [], "given": given, "left": { "olds": {}, "news": news_left } })
}

fn ran(error: Option<&str>, action: &str, changes: &Json, id: Option<&str>) -> Json {
    made(error, action, changes, id, &json!({}))
}

fn made(error: Option<&str>, action: &str, changes: &Json, id: Option<&str>, outputs: &Json) -> Json {
    let resources = id.map_or_else(|| json!({}), |id| json!({ "it": { "id": id, "outputs": outputs } }));
    json!({ "error": error, "step": { "action": action, "changes": changes }, "resources": resources })
}

#[test]
fn a_check_that_gives_the_same_again_is_pure() -> Result<()> {
    let same = || checked(&json!({ "size": 1 }), &json!({ "size": 1 }));
    let asked = asked("L1", &["check"], vec![same(), same(), same()])?;
    let expected = vec![
        json!({ "do": "check", "olds": "empty", "news": "inputs" }),
        json!({ "do": "check", "olds": { "returned": 0 }, "news": { "returned": 0 } }),
        json!({ "do": "check", "olds": { "returned": 0 }, "news": "inputs" }),
        json!({ "do": "end", "outcome": "holds" }),
    ];
    assert_eq!(asked, expected);
    Ok(())
}

#[test]
fn a_check_that_writes_into_its_argument_is_told_with_the_property() -> Result<()> {
    let one = json!({ "size": 1 });
    let answers = vec![checked(&one, &json!({ "size": 9 })), checked(&one, &one), checked(&one, &one)];
    let asked = asked("L1", &["check"], answers)?;
    assert_eq!(asked[3]["outcome"], "broken");
    assert_eq!(asked[3]["words"]["property"], "size");
    assert_eq!(asked[3]["words"]["found"], "9  (in `news`, after check)");
    Ok(())
}

#[test]
fn numbers_that_differ_in_their_form_alone_are_one_number() -> Result<()> {
    let whole = checked(&json!({ "size": 1 }), &json!({ "size": 1 }));
    let float = checked(&json!({ "size": 1.0 }), &json!({ "size": 1.0 }));
    let asked = asked("L1", &["check"], vec![whole.clone(), float, whole])?;
    assert_eq!(asked[3]["outcome"], "holds");
    Ok(())
}

#[test]
fn a_law_without_its_method_asks_for_nothing() -> Result<()> {
    let asked = asked("L1", &[], vec![])?;
    let what = "`check`, which the provider does not have: without one the inputs stay as they are";
    assert_eq!(asked, vec![json!({ "do": "end", "outcome": "needs", "what": what })]);
    Ok(())
}

#[test]
fn a_plan_that_is_not_empty_after_a_create_breaks_the_second_law() -> Result<()> {
    let changes = json!([{ "path": "url", "old": "a", "new": null }]);
    let answers =
        vec![Json::Null, ran(None, "create", &json!([]), Some("b")), ran(None, "update", &changes, Some("b"))];
    let asked = asked("L2", &[], answers)?;
    assert_eq!(asked[3]["words"]["property"], "url");
    assert_eq!(asked[3]["words"]["found"], "\"a\"  (in the state, so that the next up would update)");
    Ok(())
}

#[test]
fn a_plan_that_fails_is_the_provider_s_own_error() -> Result<()> {
    let answers = vec![Json::Null, ran(None, "create", &json!([]), Some("b")), json!({ "error": "Error: no" })];
    let asked = asked("L2", &[], answers)?;
    assert_eq!(asked[3], json!({ "do": "end", "outcome": "raised" }));
    Ok(())
}

#[test]
fn inputs_whose_create_fails_are_refused() -> Result<()> {
    let asked = asked("L2", &[], vec![Json::Null, ran(Some("Error: no"), "create", &json!([]), None)])?;
    assert_eq!(asked[2], json!({ "do": "end", "outcome": "refused", "error": "Error: no" }));
    Ok(())
}

#[test]
fn what_is_in_the_world_after_its_delete_is_still_there() -> Result<()> {
    let made = ran(None, "create", &json!([]), Some("b"));
    let gone = ran(None, "delete", &json!([]), None);
    let asked = asked("L8", &["read"], vec![Json::Null, made, Json::Null, gone, json!(["b"])])?;
    let kinds: Vec<&Json> = asked.iter().map(|it| &it["do"]).collect();
    assert_eq!(kinds, ["program", "run", "save", "run", "look", "end"]);
    assert_eq!(asked[5]["words"]["found"], "[\"b\"] in the world");
    Ok(())
}

#[test]
fn a_second_delete_that_fails_is_the_cause_of_the_verdict() -> Result<()> {
    let made = ran(None, "create", &json!([]), Some("b"));
    let gone = ran(None, "delete", &json!([]), None);
    let fails = ran(Some("Error: 404"), "delete", &json!([]), Some("b"));
    let asked = asked("L8", &["read"], vec![Json::Null, made, Json::Null, gone, Json::Null, Json::Null, fails])?;
    assert_eq!(asked[7]["caused"], true);
    assert_eq!(asked[7]["words"]["found"], "Error: 404");
    Ok(())
}

#[test]
fn an_answer_that_cannot_be_read_is_an_error_of_the_host() -> Result<()> {
    let mut trial = LawTrial::new("L2", Subject::default())?;
    trial.next(Json::Null)?;
    trial.next(Json::Null)?;
    assert!(trial.next(json!({ "resources": 1 })).is_err());
    Ok(())
}

#[test]
fn a_trial_that_has_ended_asks_for_nothing() -> Result<()> {
    let mut trial = LawTrial::new("L1", Subject::default())?;
    assert!(matches!(trial.next(Json::Null)?, Request::End(End::Needs { .. })));
    assert!(trial.next(Json::Null).is_err());
    Ok(())
}

fn pair() -> Json {
    json!({ "methods": ["diff", "update"], "inputs": [{ "a": 1, "b": 1, "c": 1 }, { "a": 2, "b": 2, "c": 1 }] })
}

#[test]
fn a_pair_of_inputs_is_tried_whole_and_property_by_property() -> Result<()> {
    let create = || ran(None, "create", &json!([]), Some("b"));
    let replace = || ran(None, "replace", &json!([]), Some("b"));
    let mut answers = Vec::new();
    for renewed in [false, true, true] {
        answers.extend(renewed.then_some(Json::Null));
        answers.extend([Json::Null, create(), Json::Null, replace()]);
    }
    let asked = asked_of("L4", pair(), answers)?;
    let edits: Vec<(Json, Json)> = asked
        .iter()
        .filter(|it| it["do"] == "program")
        .map(|it| (it["resources"][0]["inputs"].clone(), it["resources"][0]["taking"].clone()))
        .collect();
    let first = || (json!(0), json!([]));
    let expected =
        [first(), (json!(1), json!([])), first(), (json!(0), json!(["a"])), first(), (json!(0), json!(["b"]))];
    assert_eq!(edits, expected);
    let end = asked.last().cloned().unwrap_or_default();
    assert_eq!(end["outcome"], "pass-over");
    assert_eq!(end["what"], "inputs whose change makes an update");
    Ok(())
}

#[test]
fn an_output_that_a_create_would_change_and_an_unseen_edit_does_not_was_overlooked() -> Result<()> {
    let outputs = |size: u32, id: &str| json!({ "a": size, "url": format!("https://{id}"), "c": 9 });
    let old = made(None, "create", &json!([]), Some("box-1"), &outputs(1, "box-1"));
    let same = || made(None, "same", &json!([]), Some("box-1"), &outputs(1, "box-1"));
    let fresh = made(None, "create", &json!([]), Some("box-2"), &outputs(2, "box-2"));
    let answers = vec![Json::Null, old, Json::Null, same(), same(), Json::Null, Json::Null, fresh];
    let asked = asked_of("L4", pair(), answers)?;
    let end = asked.last().cloned().unwrap_or_default();
    assert_eq!(end["outcome"], "broken");
    assert_eq!(end["words"]["property"], "a");
    Ok(())
}

#[test]
fn an_update_that_ends_elsewhere_is_told_without_ids() -> Result<()> {
    let outputs = |size: u32, id: &str| json!({ "size": size, "url": format!("https://{id}/{size}") });
    let old = made(None, "create", &json!([]), Some("box-1"), &outputs(1, "box-1"));
    let plan = ran(None, "update", &json!([]), Some("box-1"));
    let updated = made(None, "update", &json!([]), Some("box-1"), &outputs(2, "box-1"));
    let fresh = made(None, "create", &json!([]), Some("box-2"), &json!({ "size": 2, "url": "https://box-2/3" }));
    let answers = vec![Json::Null, old, Json::Null, plan, updated, Json::Null, Json::Null, fresh];
    let asked = asked_of("L5", pair(), answers)?;
    let words = &asked.last().cloned().unwrap_or_default()["words"];
    assert_eq!(words["property"], "url");
    assert_eq!(words["expected"], "\"https://<id>/3\"  (what create makes of the same inputs)");
    assert_eq!(words["found"], "\"https://<id>/2\"  (after an update to them)");
    Ok(())
}

fn object(id: &str) -> Json {
    ran(None, "refresh", &json!([]), Some(id))
}

#[test]
fn a_read_that_answers_for_another_object_breaks_the_third_law() -> Result<()> {
    let asked = asked("L3", &["read"], vec![Json::Null, object("x1"), object("y1")])?;
    assert_eq!(asked[3]["words"]["found"], "read was asked for 'x1' and returned 'y1'");
    Ok(())
}

#[test]
fn no_update_is_to_blame_for_a_read_that_answers_for_another_object_at_once() -> Result<()> {
    let subject = json!({ "methods": ["read", "update"], "inputs": [{ "size": 1 }, { "size": 2 }] });
    let update = || ran(None, "update", &json!([]), Some("x1"));
    let after_update = |read_at_once: &str| {
        let none = || Json::Null;
        let edited = [none(), object("x1"), none(), update(), update(), none(), object("y1")];
        [edited.to_vec(), vec![none(), none(), object("x1"), object(read_at_once)]].concat()
    };
    let outcome = |asked: Vec<Json>| asked.last().map(|end| end["outcome"].clone());
    assert_eq!(outcome(asked_of("L6", subject.clone(), after_update("y1"))?), Some(json!("pass-over")));
    assert_eq!(outcome(asked_of("L6", subject, after_update("x1"))?), Some(json!("broken")));
    Ok(())
}

#[test]
fn resources_of_one_object_are_left_out_before_they_are_made_at_once() -> Result<()> {
    let subject = json!({ "inputs": [{ "name": "a" }, { "name": "a", "size": 2 }, { "name": "b" }] });
    let object = |id: &str| json!({ "id": id, "outputs": {} });
    let all = json!({ "error": null, "resources": { "r1": object("a"), "r2": object("a"), "r3": object("b") } });
    let two = || json!({ "error": null, "resources": { "r1": object("a"), "r3": object("b") } });
    let asked =
        asked_of("L17", subject, vec![Json::Null, all, Json::Null, Json::Null, two(), Json::Null, Json::Null, two()])?;
    let at_once = asked.iter().find(|it| it["together"] == true).cloned().unwrap_or_default();
    let names: Vec<Json> = at_once["resources"].as_array().into_iter().flatten().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["r1", "r3"]);
    assert_eq!(asked.last().cloned().unwrap_or_default()["outcome"], "holds");
    Ok(())
}

#[test]
fn a_plain_property_is_told_rather_than_a_secret_one() -> Result<()> {
    let subject = json!({ "methods": ["read"], "inputs": [{ "size": 1 }], "secret": ["api"] });
    let step = |action: &str, api: &str, size: u32| {
        made(None, action, &json!([]), Some("b"), &json!({ "api": api, "size": size }))
    };
    let asked = asked_of("L3", subject, vec![Json::Null, step("create", "abcdef", 1), step("refresh", "ghijkl", 2)])?;
    assert_eq!(asked[3]["words"]["property"], "size");
    Ok(())
}

#[test]
fn a_secret_that_is_too_short_to_be_recognised_is_planted() -> Result<()> {
    let subject = json!({ "inputs": [{ "pin": "12" }, { "pin": "34" }], "secret": ["pin"] });
    let asked = asked_of("L12", subject, vec![])?;
    assert_eq!(asked[0]["secret"], true);
    assert_eq!(asked[0]["resources"][0]["planted"]["pin"], "maloko-canary-5ecre7");
    Ok(())
}

#[test]
fn a_secret_in_an_error_is_told_without_the_secret() -> Result<()> {
    let subject = json!({ "inputs": [{ "pin": "open-sesame" }, { "pin": "open-barley" }], "secret": ["pin"] });
    let error = json!({ "method": "create", "error": "Error: bad open-sesame", "whole": "bad open-sesame" });
    let shown = json!({ "errors": [error], "printed": "", "provider": "Box", "messages": [] });
    let asked = asked_of("L12", subject, vec![Json::Null, ran(Some("no"), "create", &json!([]), None), shown])?;
    assert_eq!(asked[3]["words"]["found"], "Error: bad [secret 1]");
    assert_eq!(asked[3]["words"]["property"], "(what create raises)");
    Ok(())
}

#[test]
fn what_a_plugin_says_is_secret_is_not_told_by_the_law_that_it_breaks() -> Result<()> {
    let none = json!([]);
    let mut answer = made(None, "create", &none, Some("k"), &json!({ "key": "-----BEGIN \"A\"\nletters" }));
    answer["resources"]["it"]["secret"] = json!(["key"]);
    let mut read = made(None, "refresh", &none, Some("k"), &json!({ "key": "another key" }));
    read["resources"]["it"]["secret"] = json!(["key"]);
    let asked = asked("L3", &["read"], vec![Json::Null, answer, read])?;
    assert_eq!(asked[3]["words"]["property"], "key");
    assert_eq!(asked[3]["words"]["expected"], "\"[secret 1]\"  (what create returned)");
    assert_eq!(asked[3]["words"]["found"], "\"[secret 2]\"  (what read returns after it)");
    Ok(())
}

#[test]
fn a_law_says_what_it_lacks_of_a_world_in_the_words_of_the_language() -> Result<()> {
    let there = |name: &str, there: bool| json!({ "name": name, "there": there });
    let world = json!({ "mutate": there("mutate_remote", false), "delete": there("delete_remote", true) });
    let asked = asked_of("L11", json!({ "methods": ["read"], "world": world }), vec![])?;
    let what = "`mutate_remote(id)` of the world, to change an object behind the provider's back";
    assert_eq!(asked, vec![json!({ "do": "end", "outcome": "needs", "what": what })]);
    Ok(())
}

/// A trial of law 4 of a change of two properties, after answers that find nothing wrong with the change of both.
fn one_by_one() -> Result<LawTrial> {
    let inputs = json!([{ "size": 1, "text": "a", "token": "alpha-1" }, { "size": 2, "text": "b", "token": "beta-2" }]);
    let subject = json!({ "methods": ["update"], "inputs": inputs, "secret": ["token"] });
    let subject = serde_json::from_value(subject).map_err(|error| Error::Configuration(error.to_string().into()))?;
    LawTrial::new("L4", subject)
}

fn named(trial: &LawTrial) -> Vec<(String, Json)> {
    trial.shown().into_iter().map(|it| (it.name, it.inputs)).collect()
}

#[test]
fn a_report_has_the_inputs_that_were_tried_last_without_secrets() -> Result<()> {
    let mut trial = one_by_one()?;
    let first = json!({ "size": 1, "text": "a", "token": "[secret 1]" });
    let mut request = trial.next(Json::Null)?;
    assert_eq!(named(&trial), [("inputs".to_owned(), first.clone())]);
    // Everything changes at once, and is replaced: then each property by itself.
    while !matches!(&request, Request::Program(program) if program.resources[0].taking == ["text"]) {
        let runs = matches!(request, Request::Run { .. });
        request = trial.next(if runs { ran(None, "replace", &json!([]), Some("id")) } else { Json::Null })?;
    }
    let then = json!({ "size": 1, "text": "b", "token": "[secret 1]" });
    assert_eq!(named(&trial), [("first".to_owned(), first), ("then".to_owned(), then)]);
    assert_eq!(trial.hide("no such token: alpha-1"), "no such token: [secret 1]");
    Ok(())
}
