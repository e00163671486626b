#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use serde_json::json;

use super::{KeyRecord, NamedKey, WrappedKey};

const AWS: &str = "awskms:///alias/maloko-one?region=us-east-1&context_a=b";
const AZURE: &str = "azurekeyvault://throwaway.vault.azure.net/keys/one";

fn named(provider: Option<&str>, key: Option<&str>, salt: Option<&str>) -> NamedKey {
    KeyRecord::of_settings(provider, key, salt).unwrap()
}

#[test]
fn what_settings_name_counts_in_the_order_of_pulumi() {
    let salt = KeyRecord::Passphrase { salt: "v1:a".into() };
    for provider in [None, Some("passphrase"), Some("default"), Some("")] {
        assert_eq!(named(provider, Some("AAAA"), Some("v1:a")), NamedKey::Record(salt.clone()), "{provider:?}");
        assert_eq!(named(provider, Some("AAAA"), None), NamedKey::Nothing, "{provider:?}");
    }
    let wrapped = NamedKey::Record(KeyRecord::Wrapped(WrappedKey::new(AWS, vec![0, 0, 0])));
    assert_eq!(named(Some(AWS), Some("AAAA"), Some("v1:a")), wrapped);
    assert_eq!(named(Some(AWS), None, Some("v1:a")), NamedKey::Url(AWS.into()));
    let error = KeyRecord::of_settings(Some(AWS), Some("no base64"), None).unwrap_err().to_string();
    assert!(error.contains("`encryptedkey` is no base64"), "{error}");
}

#[test]
fn a_state_says_the_same_and_is_written_as_it_was() {
    let state = json!({ "type": "cloud", "state": { "url": AWS, "encryptedkey": "AAAA" } });
    let record = KeyRecord::of_state(Some(&state)).unwrap().unwrap();
    assert_eq!(record, KeyRecord::Wrapped(WrappedKey::new(AWS, vec![0, 0, 0])));
    assert_eq!(record.to_state(), state);
    for (state, problem) in [
        (json!({ "type": "cloud", "state": { "encryptedkey": "AAAA" } }), "no url"),
        (json!({ "type": "cloud", "state": { "url": AWS } }), "no encryptedkey"),
        (json!({ "type": "cloud", "state": { "url": AWS, "encryptedkey": "no" } }), "no base64"),
        (json!({ "type": "passphrase" }), "no salt"),
        (json!({ "type": "service", "state": {} }), "'service'"),
    ] {
        let error = KeyRecord::of_state(Some(&state)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

/// Some versions of Pulumi left one of the two layers out.
#[test]
fn azure_has_two_layers_of_base64_and_one_is_read_as_well() {
    let twice = "X19fLQ=="; // the text `___-`, which is ff ff fe in URL-safe base64
    let NamedKey::Record(KeyRecord::Wrapped(two)) = named(Some(AZURE), Some(twice), None) else { unreachable!() };
    assert_eq!(two.bytes(), [0xff, 0xff, 0xfe]);
    assert_eq!(two.text(), twice);
    let NamedKey::Record(KeyRecord::Wrapped(one)) = named(Some(AZURE), Some("///+"), None) else { unreachable!() };
    assert_eq!(one, two);
    assert_eq!(one.text(), twice);
}

#[test]
fn the_same_wrapped_key_by_another_url_is_the_same_key() {
    let record = |url: &str, byte| KeyRecord::Wrapped(WrappedKey::new(url, vec![byte]));
    assert!(record(AWS, 1).is_same_key(&record("awskms:///alias/maloko-one?role=arn:aws:iam::1:role/x", 1)));
    assert!(!record(AWS, 1).is_same_key(&record(AWS, 2)));
    assert!(!record(AWS, 1).is_same_key(&KeyRecord::Passphrase { salt: "v1:a".into() }));
}

#[test]
fn no_query_is_shown() {
    let shown = format!("{:?}", WrappedKey::new(AWS, vec![7; 32]));
    assert_eq!(shown, r#"WrappedKey { url: "awskms:///alias/maloko-one", .. }"#);
}
