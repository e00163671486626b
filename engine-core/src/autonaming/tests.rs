#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Autonaming, CONFIG_KEY, NameProposal, NamingConfig, ProposalMode, StackFacts};
use crate::config_value::ConfigValue;
use crate::urn::Urn;

const KIND: &str = "pulumi-python:dynamic/storage:Bucket";

fn config(text: &str) -> Result<NamingConfig, String> {
    let plain = |value: &str| ConfigValue { value: value.to_owned(), secret: false };
    let hidden = ConfigValue { value: "s3cret".to_owned(), secret: true };
    let config = BTreeMap::from([
        (CONFIG_KEY.to_owned(), plain(text)),
        ("shop:region".to_owned(), plain("eu")),
        ("shop:token".to_owned(), hidden),
    ]);
    NamingConfig::read(&StackFacts { organization: "organization", project: "shop", stack: "dev", config: &config })
}

fn urn(name: &str) -> Urn {
    Urn::new("dev", "shop", "", KIND, name)
}

fn made(text: &str, max_length: Option<usize>) -> Result<(String, bool), String> {
    let autonaming = Autonaming { property: "bucketName".to_owned(), max_length };
    let made = autonaming.make(&urn("images"), &config(text)?, &[7; 32])?;
    Ok((made.name, made.random))
}

fn matches(name: &str, prefix: &str, alphabet: &str, length: usize) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.len() == length && rest.chars().all(|c| alphabet.contains(c)))
}

#[test]
fn a_name_is_the_resources_name_and_seven_hexadecimal_digits() {
    let (name, random) = made("{}", None).unwrap();
    assert!(matches(&name, "images-", "0123456789abcdef", 7) && random, "{name}");
    assert_eq!(made("{\"mode\": \"default\"}", None).unwrap().0, name);
}

#[test]
fn every_expression_of_a_pattern_is_filled_in() {
    let cases = [
        ("${hex(4)}", "0123456789abcdef", 4),
        ("${alphanum(30)}", "abcdefghijklmnopqrstuvwxyz0123456789", 30),
        ("${string(12)}", "abcdefghijklmnopqrstuvwxyz", 12),
        ("${num(9)}", "0123456789", 9),
        ("${uuid}", "0123456789abcdef-", 36),
    ];
    for (expression, alphabet, length) in cases {
        let (name, random) = made(&format!("{{\"pattern\": \"${{name}}.{expression}\"}}"), None).unwrap();
        assert!(matches(&name, "images.", alphabet, length) && random, "{expression}: {name}");
    }
    let text = "{\"pattern\": \"${organization}/${project}/${stack}/${config.region}/${config.shop:region}/${name}\"}";
    assert_eq!(made(text, None).unwrap(), ("organization/shop/dev/eu/eu/images".to_owned(), false));
    assert_eq!(made("{\"mode\": \"verbatim\"}", None).unwrap(), ("images".to_owned(), false));
}

#[test]
fn a_type_overrides_its_package_and_a_package_the_stack() {
    let text = |types: &str| {
        format!(
            "{{\"mode\": \"disabled\", \"providers\": {{\"pulumi-python\": {{\"pattern\": \"p-${{name}}\", \
             \"resources\": {{{types}}}}}, \"aws\": {{\"mode\": \"verbatim\"}}}}}}"
        )
    };
    assert_eq!(made(&text(&format!("\"{KIND}\": {{\"mode\": \"verbatim\"}}")), None).unwrap().0, "images");
    assert_eq!(made(&text("\"other:index:Kind\": {\"mode\": \"verbatim\"}"), None).unwrap().0, "p-images");
    let only_types = "{\"mode\": \"verbatim\", \"providers\": {\"pulumi-python\": {\"resources\": {}}}}";
    assert_eq!(made(only_types, None).unwrap().0, "images");
}

#[test]
fn a_plugin_is_told_what_the_configuration_says_and_nothing_without_one() {
    let proposed = |text: &str| config(text).unwrap().proposal(&urn("images"), &[7; 32]);
    assert_eq!(proposed("{}"), None);
    assert_eq!(proposed("{\"mode\": \"default\"}"), None);
    let named = |name: &str, mode| (NameProposal { name: name.to_owned(), mode }, false);
    assert_eq!(proposed("{\"mode\": \"verbatim\"}"), Some(named("images", ProposalMode::Enforce)));
    assert_eq!(proposed("{\"pattern\": \"${name}-${stack}\"}"), Some(named("images-dev", ProposalMode::Propose)));
    let enforced = "{\"pattern\": \"${name}-${stack}\", \"enforce\": true}";
    assert_eq!(proposed(enforced), Some(named("images-dev", ProposalMode::Enforce)));
    let disabled = NameProposal { name: String::new(), mode: ProposalMode::Disable };
    assert_eq!(proposed("{\"mode\": \"disabled\"}"), Some((disabled, true)));
    let (random, is_random) = proposed("{\"pattern\": \"${name}-${hex(7)}\"}").unwrap();
    assert_eq!((random.name, is_random), (made("{}", None).unwrap().0, true), "drawn as the engine's own names are");
}

