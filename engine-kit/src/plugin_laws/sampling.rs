//! Judges a plugin by the inputs that its author lists: each law on as many examples as they make.

use std::collections::BTreeMap;
use std::path::PathBuf;

use maloko_core::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::trial::PluginTrial;
use super::under_test::PluginUnderTest;
use super::world::{World, WorldCommands};
use crate::laws::{
    Break, InconclusiveExample, LAWS, Law, LawResult, Words, first_difference, law_result_text, nothing_tried,
};

/// What `waive` calls the schema, by which inputs are checked before any law is tried.
const SCHEMA: &str = "schema";

/// What the author of a plugin says of a resource.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Samples {
    /// Inputs of the resource, one object for each example. What is changed is taken from one to another.
    pub inputs: Vec<serde_json::Map<String, Json>>,
    /// The outputs that change by themselves, by name or path.
    pub volatile: Vec<String>,
    /// The inputs that are secret; `None`: nobody says.
    pub secret: Option<Vec<String>>,
    /// What a former release has left: `id`, `inputs` and `outputs` of each resource.
    pub baseline: Option<Vec<Json>>,
    /// Laws that are not to hold, with the reason.
    pub waive: BTreeMap<String, String>,
    /// How long a call may go on after it was cancelled, in seconds.
    pub grace: f64,
    /// How many examples most laws are tried on.
    pub examples: usize,
    /// How to look at the service that the plugin talks to; `None`: it cannot be looked at.
    pub world: Option<WorldCommands>,
    /// Where the commands of the world run.
    #[serde(skip)]
    pub directory: PathBuf,
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            volatile: Vec::new(),
            secret: None,
            baseline: None,
            waive: BTreeMap::new(),
            grace: 5.0,
            examples: 10,
            world: None,
            directory: PathBuf::from("."),
        }
    }
}

/// What is known of a law and a plugin.
#[derive(Clone, Debug, Serialize)]
pub struct PluginLawResult {
    /// The name of the law: `L5`.
    pub law: &'static str,
    /// What holds.
    pub title: &'static str,
    /// `holds`, `broken`, `needs` (something that was not given) or `waived`.
    pub outcome: &'static str,
    /// Why; of a law that holds, after how many examples.
    pub text: String,
    /// The objects that are left, because they could not be deleted.
    pub left: Vec<String>,
}

impl Samples {
    /// Do they make sense?
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> std::result::Result<(), String> {
        if self.inputs.is_empty() {
            return Err("there are no `inputs`: list inputs of the resource, one object for each example".to_owned());
        }
        if self.world.as_ref().is_some_and(|world| world.objects.trim().is_empty()) {
            return Err("`world` has no `objects`: write a command that prints the ids of all that is there".to_owned());
        }
        for (name, reason) in &self.waive {
            if name != SCHEMA && LAWS.iter().all(|law| law.name != name) {
                let known: Vec<&str> = LAWS.iter().map(|law| law.name).collect();
                return Err(format!("`waive` names {name}, which is no law; those are {}, {SCHEMA}", known.join(", ")));
            }
            if reason.trim().is_empty() {
                return Err(format!("`waive` gives no reason for {name}; write one"));
            }
        }
        Ok(())
    }

    /// Do the inputs have to fit the schema of the plugin?
    #[must_use]
    pub fn go_by_schema(&self) -> bool {
        !self.waive.contains_key(SCHEMA)
    }

    fn distinct(&self) -> usize {
        let inputs: Vec<Json> = self.inputs.iter().cloned().map(Json::Object).collect();
        let is_new = |at: &usize| inputs[..*at].iter().all(|it| first_difference(it, &inputs[*at]).is_some());
        (0..inputs.len()).filter(is_new).count()
    }
}

/// Who listens to a judge.
pub trait Listener {
    /// Takes a result, as soon as it is there.
    fn tell(&mut self, result: &PluginLawResult);

    /// Is the judge to stop after the present example? What it has made is deleted.
    fn stops(&self) -> bool {
        false
    }
}

