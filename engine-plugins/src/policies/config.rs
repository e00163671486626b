//! How the policies of a pack are configured: by their schema's defaults, the pack, and the user's file, in this order.

use std::collections::BTreeMap;
use std::path::Path;

use maloko_core::policy::EnforcementLevel;
use maloko_core::wire::analyzer::{AnalyzerInfo, WireConfigSchema, WirePolicy};
use serde_json::{Map, Value, json};

use super::GivenConfig;
use super::convert::level_of;
use crate::json_values::{json_object, json_value};

/// Stands for every policy of a pack.
const ALL: &str = "all";
const LEVEL: &str = "enforcementLevel";

/// The configuration of one policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PolicyConfig {
    /// `None`: as it was.
    pub(super) level: Option<EnforcementLevel>,
    pub(super) properties: Map<String, Value>,
}

/// By policy, or `all`.
pub(super) type PackConfig = BTreeMap<String, PolicyConfig>;

/// What the user gave. The error says where it is wrong.
pub(super) fn given(given: &GivenConfig) -> Result<PackConfig, String> {
    match given {
        GivenConfig::File(file) => read(file),
        GivenConfig::Value(value) => parse(value.clone(), "of the test"),
    }
}

/// Reads the user's file. The error names the file and the member.
fn read(file: &Path) -> Result<PackConfig, String> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("the policy configuration {name} cannot be read: {error}"))?;
    let read: Value =
        serde_json::from_str(&text).map_err(|error| format!("the policy configuration {name} is no JSON: {error}"))?;
    parse(read, &name.to_string())
}

/// Takes a configuration as the user's file has it. `name` is what errors call it by.
pub(super) fn parse(read: Value, name: &str) -> Result<PackConfig, String> {
    let Value::Object(members) = read else {
        return Err(format!("the policy configuration {name} has to be an object, with an entry for each policy"));
    };
    let in_file = |(policy, value): (String, Value)| {
        if policy == "environments" {
            return Err(format!(
                "the policy configuration {name} has `environments`, which are those of Pulumi ESC; maloko knows none: write \
                 the values themselves"
            ));
        }
        let config = entry(value).map_err(|reason| format!("the policy configuration {name}: '{policy}' {reason}"))?;
        Ok((policy, config))
    };
    members.into_iter().map(in_file).collect()
}

fn entry(value: Value) -> Result<PolicyConfig, String> {
    match value {
        Value::String(level) => Ok(PolicyConfig { level: Some(named_level(&level)?), properties: Map::new() }),
        Value::Object(mut properties) => {
            let level = match properties.shift_remove(LEVEL) {
                None => None,
                Some(Value::String(level)) => Some(named_level(&level)?),
                Some(_) => return Err(format!("has an `{LEVEL}` that is no text")),
            };
            Ok(PolicyConfig { level, properties })
        }
        _ => Err("has to be an enforcement level, or an object with `enforcementLevel` and properties".to_owned()),
    }
}

fn named_level(name: &str) -> Result<EnforcementLevel, String> {
    use EnforcementLevel::{Advisory, Disabled, Mandatory, Remediate};
    let known = [Advisory, Mandatory, Remediate, Disabled];
    known.into_iter().find(|level| level.name() == name).ok_or_else(|| {
        format!("has the enforcement level '{name}', which is unknown; there are advisory, mandatory, remediate and disabled")
    })
}

/// What the pack begins with. The error names the policy.
pub(super) fn initial(info: &AnalyzerInfo) -> Result<PackConfig, String> {
    let entries = info.initial_config.iter().map(|(policy, config)| {
        let level = level_of(config.enforcement_level).map_err(|reason| format!("the policy '{policy}' {reason}"))?;
        let properties = config.properties.as_ref().map(json_object).unwrap_or_default();
        Ok((policy.clone(), PolicyConfig { level: Some(level), properties }))
    });
    entries.collect()
}

/// The configuration of every policy of a pack, by its name. `given` are that of the pack and that of the user, in this order.
/// The error names the policy.
pub(super) fn reconcile(policies: &[WirePolicy], given: &[PackConfig]) -> Result<PackConfig, String> {
    let of_policy = |policy: &WirePolicy| {
        let level =
            level_of(policy.enforcement_level).map_err(|reason| format!("the policy '{}' {reason}", policy.name))?;
        let mut config = PolicyConfig {
            level: Some(level),
            properties: policy.config_schema.as_ref().map_or_else(Map::new, defaults),
        };
        for layer in given {
            let own = layer.get(&policy.name);
            let level = own.and_then(|own| own.level).or_else(|| layer.get(ALL)?.level);
            config.level = level.or(config.level);
            config.properties.extend(own.into_iter().flat_map(|own| own.properties.clone()));
        }
        Ok((policy.name.clone(), config))
    };
    policies.iter().map(of_policy).collect()
}

/// Names in the user's file that are no policy of the pack.
pub(super) fn unknown_names<'a>(policies: &[WirePolicy], given: &'a PackConfig) -> Vec<&'a str> {
    let known = |name: &str| name == ALL || policies.iter().any(|policy| policy.name == name);
    given.keys().map(String::as_str).filter(|name| !known(name)).collect()
}

fn defaults(schema: &WireConfigSchema) -> Map<String, Value> {
    let properties = schema.properties.iter().flat_map(|properties| &properties.fields);
    let default = |(name, property)| match json_value(property) {
        Value::Object(mut property) => Some((String::clone(name), property.shift_remove("default")?)),
        _ => None,
    };
    properties.filter_map(default).collect()
}

/// The name by which a schema is known while it is compiled.
const SCHEMA: &str = "config.json";

/// What is wrong with a policy's properties by its schema, each with the place; empty where nothing is.
pub(super) fn violations(policy: &WirePolicy, config: &PolicyConfig) -> Vec<String> {
    let Some(schema) = &policy.config_schema else { return Vec::new() };
    let whole = json!({
        "type": "object",
        "properties": schema.properties.as_ref().map(json_object).unwrap_or_default(),
        "required": schema.required,
    });
    let mut schemas = boon::Schemas::new();
    let index = match compile(whole, &mut schemas) {
        Ok(index) => index,
        Err(error) => return vec![format!("its schema cannot be used: {error}")],
    };
    match schemas.validate(&Value::Object(config.properties.clone()), index) {
        Ok(()) => Vec::new(),
        Err(error) => leaves(&error),
    }
}

fn compile(schema: Value, into: &mut boon::Schemas) -> Result<boon::SchemaIndex, Box<boon::CompileError>> {
    let mut compiler = boon::Compiler::new();
    compiler.set_default_draft(boon::Draft::V7);
    compiler.add_resource(SCHEMA, schema)?;
    Ok(compiler.compile(SCHEMA, into)?)
}

/// The errors that have no causes of their own.
fn leaves(error: &boon::ValidationError<'_, '_>) -> Vec<String> {
    if error.causes.is_empty() {
        let place = error.instance_location.to_string();
        let place = place.trim_start_matches('/').replace('/', ".");
        let place = if place.is_empty() { "(root)" } else { &place };
        return vec![format!("{place}: {}", error.kind)];
    }
    error.causes.iter().flat_map(leaves).collect()
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
