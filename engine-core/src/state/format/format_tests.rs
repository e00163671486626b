#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use proptest::prelude::*;

use super::decode_value::StateValue;
use super::*;
use crate::resource_state::{CustomTimeouts, ResourceState};
use crate::state::fixtures::{python_crypter, resource, urn};
use crate::value::{
    Archive, ArchiveSource, Asset, AssetSource, MAX_DEPTH, PropertyMap, ResourceReference, SECRET_SIGNATURE,
    SIGNATURE_KEY, Value,
};

fn encode(value: &Value) -> String {
    let crypter = python_crypter();
    let mut encoder = Encoder::new(Vec::new(), Some(&crypter), SecretText::Plain);
    encoder.value(value).unwrap();
    String::from_utf8(encoder.into_bytes()).unwrap()
}

fn decode(json: &str) -> Value {
    serde_json::from_str::<StateValue>(json).unwrap().0
}

#[test]
fn numbers_are_written_as_go_writes_them() {
    for (number, text) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (10.0, "10"),
        (2.5, "2.5"),
        (-3.0, "-3"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000_001, "0.000001"),
        (0.000_000_1, "1e-7"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
    ] {
        assert_eq!(encode(&number.into()), text);
        assert!(matches!(decode(text), Value::Number(read) if read.to_bits() == number.to_bits()), "{text}");
    }
}

#[test]
fn numbers_that_json_cannot_hold_survive() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let text = encode(&number.into());
        assert!(text.contains("8ad145fe-0d11-4827-bfd7-1abcbf086f5c"), "{text}");
        assert!(matches!(decode(&text), Value::Number(read) if read.to_bits() == number.to_bits()), "{text}");
    }
    assert!(encode(&f64::INFINITY.into()).contains(r#""value":"7ff0000000000000""#));
}

#[test]
fn special_values_survive() {
    let asset = Value::from(Asset { hash: "ab".into(), source: AssetSource::Text("t".into()) });
    for value in [
        Value::Null,
        Value::Unknown,
        Value::from("h\u{e9}llo <&> \u{2713}"),
        Value::Bytes(b"\x00hello \x80\xfe\xff world\xf0\x28".into()),
        Value::secret(Value::Array(vec!["a".into(), Value::Null, true.into(), Value::Bytes(vec![0xff])])),
        Value::from(ResourceReference { urn: urn("a"), id: Some("1".into()), package_version: String::new() }),
        Value::from(ResourceReference { urn: urn("a"), id: None, package_version: "1.2.3".into() }),
        Value::from(ResourceReference { urn: urn("a"), id: Some(String::new()), package_version: String::new() }),
        asset.clone(),
        Value::from(Asset { hash: "ab".into(), source: AssetSource::Path("p".into()) }),
        Value::from(Asset { hash: "ab".into(), source: AssetSource::Elided }),
        Value::from(Archive { hash: "cd".into(), source: ArchiveSource::Uri("https://x".into()) }),
        Value::from(Archive { hash: "cd".into(), source: ArchiveSource::Assets([("a".into(), asset)].into()) }),
    ] {
        assert_eq!(decode(&encode(&value)), value);
    }
    assert_eq!(encode(&"<&>".into()), "\"<&>\"");
    let bytes = r#"{"4dabf18193072939515e22adb298388d":"803fd3297a5875dc03ca845dda5d2a98","value":"/w=="}"#;
    assert_eq!(encode(&Value::Bytes(vec![0xff])), bytes, "as the reference writes it");
}

#[test]
fn special_values_that_we_do_not_know_are_errors() {
    for json in [
        r#"{"4dabf18193072939515e22adb298388d":"803fd3297a5875dc03ca845dda5d2a98","value":"no base64"}"#,
        r#"{"4dabf18193072939515e22adb298388d":"803fd3297a5875dc03ca845dda5d2a98"}"#,
        r#"{"4dabf18193072939515e22adb298388d":5}"#,
        r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}"#,
        r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"{"}"#,
        r#"{"4dabf18193072939515e22adb298388d":"8ad145fe-0d11-4827-bfd7-1abcbf086f5c","value":"zz"}"#,
    ] {
        assert!(serde_json::from_str::<StateValue>(json).is_err(), "{json}");
    }
}

