use serde_json::json;

use super::*;

fn hidden() -> SecretValues {
    let inputs = vec![json!({ "token": "open-sesame", "pin": "12", "size": 4, "plain": "text" })];
    let secret = ["token", "pin", "size"].map(str::to_owned).to_vec();
    SecretValues::new(&inputs, &secret)
}

fn words(property: &str, expected: &str, found: &str) -> Words {
    let (property, expected, found) = (property.to_owned(), expected.to_owned(), found.to_owned());
    Words { property, expected, found, advice: String::new() }
}

#[test]
fn secret_inputs_are_hidden_wherever_they_are_told() {
    let told = hidden().out_of(words("url", "\"at open-sesame\"  (first)", "\"12\", not 412"));
    assert_eq!(told, words("url", "\"at [secret 3]\"  (first)", "\"[secret 1]\", not 412"));
    assert_eq!(hidden().out_of_text("open-sesame is wrong"), "[secret 3] is wrong");
}

#[test]
fn the_value_of_a_secret_property_is_hidden_whatever_it_is() {
    let told = hidden().out_of(words("size", "5  (what create makes)", "nothing  (after an update)"));
    assert_eq!(told, words("size", "[secret 4]  (what create makes)", "nothing  (after an update)"));
    assert_eq!(hidden().out_of(words("pin", "12 of 13", "7")), words("pin", "[secret 4]", "[secret 5]"));
    let told = words("plain", "\"text\"", "4");
    assert_eq!(hidden().out_of(told.clone()), told);
}

#[test]
fn equal_secrets_have_one_number_and_others_have_another() {
    let mut hidden = hidden();
    let told = hidden.out_of(words("token", "\"open-sesame\"  (before)", "\"open-barley\"  (after)"));
    assert_eq!(told, words("token", "[secret 3]  (before)", "[secret 4]  (after)"));
    let shown = hidden.out_of_inputs(&json!({ "token": "open-barley", "pin": { "of": ["open-sesame"] }, "plain": 1 }));
    assert_eq!(shown, json!({ "token": "[secret 4]", "pin": "[secret 5]", "plain": 1 }));
    assert_eq!(hidden.shown_at("token", Some(&json!("open-sesame"))), "[secret 3]");
}
