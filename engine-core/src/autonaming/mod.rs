//! Names that the engine gives to objects whose program gave none (docs/rules 13.6).
//!
//! A provider opts in by naming the property that is its objects' name. Where the program leaves it out, the engine
//! fills it in before `check`: with the name that the resource already has, else with a new one, made by the strategy
//! that the configuration sets for the type. A plugin is told that name as a proposal. Nothing in here is random: a name is
//! made from a seed that is passed in.

mod config;
mod pattern;
mod stack_facts;

use serde::{Deserialize, Serialize};

use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

pub use config::NamingConfig;
use config::Strategy;
use pattern::{Draw, Pattern};
pub use stack_facts::StackFacts;

/// The key of the configuration.
pub const CONFIG_KEY: &str = "pulumi:autonaming";

/// Bytes that names of a run are drawn from; the same ones give the same names.
pub type Seed = [u8; 32];

/// What a provider declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Autonaming {
    /// The property that is to be filled when the program leaves it out.
    pub property: String,
    /// The longest name that there may be, in characters.
    pub max_length: Option<usize>,
}

/// A name that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeName {
    /// The name.
    pub name: String,
    /// Would another run make another name?
    pub random: bool,
}

/// The name that a plugin is proposed for a resource which the program does not name. It knows itself which property that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameProposal {
    /// The name; empty where there is to be none.
    pub name: String,
    /// What the plugin does with it.
    pub mode: ProposalMode,
}

/// What a plugin does with a name that is proposed to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProposalMode {
    /// It may change it.
    #[default]
    Propose,
    /// It takes it as it is.
    Enforce,
    /// It makes no name.
    Disable,
}

impl NamingConfig {
    /// The name that a plugin is proposed for a resource, and whether another run would propose another name. `None` where
    /// the configuration leaves names to the plugin.
    #[must_use]
    pub fn proposal(&self, urn: &Urn, seed: &Seed) -> Option<(NameProposal, bool)> {
        match self.strategy(urn.own_type()) {
            Strategy::Default => None,
            Strategy::Disabled => Some((NameProposal { name: String::new(), mode: ProposalMode::Disable }, true)),
            Strategy::Pattern { pattern, enforce } => {
                let name = pattern.fill(urn.name(), Draw::new(seed, urn));
                let mode = if *enforce { ProposalMode::Enforce } else { ProposalMode::Propose };
                Some((NameProposal { name, mode }, pattern.is_random()))
            }
        }
    }
}

impl Autonaming {
    /// Does the program name the object itself? An unknown value is a name too.
    #[must_use]
    pub fn is_explicit(&self, inputs: &PropertyMap) -> bool {
        !matches!(inputs.get(&self.property), None | Some(Value::Null))
    }

    /// The name that the resource has had so far.
    #[must_use]
    pub fn kept<'a>(&self, old_inputs: &'a PropertyMap) -> Option<&'a Value> {
        old_inputs.get(&self.property).filter(|value| !matches!(value, Value::Null))
    }

    /// Makes a name for a resource. The error is for the user, who sees it on the resource.
    pub fn make(&self, urn: &Urn, config: &NamingConfig, seed: &Seed) -> Result<MadeName, String> {
        let property = &self.property;
        let default = Pattern::default_one();
        let (pattern, enforce) = match config.strategy(urn.own_type()) {
            Strategy::Default => (&default, false),
            Strategy::Pattern { pattern, enforce } => (pattern, *enforce),
            Strategy::Disabled => {
                return Err(format!(
                    "property '{property}' is missing, and {CONFIG_KEY} turns automatic names off for this resource; give \
                     it a name in the program, or change the configuration"
                ));
            }
        };
        let draw = Draw::new(seed, urn);
        let random = pattern.is_random();
        let own = urn.name();
        let name = pattern.fill(own, draw.clone());
        let limit = self.max_length.unwrap_or(usize::MAX);
        let over = name.chars().count().saturating_sub(limit);
        if over == 0 {
            return Ok(MadeName { name, random });
        }
        let length = own.chars().count();
        if enforce || pattern.names() != 1 || length <= over {
            return Err(format!(
                "the automatic name '{name}' for property '{property}' is longer than the {limit} characters that the \
                 provider allows; give the resource a name in the program, or set a shorter pattern in {CONFIG_KEY}"
            ));
        }
        let shortened: String = own.chars().take(length - over).collect();
        Ok(MadeName { name: pattern.fill(&shortened, draw), random })
    }
}

#[cfg(test)]
mod tests;
