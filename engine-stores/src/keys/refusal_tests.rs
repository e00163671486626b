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

#[test]
fn a_refusal_that_repeats_the_credentials_shows_none() {
    let (address, _requests) = answering("403 Forbidden", r#"{"errors":["bad token hvs.of-the-team"]}"#.to_owned());
    let said = refused("hashivault://one", &[("VAULT_ADDR", address.as_str()), ("VAULT_TOKEN", "hvs.of-the-team")]);
    assert!(said.contains("bad token [secret]"), "{said}");
}

#[test]
fn half_of_an_application_of_azure_is_no_other_identity() {
    let url = "azurekeyvault://vault.vault.azure.net/keys/one";
    let said = refused(url, &[("AZURE_CLIENT_ID", "c"), ("AZURE_CLIENT_SECRET", "s")]);
    assert!(said.contains("AZURE_CLIENT_SECRET is set, and AZURE_TENANT_ID is not; set AZURE_TENANT_ID"), "{said}");
}

#[test]
fn an_endpoint_that_is_no_address_is_named() {
    let keys = [("AWS_ACCESS_KEY_ID", "AK"), ("AWS_SECRET_ACCESS_KEY", "SK")];
    let said = refused("awskms://alias/one?region=us-east-1&endpoint=bogus", &keys);
    assert!(said.contains("it has to begin with https:// and a host"), "{said}");
    let said = refused("hashivault://one", &[("VAULT_ADDR", "vault.example:8200"), ("VAULT_TOKEN", "t")]);
    assert!(said.contains("correct VAULT_ADDR: an address begins with https://"), "{said}");
    let said = refused("hashivault://one", &[("VAULT_ADDR", "http://127.0.0.1:1"), ("VAULT_TOKEN", "two\nlines")]);
    assert!(said.contains("VAULT_TOKEN cannot be sent"), "{said}");
}

#[test]
fn the_variable_for_another_way_is_not_the_way_to_a_new_key() {
    let (address, requests) = answering(
        "200 OK",
        r#"{"data":{"ciphertext":"vault:v1:x","plaintext":"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="}}"#.to_owned(),
    );
    let home = tempfile::tempdir().unwrap();
    let variables =
        [("VAULT_ADDR", address.as_str()), ("VAULT_TOKEN", "t"), ("PULUMI_CLOUD_SECRET_OVERRIDE", "hashivault://two")];
    let services = Services::new(world_at(home.path(), &variables));
    let wrapped = services.wrap_key("hashivault://one", &[7; 32]).unwrap();
    assert_eq!(services.unwrap_key("hashivault://one", &wrapped), Ok([7; 32]));
    let asked: Vec<_> =
        requests.try_iter().map(|request| request.lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(asked, ["PUT /v1/transit/encrypt/one HTTP/1.1", "PUT /v1/transit/decrypt/one HTTP/1.1"]);
}
