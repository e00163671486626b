//! The configuration of automatic names: for the stack, for a package, for a type.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::CONFIG_KEY;
use super::pattern::Pattern;
use super::stack_facts::StackFacts;

/// How names are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The resource's name and a random ending.
    #[default]
    Default,
    /// By a pattern; `enforce`: as it is, never shortened.
    Pattern { pattern: Pattern, enforce: bool },
    /// Not at all.
    Disabled,
}

/// The configuration, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamingConfig {
    default: Strategy,
    packages: BTreeMap<String, PackageNaming>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PackageNaming {
    default: Option<Strategy>,
    types: BTreeMap<String, Strategy>,
}

impl NamingConfig {
    /// Reads the configuration of a stack. The error names the member at fault.
    pub fn read(facts: &StackFacts<'_>) -> Result<Self, String> {
        let Some(entry) = facts.config.get(CONFIG_KEY) else { return Ok(Self::default()) };
        Self::parse(&entry.value, facts)
            .map_err(|reason| format!("the configuration '{CONFIG_KEY}' cannot be used: {reason}"))
    }

    fn parse(text: &str, facts: &StackFacts<'_>) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text)
            .map_err(|_| "it is not an object such as {\"mode\": \"verbatim\"}".to_owned())?;
        let mut members = object(json, "it")?;
        let packages = members.remove("providers").map(|packages| object(packages, "'providers'")).transpose()?;
        let default = strategy(members, "it", facts)?.unwrap_or_default();
        let mut read = BTreeMap::new();
        for (package, naming) in packages.unwrap_or_default() {
            let place = format!("'providers.{package}'");
            let mut members = object(naming, &place)?;
            let mut types = BTreeMap::new();
            if let Some(resources) = members.remove("resources") {
                for (kind, naming) in object(resources, &format!("'providers.{package}.resources'"))? {
                    let place = format!("'providers.{package}.resources.{kind}'");
                    let naming = strategy(object(naming, &place)?, &place, facts)?.unwrap_or_default();
                    types.insert(kind, naming);
                }
            }
            read.insert(package, PackageNaming { default: strategy(members, &place, facts)?, types });
        }
        Ok(Self { default, packages: read })
    }

    /// The strategy for a type: its own, else its package's, else the stack's.
    pub(super) fn strategy(&self, kind: &str) -> &Strategy {
        let package = kind.split(':').next().unwrap_or_default();
        let Some(package) = self.packages.get(package) else { return &self.default };
        package.types.get(kind).or(package.default.as_ref()).unwrap_or(&self.default)
    }
}

fn object(json: Json, place: &str) -> Result<Map<String, Json>, String> {
    match json {
        Json::Object(members) => Ok(members),
        _ => Err(format!("{place} is not an object")),
    }
}

/// `mode`, or `pattern` with `enforce`; `None` when there is neither.
fn strategy(mut members: Map<String, Json>, place: &str, facts: &StackFacts<'_>) -> Result<Option<Strategy>, String> {
    let (mode, pattern, enforce) = (members.remove("mode"), members.remove("pattern"), members.remove("enforce"));
    if let Some((unknown, _)) = members.into_iter().next() {
        return Err(format!("{place} has the unknown member '{unknown}'"));
    }
    let enforced = match &enforce {
        None => false,
        Some(Json::Bool(enforce)) => *enforce,
        Some(_) => return Err(format!("'enforce' of {place} is neither true nor false")),
    };
    match (mode, pattern) {
        (Some(_), Some(_)) => Err(format!("{place} has both 'mode' and 'pattern'; one of them is enough")),
        (None, Some(Json::String(text))) => {
            let pattern = Pattern::parse(&text, facts)?;
            Ok(Some(Strategy::Pattern { pattern, enforce: enforced }))
        }
        (None, Some(_)) => Err(format!("'pattern' of {place} is not a text")),
        _ if enforce.is_some() => Err(format!("{place} has 'enforce' without a 'pattern'")),
        (None, None) => Ok(None),
        (Some(mode), None) => match mode.as_str() {
            Some("default") => Ok(Some(Strategy::Default)),
            Some("verbatim") => Ok(Some(Strategy::Pattern { pattern: Pattern::verbatim(), enforce: true })),
            Some("disabled") => Ok(Some(Strategy::Disabled)),
            _ => Err(format!("'mode' of {place} is {mode}; known are default, verbatim and disabled")),
        },
    }
}