/// Tries the laws of these names, or all, and tells each result as it comes. A judge that is stopped gives those that it has.
/// `provider`: what messages call the plugin.
///
/// # Errors
/// A law that there is not, and a defect of maloko's.
pub async fn judge_plugin(
    plugin: &PluginUnderTest,
    provider: &str,
    samples: &Samples,
    names: &[String],
    listener: &mut impl Listener,
) -> Result<Vec<PluginLawResult>> {
    if let Some(unknown) = names.iter().find(|name| LAWS.iter().all(|law| law.name != name.as_str())) {
        let known: Vec<&str> = LAWS.iter().map(|law| law.name).collect();
        let text = format!("there is no law {unknown}; those are {}", known.join(", "));
        return Err(Error::Configuration(text.into()));
    }
    let mut results = Vec::new();
    for law in LAWS.iter().filter(|law| names.is_empty() || names.iter().any(|name| name == law.name)) {
        let mut left = Vec::new();
        let result = match samples.waive.get(law.name) {
            Some(reason) => LawResult::Waived { reason: reason.clone() },
            None => match judge(plugin, samples, law, &mut left, listener).await? {
                Some(result) => result,
                None => break,
            },
        };
        let text = law_result_text(law.name, law.title, provider, &result);
        let outcome = match result {
            LawResult::Holds { .. } => "holds",
            LawResult::Waived { .. } => "waived",
            LawResult::Needs { .. } | LawResult::Untried { .. } => "needs",
            LawResult::Refused { .. } | LawResult::Broken(_) => "broken",
        };
        let result = PluginLawResult { law: law.name, title: law.title, outcome, text, left };
        listener.tell(&result);
        results.push(result);
    }
    Ok(results)
}

/// `None` when the judge was stopped.
async fn judge(
    plugin: &PluginUnderTest,
    samples: &Samples,
    law: &Law,
    left: &mut Vec<String>,
    listener: &impl Listener,
) -> Result<Option<LawResult>> {
    let (mut tried, mut passed_over) = (0, Vec::new());
    for example in law.listed(samples.examples, samples.inputs.len()) {
        let inputs: Vec<&serde_json::Map<String, Json>> = example.iter().map(|at| &samples.inputs[*at]).collect();
        let subject = json!({
            "inputs": inputs,
            "volatile": samples.volatile,
            "secret": samples.secret,
            "baseline": samples.baseline,
            "grace": samples.grace,
            "listed": samples.distinct(),
            "world": samples.world.as_ref().map(WorldCommands::abilities),
        });
        let trial = PluginTrial::new(law.name, subject, plugin)?;
        let end = match &samples.world {
            None => trial.next(Json::Null).await,
            Some(world) => World::new(plugin, world, samples.directory.clone()).judge(&trial).await,
        };
        let end = match end {
            Ok(end) => end,
            Err(error) => {
                left.extend(trial.abandon().await?);
                // Ctrl-C ends the commands of the world, too.
                return if listener.stops() { Ok(None) } else { Err(error) };
            }
        };
        left.extend(end["left"].as_array().into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)));
        if listener.stops() {
            return Ok(None);
        }
        let text = |member: &str| end[member].as_str().unwrap_or_default().to_owned();
        match end["outcome"].as_str().unwrap_or_default() {
            "holds" => tried += 1,
            "needs" => return Ok(Some(LawResult::Needs { what: text("what") })),
            "pass-over" => passed_over.push(InconclusiveExample { refused: false, text: text("what") }),
            "refused" => passed_over.push(InconclusiveExample { refused: true, text: text("error") }),
            _ => {
                let words: Option<Words> = serde_json::from_value(end["words"].clone()).ok();
                return Ok(Some(LawResult::Broken(Break {
                    words,
                    raised: text("raised"),
                    inputs: serde_json::from_value(end["inputs"].clone()).unwrap_or_default(),
                    flaky: false,
                    again: String::new(),
                })));
            }
        }
    }
    Ok(Some(if tried > 0 { LawResult::Holds { examples: tried } } else { nothing_tried(passed_over) }))
}
