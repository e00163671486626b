//! What the configuration of automatic names may refer to.

use std::collections::BTreeMap;

use crate::config_value::ConfigValue;

/// What patterns may refer to.
#[derive(Clone, Copy, Debug)]
pub struct StackFacts<'a> {
    /// The organization.
    pub organization: &'a str,
    /// The project.
    pub project: &'a str,
    /// The stack.
    pub stack: &'a str,
    /// Full keys and values.
    pub config: &'a BTreeMap<String, ConfigValue>,
}

impl StackFacts<'_> {
    /// A value of the project's configuration; a secret one would end up in names, where anybody sees it.
    pub(super) fn config(&self, key: &str) -> Result<String, String> {
        let full = if key.contains(':') { key.to_owned() } else { format!("{}:{key}", self.project) };
        match self.config.get(&full) {
            None => Err(format!("the pattern has '${{config.{key}}}', and the configuration has no '{full}'")),
            Some(entry) if entry.secret => {
                Err(format!("the pattern has '${{config.{key}}}', and '{full}' is a secret, which no name may show"))
            }
            Some(entry) => Ok(entry.value.clone()),
        }
    }
}
