use maloko_core::error::{Error, Result};
use serde_json::{Value, json};

use super::{Break, Finding, LawResult, ShownInputs, law_result_text, show};

fn shown(name: &str, inputs: Value) -> ShownInputs {
    ShownInputs { name: name.to_owned(), inputs }
}

fn finding(value: Value) -> Result<Finding> {
    serde_json::from_value(value).map_err(|error| Error::Configuration(error.to_string().into()))
}

#[test]
fn values_are_shown_alike_whichever_language_has_them() {
    let value = json!({ "b": [1.0, 1, 1.5, true, null], "a": "it's \"so\"" });
    assert_eq!(show(&value), r#"{"a": "it's \"so\"", "b": [1, 1, 1.5, true, null]}"#);
}

#[test]
fn a_broken_law_is_told_with_what_was_found_the_inputs_and_what_to_do() -> Result<()> {
    let found = finding(json!({ "kind": "ends-elsewhere", "property": "url", "created": "a" }))?;
    let broken = Break {
        words: Some(found.words()),
        raised: String::new(),
        inputs: vec![shown("first", json!({ "size": 1.0 })), shown("then", json!({ "size": 2 }))],
        flaky: true,
        again: "seed=1".to_owned(),
    };
    assert_eq!(
        law_result_text("L5", "an update ends where a create does", "Box", &LawResult::Broken(broken)),
        "L5 an update ends where a create does: broken by Box\n  property: url\n  expected: \"a\"  (what create makes of the \
         same inputs)\n  found:    nothing  (after an update to them)\n  first:    {\"size\": 1}\n  then:     {\"size\": 2}\n  \
         let diff see every property that can change, let update pass it on, and return all outputs; or name what changes \
         by itself in `volatile`\n  (it did not happen again with the same inputs: the provider does not do the same \
         every time)\n  again: seed=1"
    );
    Ok(())
}

#[test]
fn an_error_that_nobody_expected_is_told_by_its_words() {
    let broken = Break {
        words: None,
        raised: "Error: 403: forbidden".to_owned(),
        inputs: vec![shown("inputs", json!({}))],
        flaky: false,
        again: String::new(),
    };
    assert_eq!(
        law_result_text("L2", "a second up does nothing", "Box", &LawResult::Broken(broken)),
        "L2 a second up does nothing: Box raised Error: 403: forbidden\n  inputs:   {}"
    );
}

#[test]
fn a_list_of_inputs_is_tried_with_neighbours_first_and_by_laws_that_take_long_on_fewer() -> serde_json::Result<()> {
    let examples = |name: &str, usual: usize, count: usize| -> serde_json::Result<Value> {
        let asked = json!({ "ask": "law_examples", "law": name, "usual": usual, "count": count }).to_string();
        serde_json::from_str(&crate::judgement::answer(&asked)?)
    };
    assert_eq!(examples("L2", 10, 2)?, json!({ "drawn": 10, "listed": [[0], [1]] }));
    let pairs = json!([[0, 1], [1, 2], [0, 2], [1, 0], [2, 0], [2, 1]]);
    assert_eq!(examples("L10", 10, 3)?, json!({ "drawn": 5, "listed": pairs }));
    assert_eq!(examples("L10", 2, 3)?, json!({ "drawn": 1, "listed": [[0, 1], [1, 2], [0, 2]] }));
    assert_eq!(examples("L17", 1, 3)?, json!({ "drawn": 1, "listed": [[0, 1, 2]] }));
    assert_eq!(examples("L14", 10, 20)?["listed"].as_array().map(Vec::len), Some(9));
    Ok(())
}

#[test]
fn a_law_whose_examples_all_say_nothing_is_broken_by_a_provider_that_refuses_them_all() -> serde_json::Result<()> {
    let told = |examples: Value| -> serde_json::Result<Value> {
        let asked = json!({ "ask": "nothing_tried", "examples": examples }).to_string();
        serde_json::from_str(&crate::judgement::answer(&asked)?)
    };
    let (refused, lacks) = (json!({ "refused": true, "text": "no" }), json!({ "refused": false, "text": "a change" }));
    assert_eq!(told(json!([refused, refused]))?, json!({ "outcome": "refused", "examples": 2, "error": "no" }));
    assert_eq!(told(json!([refused, lacks]))?, json!({ "outcome": "untried", "what": "a change", "examples": 2 }));
    assert_eq!(told(json!([]))?, json!({ "outcome": "untried", "what": "inputs to try", "examples": 0 }));
    Ok(())
}
