//! The plan of a run: what both languages carry to Temporal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// A run of a fleet, as JSON that both languages read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The fleet's name.
    pub fleet: String,
    /// What is done with the stacks.
    pub verb: String,
    /// A digest of everything in the plan but the directory, which differs from machine to machine.
    pub hash: String,
    /// Against which the programs' paths count.
    pub directory: String,
    /// Where Temporal is; `None`: Temporal's own variables and profiles say so.
    pub engine: Option<Engine>,
    /// Where state is kept; `None`: the projects say so.
    pub backend: Option<String>,
    /// Whose the key of the secrets is.
    pub key: String,
    /// The digest of all programs of the fleet, by language.
    pub code: BTreeMap<String, String>,
    /// The stacks of the run, each after what it needs.
    pub stacks: Vec<PlannedStack>,
    /// The waves that have stacks.
    pub waves: Vec<Wave>,
    /// How much is done at the same time.
    pub limits: Limits,
    /// How often is tried again.
    pub retry: Retry,
    /// After so many failures nothing new begins.
    pub stop_after: Option<usize>,
    /// How long a worker may be silent, in seconds.
    pub heartbeat: f64,
    /// How long the run may take, in seconds.
    pub deadline: f64,
    /// Runs that begin by themselves.
    pub schedules: BTreeMap<String, Schedule>,
    /// How much of each stack's past is kept.
    pub keep: Keep,
    /// What to know before the run begins, in a line each; no part of the hash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A fleet, as those know it who need no plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The fleet's name.
    pub name: String,
    /// Where Temporal is; `None`: Temporal's own variables and profiles say so.
    pub engine: Option<Engine>,
}

/// How much of each stack's past is kept; `None`: as the environment of the workers says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// Entries of the history.
    pub history: Option<u64>,
    /// Former states.
    pub generations: Option<u64>,
}

/// Where Temporal is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Host and port.
    pub address: String,
    /// The namespace there.
    pub namespace: String,
}

/// A stack of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedStack {
    /// `PROJECT/STACK`.
    pub id: String,
    /// The project.
    pub project: String,
    /// The stack's name in it.
    pub stack: String,
    /// Where the program is, against the fleet's directory.
    pub program: String,
    /// Is it a function in a file?
    pub inline: bool,
    /// `python` or `nodejs`.
    pub language: String,
    /// By which it is selected, limited and shown.
    pub labels: BTreeMap<String, String>,
    /// Its configuration.
    pub config: Map<String, Json>,
    /// The stacks of the run that have to end before it begins.
    pub needs: Vec<String>,
    /// The number of its wave.
    pub wave: usize,
    /// The task queue of its workers.
    pub queue: String,
}

/// A part of the run that begins when the one before has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wave {
    /// What it is about.
    pub name: String,
    /// Seconds to wait before it begins.
    pub pause: f64,
    /// The run ends before it where so many stacks have failed.
    pub unless_failed: Option<u64>,
}

/// How much is done at the same time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Stacks at a time, in all.
    pub at_a_time: Option<u64>,
    /// Stacks at a time for each value of a label.
    pub each: BTreeMap<String, u64>,
    /// Stacks that begin in a second, for each value of a label.
    pub starts_per_second: BTreeMap<String, f64>,
}

/// How often is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Attempts at a stack whose provider fails.
    pub provider: u64,
    /// Seconds before the second attempt.
    pub first_wait: f64,
    /// Seconds before an attempt at most.
    pub longest_wait: f64,
}

/// A run that begins by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Seconds from one to the next.
    pub every: f64,
    /// By so many seconds at most it begins later.
    pub jitter: f64,
    /// What is done.
    pub verb: String,
    /// Is it only shown?
    pub preview_only: bool,
    /// With which stacks.
    pub select: Vec<String>,
}

impl Plan {
    /// One line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts, numbers and lists of them can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}
