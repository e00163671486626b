use maloko_core::redaction::Redactor;
use maloko_core::value::{FLOAT_SIGNATURE, SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT};
use maloko_core::{PropertyMap, Value};
use serde_json::json;

use super::{Secrets, at, paths, properties, read_map};

fn example() -> PropertyMap {
    PropertyMap::from([
        ("count".to_owned(), Value::Number(3.0)),
        ("odd".to_owned(), Value::Number(f64::NAN)),
        ("key".to_owned(), Value::secret(Value::from("hunter22"))),
        ("text".to_owned(), Value::from("with hunter22 in it")),
        ("later".to_owned(), Value::Unknown),
        ("list".to_owned(), Value::Array(vec![Value::Object(PropertyMap::from([("a b".to_owned(), Value::Unknown)]))])),
    ])
}

#[test]
fn secrets_are_hidden_wherever_they_are() {
    let redactor = Redactor::new();
    redactor.learn_properties(&example());
    let shown = properties(&example(), Secrets::Hidden(&redactor));
    assert_eq!(shown["key"], json!({ SIGNATURE_KEY: SECRET_SIGNATURE }));
    assert_eq!(shown["text"], json!("with [secret] in it"));
    assert_eq!(shown["count"], json!(3));
    assert_eq!(shown["odd"], json!({ SIGNATURE_KEY: FLOAT_SIGNATURE, "value": "NaN" }));
    assert_eq!(shown["later"], json!(UNKNOWN_TEXT));
    assert_eq!(properties(&example(), Secrets::Open)["key"], json!("hunter22"));
}

#[test]
fn paths_lead_to_what_they_name() {
    let example = example();
    let unknown = paths(&example, &|value| matches!(value, Value::Unknown));
    assert_eq!(unknown, ["later", "list[0].a b"]);
    for path in &unknown {
        assert_eq!(at(&example, path), Some(&Value::Unknown));
    }
    assert_eq!(paths(&example, &Value::is_secret), ["key"]);
    assert_eq!(at(&example, "list[1]"), None);
}

#[test]
fn secrets_of_a_test_are_secrets() {
    let given = json!({ "open": 1, "key": { SIGNATURE_KEY: SECRET_SIGNATURE, "value": "s3cret" } });
    let read = given.as_object().map(read_map).unwrap_or_default();
    assert_eq!(read.get("key"), Some(&Value::secret(Value::from("s3cret"))));
    assert_eq!(read.get("open"), Some(&Value::Number(1.0)));
}
