#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use proptest::prelude::*;

use crate::keys::check;

use super::{Parts, path_of};

#[track_caller]
fn refused(url: &str, why: &str) {
    let error = check(url).unwrap_err();
    assert!(error.contains(why), "{url}: {error}");
}

#[test]
fn keys_are_named_as_pulumi_names_them() {
    for url in [
        "awskms://1234abcd-12ab-34cd-56ef-1234567890ab?region=us-east-1",
        "awskms://alias/NAME?region=us-east-1&awssdk=v2",
        "awskms:///arn:aws:kms:us-east-1:111122223333:key/1234?context_team=a+b&profile=x&role=arn:aws:iam::1:role/r",
        "awskms:///alias/x?endpoint=http%3A%2F%2F127.0.0.1%3A1&anonymous=true&fips=F&dualstack=0",
        "awskms://alias/x?hostname_immutable=true&rate_limiter_capacity=5&awssdk=v1",
        "awskms://alias/x?request_checksum_calculation=when_required&response_checksum_validation=when_supported",
        "azurekeyvault://team.vault.azure.net/keys/one",
        "azurekeyvault://team.vault.usgovcloudapi.net/keys/one",
        "azurekeyvault://team.vault.azure.cn/keys/one/c0ffee?algorithm=RSA-OAEP",
        "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k?additional_authenticated_data=YQ==",
        "hashivault://one",
        "hashivault://one?engine=team/transit",
    ] {
        assert_eq!(check(url), Ok(()), "{url}");
    }
}

#[test]
fn what_is_no_key_is_refused_with_the_reason() {
    refused("awskms", "no `://`");
    refused("vault://x", "'vault' is no secrets provider");
    refused("awskms://arn:aws:kms:us-east-1:1:key/x", "three slashes");
    refused("awskms://", "names no key");
    refused("awskms://alias/x?nonsense=1", "'nonsense'");
    refused("awskms://alias/x?context_a=1&context_a=2", "twice");
    refused("awskms://alias/x?role=admin", "ARN of a role");
    refused("awskms://alias/x?fips=maybe", "true or false");
    refused("azurekeyvault://team.managedhsm.azure.net/keys/one", "azurekeyvault://VAULT.vault.azure.net/keys/KEY");
    refused("azurekeyvault://team.vault.azure.net:443/keys/one", "azurekeyvault://VAULT.vault.azure.net/keys/KEY");
    refused("azurekeyvault://team.vault.azure.net/keys/one?foo=1", "'foo'");
    refused("awskms://alias/x?anonymous=maybe", "true or false");
    refused("azurekeyvault://team.vault.azure.net/one", "azurekeyvault://VAULT.vault.azure.net/keys/KEY");
    refused("gcpkms:///projects/p/locations/l/keyRings/r/cryptoKeys/k", "gcpkms://projects/");
    refused("gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1", "without a version");
    refused("gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k?foo=1", "'foo'");
    refused("hashivault://../../sys/health", "leads out");
    refused("hashivault://one?engine=../sys", "leads out");
    refused("hashivault://one?foo=1", "'foo'");
    refused("hashivault://%2e%2e/%2e%2e/sys/health", "leads out");
    refused("hashivault://one?engine=%2e%2e/sys", "leads out");
    refused("azurekeyvault://team.vault.azure.net/keys/%2e%2e", "azurekeyvault://VAULT.vault.azure.net/keys/KEY");
    refused("azurekeyvault://team.vault.azure.net/keys/one/..", "azurekeyvault://VAULT.vault.azure.net/keys/KEY");
}

#[test]
fn a_query_is_read_as_go_reads_it() {
    let parts = Parts::of("awskms://alias/x?context_a=b+c%20d&bad=%zz&semi=1;2&last#fragment").unwrap();
    let expected = [("context_a", "b c d"), ("last", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(parts.query, expected);
    assert_eq!(parts.name().as_deref(), Some("alias/x"));
    assert_eq!(Parts::of("awskms:///a//./b/../c").unwrap().name().as_deref(), Some("a/c"));
}

#[test]
fn a_reason_shows_no_query() {
    let error = check("gcpkms://projects/p?additional_authenticated_data=c2VjcmV0").unwrap_err();
    assert!(!error.contains("c2VjcmV0"), "{error}");
}

proptest! {
    #[test]
    fn any_text_is_accepted_or_refused(scheme in "(awskms|azurekeyvault|gcpkms|hashivault)?", rest in ".{0,60}") {
        let _ = check(&format!("{scheme}://{rest}"));
        let _ = check(&rest);
    }
}

proptest! {
    #[test]
    fn a_name_leads_nowhere_else(name in r"([.%\\?#2eE/a-z ;:@-]|\PC){1,12}") {
        let Some(path) = path_of(&name) else { return Ok(()) };
        let address = format!("http://vault.example/v1/transit/encrypt/{path}");
        let asked = url::Url::parse(&address).unwrap();
        prop_assert_eq!(asked.as_str(), address);
        prop_assert_eq!((asked.query(), asked.fragment()), (None, None));
        prop_assert_eq!(asked.path_segments().unwrap().count(), 3 + name.split('/').count());
    }
}