#[test]
fn a_name_that_is_too_long_is_shortened_unless_the_pattern_is_enforced() {
    let (name, _) = made("{}", Some(12)).unwrap();
    assert!(matches(&name, "imag-", "0123456789abcdef", 7), "{name}");
    assert!(made("{}", Some(8)).unwrap_err().contains("longer than the 8 characters"));
    let enforced = "{\"pattern\": \"${name}-${hex(7)}\", \"enforce\": true}";
    assert!(made(enforced, Some(12)).unwrap_err().contains("longer than the 12 characters"));
    assert!(made("{\"mode\": \"verbatim\"}", Some(3)).is_err());
}

#[test]
fn lengths_are_counted_in_characters() {
    let autonaming = |max_length| Autonaming { property: "name".to_owned(), max_length: Some(max_length) };
    let name = |limit| autonaming(limit).make(&urn("žluť"), &config("{}").unwrap(), &[7; 32]).unwrap().name;
    for (limit, prefix) in [(12, "žluť-"), (11, "žlu-"), (9, "ž-")] {
        assert!(matches(&name(limit), prefix, "0123456789abcdef", 7), "{limit}: {}", name(limit));
    }
}

#[test]
fn a_pattern_has_at_most_256_random_characters_of_one_kind() {
    assert_eq!(made("{\"pattern\": \"${hex(256)}\"}", None).unwrap().0.len(), 256);
    assert!(config("{\"pattern\": \"${hex(257)}\"}").unwrap_err().contains("the number must be 1 to 256"));
}

#[test]
fn what_cannot_be_used_is_named() {
    let cases = [
        ("verbatim", "it is not an object"),
        ("[]", "it is not an object"),
        ("{\"mode\": \"loud\"}", "'mode' of it is \"loud\"; known are default, verbatim and disabled"),
        ("{\"modus\": \"default\"}", "it has the unknown member 'modus'"),
        ("{\"pattern\": \"${name\"}", "has a '${' without its '}'"),
        ("{\"pattern\": \"${size}\"}", "the pattern has '${size}'; known are ${name}"),
        ("{\"pattern\": \"${hex(0)}\"}", "the number must be 1 to 256"),
        ("{\"pattern\": \"${hex(many)}\"}", "the number must be 1 to 256"),
        ("{\"pattern\": \"\"}", "the pattern is empty"),
        ("{\"pattern\": \"${config.gone}\"}", "the configuration has no 'shop:gone'"),
        ("{\"pattern\": \"${config.token}\"}", "'shop:token' is a secret"),
        ("{\"pattern\": \"x\", \"mode\": \"default\"}", "it has both 'mode' and 'pattern'"),
        ("{\"enforce\": true}", "it has 'enforce' without a 'pattern'"),
        ("{\"pattern\": \"x\", \"enforce\": 1}", "'enforce' of it is neither true nor false"),
        ("{\"providers\": {\"a\": {\"resources\": {\"t\": 1}}}}", "'providers.a.resources.t' is not an object"),
    ];
    for (text, reason) in cases {
        let error = config(text).unwrap_err();
        assert!(error.contains(reason) && error.contains(CONFIG_KEY), "{text}: {error}");
    }
    assert!(!config("{\"pattern\": \"${config.token}\"}").unwrap_err().contains("s3cret"));
    let error = made("{\"mode\": \"disabled\"}", None).unwrap_err();
    assert!(error.contains("property 'bucketName' is missing"), "{error}");
}

proptest! {
    #[test]
    fn names_depend_on_seed_and_resource_alone(seed: [u8; 32], other: [u8; 32], name in "[a-z]{1,12}") {
        let autonaming = Autonaming { property: "name".to_owned(), max_length: None };
        let config = config("{\"pattern\": \"${alphanum(24)}\"}").unwrap();
        let make = |name: &str, seed| autonaming.make(&urn(name), &config, seed).unwrap().name;
        prop_assert_eq!(make(&name, &seed), make(&name, &seed));
        prop_assert_ne!(make(&name, &seed), make(&format!("{name}x"), &seed));
        if seed != other {
            prop_assert_ne!(make(&name, &seed), make(&name, &other));
        }
    }
}
