//! Lifecycles of providers: what a step does to what is known of a stack, which steps are possible, what must hold after each,
//! and the words for what does not. So every host judges alike and says the same; it draws steps, runs the engine and calls
//! the provider.

mod course;
mod edits;
mod exchange;
mod finding;
mod model;
mod step;
mod story;

use std::collections::BTreeMap;

use maloko_core::error::{Error, Result};
use serde_json::{Value as Json, json};

use crate::exchange::{Exchange, Flow, Progress};
use crate::fault_points::Interruption;
use crate::laws::Words;
use course::Course;
pub(crate) use edits::Edit;
use exchange::StepResult;
pub use exchange::{
    ConcurrentUp, DirectCallOutcome, LifeCrash, LifeEnd, LifeOperation, LifeOrder, LifePlannedStep, LifeRequest,
    LifeResource, LifeRun, LifeRunOutcome,
};
pub use model::LifeSubject;
use model::Model;
pub use step::Inputs;
use step::{Moment, RESOURCES, RULES, Step};
pub use story::Story;

/// So many edits come in a row at most, each with an `up`.
const EDITS: usize = 4;
/// So many points an `up` of three resources has, and more.
const MAX_POINTS: usize = 20;

/// What hosts draw from: rules, resources, extents of edits as often as they are to be drawn, kinds of crashes, moments; and what
/// is wrong with the rules that an author leaves out.
pub(crate) fn drawn_from(without: &BTreeMap<String, Json>) -> Json {
    json!({
        "rules": RULES,
        "resources": RESOURCES,
        "extents": edits::EXTENTS,
        "mostPicks": edits::MAX_PICK,
        "mostEdits": EDITS,
        "mostPoints": MAX_POINTS,
        "crashes": Interruption::ALL,
        "moments": Moment::ALL,
        "mistake": step::mistake_in(without),
    })
}

/// A lifecycle, step by step.
pub struct LifeTrial {
    // Not there while a step goes on.
    model: Option<Model>,
    flow: Option<Flow<(Model, StepResult)>>,
    exchange: Exchange<LifeRequest>,
    name: String,
    taken: Vec<Step>,
    ended: bool,
}

impl LifeTrial {
    /// Begins with an empty program. Fails for rules that cannot be left out.
    pub fn new(subject: LifeSubject) -> Result<Self> {
        if let Some(mistake) = step::mistake_in(&subject.without) {
            return Err(Error::Configuration(mistake.into()));
        }
        let name = subject.name.clone();
        let model = Some(Model::new(subject));
        Ok(Self { model, flow: None, exchange: Exchange::default(), name, taken: Vec::new(), ended: false })
    }

    /// The rules that can be followed just now, each with the names of the resources that it can be about; none while a step
    /// goes on.
    #[must_use]
    pub fn possible(&self) -> BTreeMap<&'static str, Vec<String>> {
        self.model.as_ref().map(Model::possible).unwrap_or_default()
    }

    /// Why this cannot be the next step, in words; `None` when it can.
    #[must_use]
    pub fn refusal(&self, written: &[Json], story: &Story) -> Option<String> {
        match self.read(written) {
            Ok(_) => None,
            Err((Some(step), why)) => Some(format!("the step {} cannot be done here: {why}", story.step(&step))),
            Err((None, why)) => Some(format!("this step cannot be done: {why}")),
        }
    }

    fn read(&self, written: &[Json]) -> std::result::Result<Step, (Option<Step>, String)> {
        let step = Step::read(written).map_err(|why| (None, why))?;
        let refusal = match &self.model {
            Some(model) if !self.ended => model.refuses(&step),
            Some(_) => Some("the lifecycle has ended".to_owned()),
            None => Some("the step before has not come to its end".to_owned()),
        };
        match refusal {
            Some(why) => Err((Some(step), why)),
            None => Ok(step),
        }
    }

    /// Inputs without what is secret, as a step is to be written with them. They are as they are while a step goes on.
    pub fn hide_inputs(&mut self, inputs: &Json) -> Json {
        self.model.as_mut().map_or_else(|| inputs.clone(), |model| model.hidden.out_of_inputs(inputs))
    }

    /// A text, such as the message of an error, without what is secret in the steps so far.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        self.model.as_ref().map_or_else(|| text.to_owned(), |model| model.hidden.out_of_text(text))
    }

    /// Begins a step; [`LifeTrial::next`] goes on with it. Fails for one that cannot be the next.
    pub fn take(&mut self, written: &[Json]) -> Result<()> {
        let step = self.read(written).map_err(|(_, why)| Error::Configuration(why.into()))?;
        self.taken.push(step.clone());
        self.go(|mut course| {
            Box::pin(async move {
                let held = course.take(step).await;
                (course.model, held)
            })
        })
    }

    /// Begins the end: everything is removed. Fails while a step goes on.
    pub fn end(&mut self) -> Result<()> {
        self.ended = true;
        self.go(|mut course| {
            Box::pin(async move {
                let held = course.end().await;
                (course.model, held)
            })
        })
    }

    fn go(&mut self, begin: impl FnOnce(Course) -> Flow<(Model, StepResult)>) -> Result<()> {
        let model = self.model.take();
        let model = model.ok_or_else(|| Error::Configuration("the step before has not come to its end".into()))?;
        self.flow = Some(begin(Course::new(model, self.exchange.clone())));
        Ok(())
    }

    /// What is to be done next, after the answer to what was to be done before; at first, that is `null`. Fails for an answer
    /// that is none, and after the end of a step.
    pub fn next(&mut self, answer: Json) -> Result<LifeRequest> {
        let flow =
            self.flow.as_mut().ok_or_else(|| Error::Configuration("no step of the lifecycle has begun".into()))?;
        match self.exchange.go_on(flow, answer, "a lifecycle")? {
            Progress::Asks(request) => Ok(request),
            Progress::Ended((model, held)) => {
                self.flow = None;
                let model = self.model.insert(model);
                Ok(LifeRequest::End(match held.err().unwrap_or(LifeEnd::Holds) {
                    LifeEnd::Broken { words, caused } => LifeEnd::Broken { words: model.hidden.out_of(words), caused },
                    end @ LifeEnd::Holds => end,
                }))
            }
        }
    }

    /// The steps so far as a test.
    #[must_use]
    pub fn story(&self, story: &Story) -> String {
        story.program(&self.name, &self.taken, self.ended)
    }

    /// What went wrong, with the steps as a test. `again`: what runs it again; empty when there is nothing.
    #[must_use]
    pub fn broken_text(&self, words: &Words, story: &Story, again: &str) -> String {
        let Words { property, expected, found, .. } = words;
        let count = self.taken.len();
        let steps = if count == 1 { "step" } else { "steps" };
        let mut lines = vec![
            format!("lifecycle of {}: it goes wrong in {count} {steps}", self.name),
            format!("    property: {property}"),
            format!("    expected: {expected}"),
            format!("    found: {}", found.replace('\n', "\n      ")),
        ];
        lines.extend((!again.is_empty()).then(|| format!("    again: {again}")));
        lines.push("    as a test:".to_owned());
        format!("{}\n\n{}\n", lines.join("\n"), self.story(story))
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
