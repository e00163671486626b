use maloko_core::value::Value;

use super::story::{list, map};
use crate::display::Scrubber;

fn knowing(secrets: &[&str]) -> Scrubber {
    let scrubber = Scrubber::new();
    for secret in secrets {
        scrubber.learn(secret);
    }
    scrubber
}

#[test]
fn every_occurrence_goes_and_the_rest_stays() {
    let scrubber = knowing(&["hunter2", "hunter2-long", "größe"]);
    assert_eq!(scrubber.message("nothing here"), "nothing here");
    assert_eq!(scrubber.message("hunter2"), "[secret]");
    assert_eq!(scrubber.message("a hunter2, b=hunter2;"), "a [secret], b=[secret];");
    assert_eq!(scrubber.message("the longer hunter2-long one"), "the longer [secret] one");
    assert_eq!(scrubber.message("ä größe ü größ"), "ä [secret] ü größ");
    assert_eq!(scrubber.message("hunter"), "hunter");
}

#[test]
fn short_and_everyday_words_are_no_secrets() {
    let scrubber = knowing(&["abc", "true", "", "null", "four"]);
    assert_eq!(scrubber.message("abc true null four"), "abc true null [secret]");
}

#[test]
fn a_secret_is_found_in_the_form_that_it_has_in_json() {
    let scrubber = knowing(&["pass\"word\n1"]);
    assert_eq!(scrubber.message(r#"{"password": "pass\"word\n1"}"#), r#"{"password": "[secret]"}"#);
}

#[test]
fn long_lines_of_a_secret_are_secret_by_themselves() {
    let scrubber = knowing(&["-----BEGIN KEY-----\nMIIEvQIBADANBg\nab\n-----END KEY-----\n"]);
    assert_eq!(scrubber.message("read MIIEvQIBADANBg"), "read [secret]");
    assert_eq!(scrubber.message("absolutely"), "absolutely");
}

#[test]
fn texts_inside_secret_objects_are_secret() {
    let scrubber = knowing(&[r#"{"user": "admin-user", "keys": ["key-one", 5]}"#]);
    assert_eq!(scrubber.message("admin-user has key-one, user 5"), "[secret] has [secret], user 5");
}

#[test]
fn properties_teach_what_is_secret_in_them_at_any_depth() {
    let scrubber = Scrubber::new();
    scrubber.learn_properties(&map([
        ("plain", "visible".into()),
        ("deep", list([Value::Object(map([("token", Value::secret(list(["token-1".into()])))]))])),
        ("sealed", Value::Sealed("v1:nonce:text".into())),
    ]));
    assert_eq!(scrubber.message("visible token-1 v1:nonce:text"), "visible [secret] v1:nonce:text");
}

#[test]
fn its_own_debug_form_shows_nothing() {
    assert_eq!(format!("{:?}", knowing(&["hunter2"])), "Scrubber");
}
