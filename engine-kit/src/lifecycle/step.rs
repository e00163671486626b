//! The steps of a lifecycle, as hosts write them: `["edit", "a", INPUTS]`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::fault_points::Interruption;

/// The kinds of steps.
pub(crate) const RULES: [&str; 13] = [
    "edit",
    "remove",
    "up",
    "preview",
    "refresh",
    "destroy",
    "import",
    "drift",
    "vanish",
    "crash",
    "lose_answer",
    "restart",
    "second_writer",
];

/// The resources that a program may have.
pub(crate) const RESOURCES: [&str; 3] = ["a", "b", "c"];

/// Inputs that the host has drawn.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Inputs {
    /// Their number: the host has them, so that they keep what JSON has no word for.
    pub number: usize,
    /// As JSON has them.
    pub plain: Map<String, Json>,
    /// As the host's language writes them.
    pub text: String,
}

/// When somebody else deploys the same program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Moment {
    /// While an `up` is at work, and again after it.
    During,
    /// Before an `up`.
    Before,
}

impl Moment {
    pub(crate) const ALL: [Self; 2] = [Self::During, Self::Before];

    fn name(self) -> &'static str {
        match self {
            Self::During => "during",
            Self::Before => "before",
        }
    }
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The program has the resource, with these inputs.
    Edit(String, Arc<Inputs>),
    /// The program has the resource no more.
    Remove(String),
    /// The program is deployed.
    Up,
    /// It is planned.
    Preview,
    /// The state is made as the world is.
    Refresh,
    /// Everything is removed.
    Destroy,
    /// With inputs: an object that somebody made with them is taken over. Without: the stack forgets the resource, and takes
    /// its object over.
    Import(String, Option<Arc<Inputs>>),
    /// Somebody changes the object.
    Drift(String),
    /// Somebody removes the object.
    Vanish(String),
    /// An `up` is cut off at one of its points, counted from 1 and again and again.
    Crash(usize, Interruption),
    /// The provider does what an `up` asks for, and its answers are lost.
    LoseAnswer,
    /// Another process goes on, with a provider object of its own.
    Restart,
    /// Somebody else deploys the program, too.
    SecondWriter(Moment),
}

impl Step {
    /// Reads a step. Fails with what is wrong with it.
    pub(crate) fn read(written: &[Json]) -> Result<Self, String> {
        let Some((rule, given)) = written.split_first() else { return Err("it names no rule".to_owned()) };
        let rule = rule.as_str().unwrap_or_default();
        if !RULES.contains(&rule) {
            return Err(format!("there is no rule '{rule}'; there are {}", RULES.join(", ")));
        }
        let given = StepArguments { rule, given };
        let step = match rule {
            "edit" => Self::Edit(given.name()?, given.inputs()?),
            "remove" => Self::Remove(given.name()?),
            "up" => Self::Up,
            "preview" => Self::Preview,
            "refresh" => Self::Refresh,
            "destroy" => Self::Destroy,
            "import" => Self::Import(given.name()?, given.has(1).then(|| given.inputs()).transpose()?),
            "drift" => Self::Drift(given.name()?),
            "vanish" => Self::Vanish(given.name()?),
            "crash" => Self::Crash(given.count()?, given.interruption()?),
            "lose_answer" => Self::LoseAnswer,
            "restart" => Self::Restart,
            _ => Self::SecondWriter(given.moment()?),
        };
        Ok(step)
    }

    pub(crate) fn rule(&self) -> &'static str {
        match self {
            Self::Edit(..) => "edit",
            Self::Remove(_) => "remove",
            Self::Up => "up",
            Self::Preview => "preview",
            Self::Refresh => "refresh",
            Self::Destroy => "destroy",
            Self::Import(..) => "import",
            Self::Drift(_) => "drift",
            Self::Vanish(_) => "vanish",
            Self::Crash(..) => "crash",
            Self::LoseAnswer => "lose_answer",
            Self::Restart => "restart",
            Self::SecondWriter(_) => "second_writer",
        }
    }

    /// Its arguments as both languages write them.
    pub(super) fn arguments(&self) -> Vec<String> {
        let quoted = |text: &str| Json::from(text).to_string();
        match self {
            Self::Edit(name, inputs) | Self::Import(name, Some(inputs)) => vec![quoted(name), inputs.text.clone()],
            Self::Remove(name) | Self::Import(name, None) | Self::Drift(name) | Self::Vanish(name) => {
                vec![quoted(name)]
            }
            Self::Crash(nth, kind) => vec![nth.to_string(), quoted(kind.name())],
            Self::SecondWriter(moment) => vec![quoted(moment.name())],
            Self::Up | Self::Preview | Self::Refresh | Self::Destroy | Self::LoseAnswer | Self::Restart => Vec::new(),
        }
    }
}

/// The arguments of a step.
struct StepArguments<'a> {
    rule: &'a str,
    given: &'a [Json],
}

impl StepArguments<'_> {
    fn has(&self, at: usize) -> bool {
        self.given.get(at).is_some_and(|it| !it.is_null())
    }

    fn name(&self) -> Result<String, String> {
        let name = self.given.first().and_then(Json::as_str).filter(|name| !name.is_empty());
        name.map(str::to_owned).ok_or_else(|| format!("{} needs the name of a resource", self.rule))
    }

    fn inputs(&self) -> Result<Arc<Inputs>, String> {
        let inputs = self.given.get(1).and_then(|it| Inputs::deserialize(it).ok());
        inputs.map(Arc::new).ok_or_else(|| format!("{} needs inputs after the name of the resource", self.rule))
    }

    fn count(&self) -> Result<usize, String> {
        let given = self.given.first().unwrap_or(&Json::Null);
        let count = given.as_u64().and_then(|it| usize::try_from(it).ok()).filter(|it| *it > 0);
        count.ok_or_else(|| format!("the points of a crash are counted from 1, not {given}"))
    }

    fn interruption(&self) -> Result<Interruption, String> {
        let given = self.given.get(1).and_then(Json::as_str).unwrap_or_default().to_owned();
        let found = Interruption::ALL.into_iter().find(|it| it.name() == given);
        found.ok_or_else(|| Interruption::mistake(&[given]).unwrap_or_default())
    }

    fn moment(&self) -> Result<Moment, String> {
        let given = self.given.first().unwrap_or(&Json::Null);
        let found = Moment::ALL.into_iter().find(|it| Some(it.name()) == given.as_str());
        let names = Moment::ALL.map(Moment::name);
        found.ok_or_else(|| format!("a second writer comes {}, not {given}", names.join(" or ")))
    }
}

/// What is wrong with the rules that an author leaves out, each with a reason; `None` when nothing is.
pub(crate) fn mistake_in(without: &BTreeMap<String, Json>) -> Option<String> {
    without.iter().find_map(|(rule, reason)| {
        if !RULES.contains(&rule.as_str()) {
            return Some(format!("`without` names '{rule}', which is no rule: there are {}", RULES.join(", ")));
        }
        let told = reason.as_str().is_some_and(|reason| !reason.trim().is_empty());
        (!told).then(|| format!("`without` gives no reason for '{rule}': say why this provider cannot have it"))
    })
}
