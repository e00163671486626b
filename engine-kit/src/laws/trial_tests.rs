use maloko_core::error::{Error, Result};
use serde_json::{Value as Json, json};

use super::{LawTrial, Request, Subject};

/// What the law asks for, answer by answer; the last is its end.
fn asked(law: &str, methods: &[&str], answers: Vec<Json>) -> Result<Vec<Json>> {
    let methods = methods.iter().map(|&method| method.to_owned()).collect();
    let mut trial = LawTrial::new(law, Subject { methods })?;
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
    json!({ "error": error, "step": { "action": action, "changes": changes }, "id": id })
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
    let answers = vec![ran(None, "create", &json!([]), Some("b")), ran(None, "update", &changes, Some("b"))];
    let asked = asked("L2", &[], answers)?;
    assert_eq!(asked[2]["words"]["property"], "url");
    assert_eq!(asked[2]["words"]["found"], "\"a\"  (in the state, so that the next up would update)");
    Ok(())
}

#[test]
fn a_plan_that_fails_is_the_provider_s_own_error() -> Result<()> {
    let answers = vec![ran(None, "create", &json!([]), Some("b")), json!({ "error": "Error: no", "id": "b" })];
    let asked = asked("L2", &[], answers)?;
    assert_eq!(asked[2], json!({ "do": "end", "outcome": "raised" }));
    Ok(())
}

#[test]
fn inputs_whose_create_fails_are_refused() -> Result<()> {
    let asked = asked("L2", &[], vec![ran(Some("Error: no"), "create", &json!([]), None)])?;
    assert_eq!(asked[1], json!({ "do": "end", "outcome": "refused", "error": "Error: no" }));
    Ok(())
}

#[test]
fn what_is_in_the_world_after_its_delete_is_still_there() -> Result<()> {
    let made = ran(None, "create", &json!([]), Some("b"));
    let gone = ran(None, "delete", &json!([]), None);
    let asked = asked("L8", &["read"], vec![made, Json::Null, gone, json!(["b"])])?;
    let kinds: Vec<&Json> = asked.iter().map(|it| &it["do"]).collect();
    assert_eq!(kinds, ["run", "save", "run", "look", "end"]);
    assert_eq!(asked[4]["words"]["found"], "[\"b\"] in the world");
    Ok(())
}

#[test]
fn a_second_delete_that_fails_is_the_cause_of_the_verdict() -> Result<()> {
    let made = ran(None, "create", &json!([]), Some("b"));
    let gone = ran(None, "delete", &json!([]), None);
    let fails = ran(Some("Error: 404"), "delete", &json!([]), Some("b"));
    let asked = asked("L8", &["read"], vec![made, Json::Null, gone, Json::Null, Json::Null, fails])?;
    assert_eq!(asked[6]["caused"], true);
    assert_eq!(asked[6]["words"]["found"], "Error: 404");
    Ok(())
}

#[test]
fn an_answer_that_cannot_be_read_is_an_error_of_the_host() -> Result<()> {
    let mut trial = LawTrial::new("L2", Subject::default())?;
    trial.next(Json::Null)?;
    assert!(trial.next(json!({ "id": 1 })).is_err());
    Ok(())
}

#[test]
fn a_trial_that_has_ended_asks_for_nothing() -> Result<()> {
    let mut trial = LawTrial::new("L1", Subject::default())?;
    trial.next(Json::Null)?;
    assert!(trial.next(Json::Null).is_err());
    Ok(())
}
