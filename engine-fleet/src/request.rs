//! What is asked of a fleet.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::document::Share;
use crate::fault::{Fault, Result};

/// What a run is to do, and with which stacks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// `up`, `preview`, `refresh`, `destroy` or `outputs`.
    pub verb: String,
    /// Stacks by their labels: all of these must match.
    #[serde(default)]
    pub select: Vec<String>,
    /// Stacks by their names: one of these must match; empty for all.
    #[serde(default)]
    pub stacks: Vec<String>,
    /// How many stacks are worked on at the same time; `None`: as the fleet says.
    #[serde(default)]
    pub at_a_time: Option<u64>,
    /// How many failures end the run, as a number or a share; `None`: as the fleet says.
    #[serde(default)]
    pub stop_after: Option<StopAfter>,
    /// The environment of commands that give rows; `None`: that of this process.
    #[serde(default)]
    pub variables: Option<BTreeMap<String, String>>,
}

/// A number of failures, or a share as text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum StopAfter {
    /// A number.
    Number(u64),
    /// A number or a share.
    Text(String),
}

const VERBS: [&str; 6] = ["up", "preview", "refresh", "destroy", "import", "outputs"];

impl Request {
    /// Reads a request that is written as JSON.
    pub fn read(text: &str) -> Result<Self> {
        let request: Self = serde_json::from_str(text)
            .map_err(|error| Fault::new(format!("the request of a fleet cannot be read: {error}")))?;
        if !VERBS.contains(&request.verb.as_str()) {
            return Err(Fault::new(format!("verb: '{}' is none of {}", request.verb, VERBS.join(", "))));
        }
        if request.at_a_time == Some(0) {
            return Err(Fault::new("at a time: 0 stacks would never end; write a number from 1"));
        }
        Ok(request)
    }

    /// The number or share of failures that end the run.
    pub(crate) fn stop_after(&self) -> Result<Option<Share>> {
        let text = match &self.stop_after {
            None => return Ok(None),
            Some(StopAfter::Number(number)) => number.to_string(),
            Some(StopAfter::Text(text)) => text.clone(),
        };
        let share = Share::read(&text);
        share.map(Some).ok_or_else(|| {
            Fault::new(format!(
                "stop after: '{text}' is not a number of stacks from 1 or a share of them; write one, such as 5 or 5%"
            ))
        })
    }
}
