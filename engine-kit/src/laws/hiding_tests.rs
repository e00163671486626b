use serde_json::json;

use super::*;

fn hidden() -> Hidden {
    let inputs = vec![json!({ "token": "open-sesame", "pin": "12", "size": 4, "plain": "text" })];
    let secret = ["token", "pin", "size"].map(str::to_owned).to_vec();
    Hidden::new(&Subject { inputs, secret: Some(secret), ..Subject::default() })
}

fn words(property: &str, expected: &str, found: &str) -> Words {
    let (property, expected, found) = (property.to_owned(), expected.to_owned(), found.to_owned());
    Words { property, expected, found, advice: String::new() }
}

#[test]
fn secret_inputs_are_hidden_wherever_they_are_told() {
    let told = hidden().out_of(words("url", "\"at open-sesame\"  (first)", "\"12\", not 412"));
    assert_eq!(told, words("url", "\"at [secret]\"  (first)", "\"[secret]\", not 412"));
    assert_eq!(hidden().out_of_text("open-sesame is wrong"), "[secret] is wrong");
}

#[test]
fn the_value_of_a_secret_property_is_hidden_whatever_it_is() {
    let told = hidden().out_of(words("size", "5  (what create makes)", "nothing  (after an update)"));
    assert_eq!(told, words("size", "[secret]  (what create makes)", "nothing  (after an update)"));
    assert_eq!(hidden().out_of(words("pin", "12 of 13", "7")), words("pin", "[secret]", "[secret]"));
    let told = words("plain", "\"text\"", "4");
    assert_eq!(hidden().out_of(told.clone()), told);
}
