use std::collections::BTreeMap;

use maloko_core::policy::EnforcementLevel;
use maloko_core::wire::analyzer::{AnalyzerInfo, WireConfigSchema, WireLevel, WirePolicy, WirePolicyConfig};
use serde_json::{Map, Value, json};

use super::{PackConfig, entry, initial, reconcile, unknown_names, violations};
use crate::json_values::{json_object, wire_struct};

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn policy(name: &str, level: WireLevel, properties: &Value, required: &[&str]) -> WirePolicy {
    WirePolicy {
        name: name.to_owned(),
        enforcement_level: level as i32,
        config_schema: Some(WireConfigSchema {
            properties: Some(wire_struct(&object(properties))),
            required: required.iter().map(|name| (*name).to_owned()).collect(),
        }),
        ..WirePolicy::default()
    }
}

fn given(entries: &Value) -> PackConfig {
    object(entries).into_iter().map(|(name, value)| (name, entry(value).expect("an entry"))).collect()
}

#[test]
fn a_policy_is_configured_by_its_schema_then_by_its_pack_then_by_the_file() {
    let schema = json!({ "max": { "type": "integer", "default": 4 }, "min": { "type": "integer", "default": 1 } });
    let policies =
        [policy("short", WireLevel::Advisory, &schema, &[]), policy("other", WireLevel::Remediate, &json!({}), &[])];
    let of_pack = WirePolicyConfig {
        enforcement_level: WireLevel::Mandatory as i32,
        properties: Some(wire_struct(&object(&json!({ "max": 5, "min": 2 })))),
    };
    let info =
        AnalyzerInfo { initial_config: BTreeMap::from([("short".to_owned(), of_pack)]), ..AnalyzerInfo::default() };
    let of_pack = initial(&info).expect("known levels");
    let file = given(&json!({ "all": { "enforcementLevel": "disabled", "max": 9 }, "short": { "max": 6 } }));
    let configured = reconcile(&policies, &[of_pack.clone(), file.clone()]).expect("known levels");
    let short = &configured["short"];
    assert_eq!(
        (short.level, &short.properties),
        (Some(EnforcementLevel::Disabled), &object(&json!({ "max": 6, "min": 2 })))
    );
    assert_eq!(configured["other"].level, Some(EnforcementLevel::Disabled));
    assert_eq!(configured["other"].properties, Map::new());
    // The policy's own entry goes before `all`.
    let own = given(&json!({ "all": "disabled", "short": "remediate", "misspelt": "advisory" }));
    let configured = reconcile(&policies, &[of_pack, own.clone()]).expect("known levels");
    assert_eq!(configured["short"].level, Some(EnforcementLevel::Remediate));
    assert_eq!(unknown_names(&policies, &own), ["misspelt"]);
}

#[test]
fn what_does_not_fit_the_schema_is_named_with_its_place() {
    let schema = json!({ "max": { "type": "integer", "minimum": 2 }, "names": { "type": "array", "items": { "type": "string" } } });
    let policy = policy("short", WireLevel::Advisory, &schema, &["max"]);
    let wrong = |config: Value| violations(&policy, &entry(config).expect("an entry")).join("\n");
    assert_eq!(wrong(json!({ "max": 4, "names": ["a"] })), "");
    assert!(wrong(json!({ "max": 1 })).starts_with("max: "), "{}", wrong(json!({ "max": 1 })));
    assert!(wrong(json!({ "max": 2, "names": ["a", 3] })).starts_with("names.1: "));
    assert!(wrong(json!({})).starts_with("(root): "), "{}", wrong(json!({})));
}

#[test]
fn a_whole_number_of_the_wire_is_one_in_json() {
    let sent = object(&json!({ "whole": 4, "half": 0.5, "none": null, "list": [true, "x"] }));
    assert_eq!(json_object(&wire_struct(&sent)), sent);
}
