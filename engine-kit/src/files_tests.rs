use serde_json::json;

use super::{redact, secret_texts};

fn redacted(secrets: &[(&str, &str)], text: &str, short: bool) -> String {
    let secrets: Vec<(String, String)> =
        secrets.iter().map(|(secret, hidden)| ((*secret).to_owned(), (*hidden).to_owned())).collect();
    redact(&secrets, vec![text.to_owned()], short).concat()
}

#[test]
fn each_secret_has_its_own_text_and_one_that_holds_another_is_hidden_whole() {
    let secrets = [("hunter2", "[a]"), ("hunter2-and-more", "[b]"), ("other-secret", "[a]")];
    let text = "hunter2, hunter2-and-more, other-secret, hunter";
    assert_eq!(redacted(&secrets, text, false), "[a], [b], [a], hunter");
}

#[test]
fn the_forms_of_addresses_json_and_base64_are_hidden() {
    let secrets = [("hunter2/&\"x", "<secret>")];
    // The last is the base64 of `me:` and the secret, as a header has it.
    let text = r#"https://h/?k=hunter2%2F%26%22x {"k": "hunter2/&\"x"} Basic bWU6aHVudGVyMi8mIng="#;
    let clean = redacted(&secrets, text, false);
    assert!(clean.starts_with(r#"https://h/?k=<secret> {"k": "<secret>"} Basic "#), "{clean}");
    assert!(!clean.contains("aHVudGVyMi8mI"), "{clean}");
}

#[test]
fn short_ones_and_marks_stay_unless_they_are_asked_for() {
    let secrets = [("abc", "[secret]"), ("", "[secret]"), ("true", "[secret]"), ("[secret]", "<secret>")];
    assert_eq!(redacted(&secrets, "abc true [secret]", false), "abc true [secret]");
    assert_eq!(redacted(&secrets, "abc true [secret]", true), "[secret] true [secret]");
}

#[test]
fn the_texts_of_secrets_are_found_at_any_depth_but_in_provider_objects() {
    let secret = |plain: &str| json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": plain });
    let state = json!({ "resources": [
        { "inputs": { "a": secret("\"one\""), "b": [secret(r#"{"x": ["two", 5]}"#)], "__provider": secret("\"three\"") } },
        { "outputs": { "broken": secret("{"), "plain": "four" } },
    ]});
    assert_eq!(secret_texts(&state), ["one", "two"]);
}
