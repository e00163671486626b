use maloko_core::wire::{AliasSpec, WireAlias};

use super::*;

fn registration(alias_specs: bool, parents: Vec<Option<AliasParent>>) -> RegisterResourceRequest {
    let alias = |parent| WireAlias { alias: Some(AliasKind::Spec(AliasSpec { parent, ..AliasSpec::default() })) };
    let aliases = parents.into_iter().map(alias).collect();
    RegisterResourceRequest { alias_specs, aliases, name: "box".to_owned(), ..RegisterResourceRequest::default() }
}

#[test]
fn aliases_of_old_node_sdks_mean_what_they_meant() {
    let below = || Some(AliasParent::ParentUrn("urn:pulumi:dev::p::t::above".to_owned()));
    let old = vec![None, Some(AliasParent::ParentUrn(String::new())), Some(AliasParent::NoParent(true)), below()];
    let today = in_todays_form(&registration(false, old).encode_to_vec());
    let none = || Some(AliasParent::NoParent(true));
    let expected = registration(true, vec![none(), none(), None, below()]);
    assert_eq!(today.map(|bytes| RegisterResourceRequest::decode(&bytes[..])), Some(Ok(expected)));
}

#[test]
fn what_has_todays_form_is_passed_on() {
    let today = registration(true, vec![None, Some(AliasParent::NoParent(true))]);
    assert_eq!(in_todays_form(&today.encode_to_vec()), None);
    assert_eq!(in_todays_form(&registration(false, Vec::new()).encode_to_vec()), None);
    assert_eq!(in_todays_form(b"no message"), None);
}

#[test]
fn node_sdks_are_known_by_their_headers() {
    let with = |name: &'static str, value: &str| {
        let value = http::HeaderValue::from_str(value).unwrap_or_else(|_| http::HeaderValue::from_static(""));
        is_from_node(&http::HeaderMap::from_iter([(http::HeaderName::from_static(name), value)]))
    };
    assert!(with("pulumi-runtime", "nodejs"));
    assert!(with("user-agent", "grpc-node-js/1.8.0"));
    assert!(!with("user-agent", "grpc-python/1.60"));
    assert!(!with("pulumi-runtime", "python"));
}
