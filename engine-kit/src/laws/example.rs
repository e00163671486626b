//! The inputs of an example, as a report shows them.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::exchange::{ProgramResource, Request};
use super::hiding::SecretValues;
use super::subject::Subject;
use super::table::Law;

/// Inputs, and what a report calls them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownInputs {
    /// `inputs`, `first`, `then`, or the name of a resource.
    pub name: String,
    /// The inputs, without what is secret.
    pub inputs: Json,
}

/// What an example has tried so far.
pub(super) struct Example {
    inputs: Vec<Json>,
    /// How many inputs the law takes; 0 where they say nothing of what is found.
    count: usize,
    /// What the last program had that came after the first inputs, or beside them.
    latest: Vec<ProgramResource>,
}

impl Example {
    pub(super) fn new(law: &Law, subject: &Subject) -> Self {
        Self {
            inputs: subject.inputs.clone(),
            count: if law.shows_inputs { law.inputs } else { 0 },
            latest: Vec::new(),
        }
    }

    /// Notes what the host is to do.
    pub(super) fn learn(&mut self, request: &Request) {
        let Request::Program(program) = request else { return };
        let is_another = |wanted: &ProgramResource| wanted.inputs > 0 || !wanted.taking.is_empty();
        if self.count > 2 || program.resources.iter().any(is_another) {
            self.latest.clone_from(&program.resources);
        }
    }

    /// The inputs that were tried last.
    pub(super) fn shown(&self, hidden: &SecretValues) -> Vec<ShownInputs> {
        let first = || self.of(&ProgramResource::default());
        let mut hidden = hidden.clone();
        let mut named =
            |(name, inputs): (&str, Json)| ShownInputs { name: name.to_owned(), inputs: hidden.out_of_inputs(&inputs) };
        match (self.count, self.latest.first()) {
            (0, _) => Vec::new(),
            (1 | 2, None) => vec![named(("inputs", first()))],
            (1 | 2, Some(then)) => [("first", first()), ("then", self.of(then))].map(named).into(),
            _ => self.latest.iter().map(|it| named((it.name.as_str(), self.of(it)))).collect(),
        }
    }

    fn of(&self, wanted: &ProgramResource) -> Json {
        let members = |number: usize| self.inputs.get(number).and_then(Json::as_object).cloned().unwrap_or_default();
        let mut inputs = members(wanted.inputs);
        let second = members(1);
        for key in &wanted.taking {
            inputs.remove(key);
            inputs.extend(second.get(key).map(|value| (key.clone(), value.clone())));
        }
        Json::Object(inputs)
    }
}