#[test]
fn an_object_that_would_be_read_as_a_special_value_is_not_written() {
    let marked = |signature: &str| {
        let members = [(SIGNATURE_KEY, signature), ("value", "CANARY")];
        members.map(|(key, text)| (key.to_owned(), Value::from(text))).into()
    };
    let crypter = python_crypter();
    let encoder = |secrets| Encoder::new(Vec::new(), Some(&crypter), secrets);
    for signature in [SECRET_SIGNATURE, "frob"] {
        let members: PropertyMap = marked(signature);
        let object = Value::Object(members.clone());
        let archive = Archive { hash: "cd".into(), source: ArchiveSource::Assets(members.clone()) };
        for value in
            [object.clone(), Value::Array(vec![object.clone()]), Value::secret(object.clone()), Value::from(archive)]
        {
            for secrets in [SecretText::Cipher, SecretText::Plain] {
                let error = encoder(secrets).value(&value).unwrap_err().to_string();
                assert!(error.contains("could not be read") && !error.contains("CANARY"), "{error}");
            }
        }
        let inputs = ResourceState { inputs: Arc::new(members.clone()), ..resource("a", 1.0) };
        let outputs = ResourceState { outputs: Some(Arc::new(members)), ..resource("a", 1.0) };
        for resource in [inputs, outputs] {
            assert!(encoder(SecretText::Cipher).resource_state(&resource).is_err());
        }
    }
}

#[test]
fn what_is_written_can_be_read_however_deep_it_is() {
    let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let crypter = python_crypter();
    let mut deepest = resource("deep", 1.0);
    deepest.inputs = Arc::new([("x".into(), nested(MAX_DEPTH))].into());
    let resources = vec![Arc::new(deepest)];
    let snapshot = crate::state::Snapshot { resources, ..Default::default() };
    let bytes = crate::state::Checkpoint { snapshot, ..Default::default() }.encode(&crypter).unwrap();
    assert_eq!(crate::state::Checkpoint::decode(&bytes, "x").unwrap().snapshot.resources.len(), 1);

    let mut encoder = Encoder::new(Vec::new(), Some(&crypter), SecretText::Plain);
    assert!(encoder.value(&nested(MAX_DEPTH + 1)).unwrap_err().to_string().contains("100 levels"));
}

#[test]
fn every_field_of_a_resource_survives() {
    let full = ResourceState {
        delete: true,
        parent: Some(urn("p")),
        protect: true,
        taint: true,
        external: true,
        dependencies: vec![urn("d"), urn("e")],
        init_errors: vec!["slow".into()],
        property_dependencies: [("size".into(), vec![]), ("name".into(), vec![urn("d")])].into(),
        pending_replacement: true,
        additional_secret_outputs: vec!["x".into()],
        custom_timeouts: CustomTimeouts { create: 1.5, delete: 60.0, ..CustomTimeouts::default() },
        import_id: "i".into(),
        retain_on_delete: true,
        deleted_with: Some(urn("w")),
        replace_with: vec![urn("r")],
        source_position: "project:///a.py#1".into(),
        stack_trace: vec!["project:///a.py#2".into(), String::new()],
        ignore_changes: vec!["a".into()],
        hide_diff: vec!["b".into()],
        replace_on_changes: vec!["c".into()],
        refresh_before_update: true,
        unknown_members: [("novel".to_owned(), serde_json::json!([1]))].into_iter().collect(),
        ..resource("full", 2.0)
    };
    let crypter = python_crypter();
    let mut encoder = Encoder::new(Vec::new(), Some(&crypter), SecretText::Cipher);
    encoder.resource_state(&full).unwrap();
    assert_eq!(serde_json::from_slice::<StoredResource>(&encoder.into_bytes()).unwrap().0, full);
}

#[test]
fn nulls_that_go_writes_for_empty_lists_are_read() {
    let json =
        r#"{"urn":"u","custom":false,"type":"t","dependencies":null,"propertyDependencies":{"a":null},"outputs":null}"#;
    let read = serde_json::from_str::<StoredResource>(json).unwrap().0;
    assert!(
        read.dependencies.is_empty()
            && read.outputs.is_none()
            && read.property_dependencies.get("a").is_some_and(Vec::is_empty)
    );
}

#[test]
fn indentation_leaves_texts_alone() {
    let text = |json: &str| String::from_utf8(indent(json.as_bytes())).unwrap();
    assert_eq!(
        text(r#"{"a":[],"b":{},"c":[1,{"d":"x\"{,:}\\"}]}"#),
        concat!(
            "{\n    \"a\": [],\n    \"b\": {},\n    \"c\": [\n        1,\n        {\n",
            "            \"d\": \"x\\\"{,:}\\\\\"\n        }\n    ]\n}"
        )
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(Value::Unknown),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_filter("NaN is not equal to itself", |n| !n.is_nan()).prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(".*", inner.clone(), 0..6)
                .prop_map(|it| Value::Object(PropertyMap::from_iter(it))),
            inner.prop_map(Value::secret),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_survives(value in any_value()) {
        prop_assert_eq!(decode(&encode(&value)), value);
    }
}

/// The bug turns the test of its promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn the_planted_bug_of_values_is_noticed() {
    use crate::fail_points::is_noticed;
    assert!(is_noticed("planted::sign-of-zero-lost", numbers_are_written_as_go_writes_them));
}
