//! The laws of providers: what they do to judge a provider ([`LawTrial`]), and the words for what was found. So every
//! host judges alike and says the same.

mod changes;
mod compare;
mod editing;
mod example;
mod exchange;
mod finding;
mod hiding;
mod host;
mod reading;
mod secrets;
mod service;
mod show;
mod subject;
mod table;
mod trial;

pub(crate) use compare::{first_difference, first_difference_of, is_listed, rather_plain};
pub use example::ShownInputs;
pub use exchange::{
    Arguments, Bag, CancelOutcome, CheckOutcome, DeployedResource, End, MethodError, Operation, PlannedChange,
    PlannedStep, Program, ProgramResource, Request, ReturnedOutputs, RunOutcome, Touch, UnkeptResult, VisibleOutput,
};
pub use finding::{Finding, Leak};
pub(crate) use hiding::SecretValues;
pub(crate) use host::NAME;
use serde::{Deserialize, Serialize};
pub(crate) use show::show;
pub use subject::{Ability, Former, Subject, World};
pub use table::Law;
pub(crate) use table::{LAWS, law};
pub use trial::LawTrial;

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// The property, or what else it is about.
    pub property: String,
    /// What should be.
    pub expected: String,
    /// What is.
    pub found: String,
    /// What the author of a provider can do; empty when nothing is known.
    #[serde(default)]
    pub advice: String,
}

/// What is known of a law and a provider.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum LawResult {
    /// It holds, after so many examples.
    Holds {
        /// How many.
        examples: u64,
    },
    /// The author has waived it.
    Waived {
        /// Why.
        reason: String,
    },
    /// It lacks something that the author has to give.
    Needs {
        /// What.
        what: String,
    },
    /// None of the examples had what it needs.
    Untried {
        /// What.
        what: String,
        /// How many there were.
        examples: u64,
    },
    /// The provider refuses all examples.
    Refused {
        /// How many there were.
        examples: u64,
        /// What it says to the first.
        error: String,
    },
    /// It does not hold.
    Broken(Break),
}

/// How a law is broken, and with which inputs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Break {
    /// What was found; without it, `raised` says what was raised.
    pub words: Option<Words>,
    /// An error of the provider's own that nobody expected.
    #[serde(default)]
    pub raised: String,
    /// The inputs that show it.
    #[serde(default)]
    pub inputs: Vec<ShownInputs>,
    /// Did it not happen again with the same inputs?
    #[serde(default)]
    pub flaky: bool,
    /// The command or setting that tries them again; empty when there is none.
    #[serde(default)]
    pub again: String,
}

/// An example that has said nothing of its law.
#[derive(Debug, Deserialize)]
pub(crate) struct InconclusiveExample {
    /// Does the provider refuse its inputs?
    pub(crate) refused: bool,
    /// What the provider says, or what one would have to have.
    pub(crate) text: String,
}

/// The result where all examples said nothing.
pub(crate) fn nothing_tried(examples: Vec<InconclusiveExample>) -> LawResult {
    let count = examples.len() as u64;
    let (refused, others): (Vec<_>, Vec<_>) = examples.into_iter().partition(|it| it.refused);
    match (others.into_iter().next(), refused.into_iter().next()) {
        (None, Some(refusal)) => LawResult::Refused { examples: count, error: refusal.text },
        (Some(other), _) => LawResult::Untried { what: other.text, examples: count },
        (None, None) => LawResult::Untried { what: "inputs to try".to_owned(), examples: 0 },
    }
}

/// A result in words. `law` is its name (`L5`), `title` what holds, `provider` the name of the provider.
#[must_use]
pub fn law_result_text(law: &str, title: &str, provider: &str, result: &LawResult) -> String {
    match result {
        LawResult::Holds { examples } => {
            format!("{law} holds: {examples} {}", if *examples == 1 { "example" } else { "examples" })
        }
        LawResult::Waived { reason } => format!("{law} is waived: {reason}"),
        LawResult::Needs { what } => format!("{law} needs {what}"),
        LawResult::Untried { what, examples } => format!("{law} needs {what}; none of {examples} examples had it"),
        LawResult::Refused { examples, error } => format!(
            "{law} {title}: {provider} refuses all {examples} example inputs, so that nothing could be tried\n  the first \
             refusal: {error}"
        ),
        LawResult::Broken(found) => broken_text(law, title, provider, found),
    }
}

fn broken_text(law: &str, title: &str, provider: &str, found: &Break) -> String {
    let mut lines = Vec::new();
    match &found.words {
        Some(Words { property, expected, found, .. }) => {
            lines.push(format!("{law} {title}: broken by {provider}"));
            lines.push(format!("  property: {property}"));
            lines.push(format!("  expected: {expected}"));
            lines.push(format!("  found:    {found}"));
        }
        None => lines.push(format!("{law} {title}: {provider} raised {}", found.raised)),
    }
    for ShownInputs { name, inputs } in &found.inputs {
        lines.push(format!("  {:<9} {}", format!("{name}:"), show(inputs)));
    }
    let advice = found.words.as_ref().map_or("", |words| words.advice.as_str());
    lines.extend((!advice.is_empty()).then(|| format!("  {advice}")));
    if found.flaky {
        let told = "(it did not happen again with the same inputs: the provider does not do the same every time)";
        lines.push(format!("  {told}"));
    }
    lines.extend((!found.again.is_empty()).then(|| format!("  again: {}", found.again)));
    lines.join("\n")
}

#[cfg(test)]
#[path = "laws_tests.rs"]
mod tests;
#[cfg(test)]
mod trial_tests;
