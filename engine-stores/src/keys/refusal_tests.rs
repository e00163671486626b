#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use maloko_core::environment::KeyServices as _;

use super::Services;
use crate::testing::{answering, answering_in_turn, world_at};

/// What is said when a service refuses to wrap a key.
fn refused(url: &str, variables: &[(&str, &str)]) -> String {
    let home = tempfile::tempdir().unwrap();
    Services::new(world_at(home.path(), variables)).wrap_key(url, &[7; 32]).unwrap_err()
}

#[test]
fn a_key_of_aws_that_is_disabled_or_waits_for_its_deletion_says_what_to_do() {
    for (code, advice) in [
        ("DisabledException", "the key is disabled: enable it in AWS KMS"),
        ("KMSInvalidStateException", "the key waits for its deletion: cancel that in AWS KMS"),
    ] {
        let (address, requests) = answering("400 Bad Request", format!(r#"{{"__type":"{code}","message":"no"}}"#));
        let keys = [("AWS_ACCESS_KEY_ID", "AK"), ("AWS_SECRET_ACCESS_KEY", "SK"), ("AWS_REGION", "eu-north-1")];
        let variables = [&keys[..], &[("AWS_ENDPOINT_URL_KMS", address.as_str())]].concat();
        let said = refused("awskms://alias/one", &variables);
        assert!(said.contains(advice) && said.ends_with("Nothing was changed"), "{said}");
        assert_eq!(requests.try_iter().count(), 1, "a refusal is not asked for again");
    }
}

#[test]
fn a_key_of_azure_that_is_disabled_says_what_to_do() {
    let refusal = r#"{"error":{"code":"Forbidden","message":"Operation encrypt is not allowed on a disabled key.",
        "innererror":{"code":"KeyDisabled"}}}"#;
    let token = ("200 OK", r#"{"access_token":"of-entra"}"#.to_owned());
    let (address, _requests) = answering_in_turn(vec![token, ("403 Forbidden", refusal.to_owned())]);
    let variables = [
        ("AZURE_TENANT_ID", "t"),
        ("AZURE_CLIENT_ID", "c"),
        ("AZURE_CLIENT_SECRET", "s"),
        ("AZURE_AUTHORITY_HOST", &address),
        ("MALOKO_AZURE_KEY_VAULT_ADDRESS", &address),
    ];
    let said = refused("azurekeyvault://vault.vault.azure.net/keys/one", &variables);
    assert!(said.contains("not allowed on a disabled key; the key, or its version, is disabled"), "{said}");
}

#[test]
fn a_key_of_google_whose_version_is_disabled_says_what_to_do() {
    let refusal = r#"{"error":{"code":400,"message":"is not enabled, current state is: DISABLED.","status":"FAILED_PRECONDITION"}}"#;
    let (address, _requests) = answering("400 Bad Request", refusal.to_owned());
    let variables = [("GOOGLE_OAUTH_ACCESS_TOKEN", "t"), ("GOOGLE_KMS_CUSTOM_ENDPOINT", address.as_str())];
    let said = refused("gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/one", &variables);
    assert!(said.contains("current state is: DISABLED; the version of the key is disabled or destroyed"), "{said}");
}
