#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Outgoing, Properties};

/// What comes back of a JSON text that is read and written again.
fn there_and_back(text: &str) -> String {
    let properties: Properties = serde_json::from_str(text).unwrap();
    serde_json::to_string(&Outgoing::whole(&properties.0)).unwrap()
}

#[test]
fn plain_values_keep_their_shape() {
    let text = r#"{"a":null,"b":true,"c":1.5,"d":"x","e":[1.0,{"f":[]}],"g":{}}"#;
    assert_eq!(there_and_back(text), text);
}

#[test]
fn numbers_beyond_json_travel_as_marked_objects() {
    let sign = |name: &str| {
        format!(r#"{{"4dabf18193072939515e22adb298388d":"8ad145fe-0d11-4827-bfd7-1abcbf086f5c","value":"{name}"}}"#)
    };
    let text = format!(r#"{{"a":{},"b":{},"c":{}}}"#, sign("Infinity"), sign("-Infinity"), sign("NaN"));
    assert_eq!(there_and_back(&text), text);
}

#[test]
fn assets_travel_as_the_sdk_sends_them() {
    let text = r#"{"a":{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"h","text":"t"},"b":{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"h"}}"#;
    assert_eq!(there_and_back(text), text);
}

#[test]
fn a_secret_in_a_result_is_kept_secret_and_shown_plain() {
    let text = r#"{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":"s"}}"#;
    let properties: Properties = serde_json::from_str(text).unwrap();
    assert!(matches!(&properties.0["a"], maloko_core::Value::Secret(_)));
    assert_eq!(there_and_back(text), r#"{"a":"s"}"#);
}

#[test]
fn what_only_looks_like_a_special_value_is_an_error() {
    for text in [
        r#"{"a":{"4dabf18193072939515e22adb298388d":"nonsense"}}"#,
        r#"{"a":{"4dabf18193072939515e22adb298388d":5}}"#,
        r#"{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"x"}}"#,
        r#"{"a":{"4dabf18193072939515e22adb298388d":"8ad145fe-0d11-4827-bfd7-1abcbf086f5c","value":"zz"}}"#,
        r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":"x"}"#,
    ] {
        assert!(serde_json::from_str::<Properties>(text).is_err(), "{text}");
    }
}
