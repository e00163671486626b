//! What a preview said it would do, kept for the update that follows it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use maloko_core::autonaming::Seed;
use maloko_core::event::{Event, EventSink, Op};
use maloko_core::urn::Urn;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// Steps by URN, as names of ops.
type Steps = BTreeMap<String, BTreeSet<String>>;

/// What a preview pass leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PreviewOutcome {
    /// Its steps.
    pub(crate) steps: Steps,
    /// The changes, property by property, as they are shown when the user asks for details.
    pub(crate) details: String,
    /// What its automatic names were drawn from, so that the update makes the same ones.
    #[serde(default)]
    pub(crate) seed: Seed,
}

impl PreviewOutcome {
    /// Reads what a preview pass wrote; `None` when it wrote nothing.
    pub(crate) fn read(file: &Path) -> Result<Option<Self>> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::io(format!("the preview's plan {} cannot be read", file.display()), &error))?;
        if text.is_empty() {
            return Ok(None);
        }
        let plan = serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("the preview's plan {} is damaged: {error}", file.display())))?;
        Ok(Some(plan))
    }

    /// What was to be done: URN and name of the op.
    pub(crate) fn operations(&self) -> Vec<(String, String)> {
        self.steps.iter().flat_map(|(urn, ops)| ops.iter().map(move |op| (urn.clone(), op.clone()))).collect()
    }

    /// Writes it for the process that goes on.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string(self)
            .map_err(|error| Failure::new(format!("the preview's plan cannot be written: {error}")))?;
        crate::platform::write_private_file(file, text.as_bytes())
            .map_err(|error| Failure::io(format!("the preview's plan {} cannot be written", file.display()), &error))
    }

    /// What was done although the preview did not show it: one line per resource.
    #[must_use]
    pub(crate) fn surprises(&self, done: &Recorder) -> Vec<String> {
        let done = done.steps();
        let none = BTreeSet::new();
        done.iter()
            .filter_map(|(urn, ops)| {
                let planned = self.steps.get(urn).unwrap_or(&none);
                let surprise = ops.iter().find(|op| !was_to_be_expected(op, planned))?;
                let planned = match planned.iter().next() {
                    Some(_) => planned.iter().cloned().collect::<Vec<_>>().join(", "),
                    None => "nothing".to_owned(),
                };
                Some(format!("{urn}: the preview showed {planned}, the update did {surprise}"))
            })
            .collect()
    }
}

/// Values that a preview cannot know make it announce more than is done in the end, never less.
fn was_to_be_expected(op: &str, planned: &BTreeSet<String>) -> bool {
    let any = |names: &[&str]| names.iter().any(|name| planned.contains(*name));
    match op {
        "same" | "read" | "refresh" | "discard" => true,
        "update" => any(&["update", "replace"]),
        "delete" => any(&["delete", "replace", "discard"]),
        op => planned.contains(op),
    }
}

/// Notes the steps of an operation.
#[derive(Default)]
pub(crate) struct Recorder {
    steps: Mutex<BTreeMap<String, BTreeSet<Op>>>,
}

impl Recorder {
    /// The steps so far.
    #[must_use]
    pub(crate) fn steps(&self) -> Steps {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.iter().map(|(urn, ops)| (urn.clone(), ops.iter().map(|op| op.name().to_owned()).collect())).collect()
    }
}

impl EventSink for Recorder {
    fn emit(&self, event: Event) {
        if let Event::StepStarted(step) = event
            && step.op.is_logical()
            && !step.internal
        {
            let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.entry(step.urn.to_string()).or_default().insert(step.precise_op());
        }
    }
}

/// Tells several watchers.
pub(crate) struct Fan(pub(crate) Vec<std::sync::Arc<dyn EventSink>>);

impl EventSink for Fan {
    fn emit(&self, event: Event) {
        if let Some((last, others)) = self.0.split_last() {
            for watcher in others {
                watcher.emit(event.clone());
            }
            last.emit(event);
        }
    }

    fn call_began(&self, urn: &Urn, ago: Duration) {
        for watcher in &self.0 {
            watcher.call_began(urn, ago);
        }
    }
}
