//! What the procedure of a law asks of the host, and what the host answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Finding, Words};

/// Properties that `check` is called with. The host has them, so that they keep what JSON has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bag {
    /// No properties.
    Empty,
    /// The first inputs of the example.
    Inputs,
    /// What the n-th call returned, from 0.
    Returned(usize),
}

/// An operation on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Plans an `up`.
    Preview,
    /// Plans a refresh, and an `up` after it.
    RefreshedPreview,
    /// Makes the world as the program says.
    Up,
    /// Makes the state as the world is.
    Refresh,
    /// Deletes everything.
    Destroy,
    /// Forgets the resource, and imports it by its id.
    Import,
}

/// The inputs of a resource in a program: those of the example, or something in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProgramResource {
    /// The name of the resource.
    pub name: String,
    /// The number of the inputs.
    pub inputs: usize,
    /// Of these properties, it has the values of the second inputs; it lacks those that the second inputs lack.
    pub taking: Vec<String>,
    /// Texts that stand in the place of others, by path.
    pub planted: BTreeMap<String, String>,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Its stack, by number; a stack that is new is empty.
    pub stack: usize,
    /// Its resources.
    pub resources: Vec<ProgramResource>,
    /// Are the author's secret inputs marked as such?
    pub secret: bool,
    /// Are calls made at once, and does each `create` wait for the others?
    pub together: bool,
}

/// What the host is to do. Errors that a law does not ask about end the example: the host reports them by itself.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Request {
    /// Call `check` of the provider, without an engine, with copies of these. The answer is [`CheckOutcome`].
    Check {
        /// The inputs of before.
        olds: Bag,
        /// The inputs to be checked.
        news: Bag,
    },
    /// Begin with an empty world, a new provider object and no stack. The answer is `null`; so for the next one.
    Renew,
    /// Take this for the program of its stack, and use that stack from now on.
    Program(Program),
    /// Run the program. The answer is [`RunOutcome`].
    Run {
        /// What is done.
        operation: Operation,
        /// The answer of the first `create` is lost after it was given.
        loses: bool,
    },
    /// Run the program, and cancel that when it enters a method. The answer is [`CancelOutcome`].
    Cancel {
        /// What is done.
        operation: Operation,
        /// The method.
        method: String,
    },
    /// Keep a copy of the state. The answer is `null`; so for the next three.
    Save,
    /// Put the copy in the place of the state.
    Restore,
    /// Write the state as text, and read it again.
    Reload,
    /// Put the n-th resource of the former release in the place of the resource, and have the program want its inputs.
    PutFormer {
        /// The number.
        number: usize,
    },
    /// Say which ids are in the world; `null` without a world.
    Look,
    /// Say what is in the world, as an object by id or a list of ids; `null` without a world.
    Picture,
    /// Change the object behind the provider's back. The answer is `null`; so for the next one.
    MutateRemote {
        /// The id of the object.
        id: String,
    },
    /// Remove it behind the provider's back.
    DeleteRemote {
        /// The id of the object.
        id: String,
    },
    /// Say what the last call of a method returned. The answer is [`ReturnedOutputs`], or `null` when it was not called.
    ReturnedLast {
        /// The method.
        method: String,
    },
    /// From now on refuse each use of the network by `check` and `diff`, and note it. The answer is `null`.
    Guard,
    /// Say what `check` and `diff` have used since then: a list of [`Touch`].
    Touches,
    /// Say what could be read of the example by people. The answer is [`VisibleOutput`].
    Shown,
    /// Nothing more: the example has come to its end.
    End(End),
}

/// What an example says of its law.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum End {
    /// The law holds.
    Holds,
    /// The provider lacks what the law needs.
    Needs {
        /// What.
        what: String,
    },
    /// The example says nothing of the law.
    PassOver {
        /// What one would have to have.
        what: String,
    },
    /// The provider refuses the inputs.
    Refused {
        /// What it says.
        error: String,
    },
    /// The last operation failed, which nobody expected: its error is the provider's own.
    Raised,
    /// The law does not hold.
    Broken {
        /// What was found.
        words: Words,
        /// Is the error of the last operation its cause?
        caused: bool,
    },
}

/// What `check` did.
#[derive(Clone, Debug, Deserialize)]
pub struct CheckOutcome {
    /// The inputs that it returned.
    pub inputs: Json,
    /// What it refuses: property and reason.
    pub failures: Vec<(String, String)>,
    /// Its arguments, before the call.
    pub given: Arguments,
    /// Its arguments, after the call.
    pub left: Arguments,
    /// The number of the call.
    #[serde(skip)]
    pub(super) number: usize,
}

impl CheckOutcome {
    /// The inputs that it returned, as arguments.
    pub(super) fn bag(&self) -> Bag {
        Bag::Returned(self.number)
    }
}

/// The arguments of `check`.
#[derive(Clone, Debug, Deserialize)]
pub struct Arguments {
    /// The inputs of before.
    pub olds: Json,
    /// The inputs to be checked.
    pub news: Json,
}

/// What an operation came to.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// The error that it failed with; `None` when it succeeded.
    pub error: Option<String>,
    /// What becomes, or became, of the resource; of an operation that failed it may be left out.
    #[serde(default)]
    pub step: PlannedStep,
    /// The resources in the state, by name.
    #[serde(default)]
    pub resources: BTreeMap<String, DeployedResource>,
    /// A result of a method that no state can keep.
    #[serde(default)]
    pub unkept: Option<UnkeptResult>,
    /// What the engine says of results that it keeps in another form.
    #[serde(default)]
    pub noted: Vec<String>,
    /// Did the last `read` say that there is no such object?
    #[serde(default)]
    pub read_nothing: bool,
}

/// A resource in the state.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DeployedResource {
    /// The id of its object.
    pub id: String,
    /// Its outputs, secret ones in plain text.
    pub outputs: Json,
    /// The paths of the outputs that are secret.
    #[serde(default)]
    pub secret: Vec<String>,
}

/// A result that no state can keep.
#[derive(Clone, Debug, Deserialize)]
pub struct UnkeptResult {
    /// The method.
    pub method: String,
    /// The engine's error.
    pub error: String,
}

/// What a plan does to a resource.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// `same`, `update`, `replace`, ...
    pub action: String,
    /// The properties that differ, in the order of their paths.
    pub changes: Vec<PlannedChange>,
    /// The properties that force a replacement.
    #[serde(default)]
    pub replaces: Vec<String>,
    /// Is the old object deleted first?
    #[serde(default)]
    pub delete_before_replace: bool,
}

/// How a property differs.
#[derive(Clone, Debug, Deserialize)]
pub struct PlannedChange {
    /// Its path.
    pub path: String,
    /// The value in the state.
    pub old: Option<Json>,
    /// The value that the program says.
    pub new: Option<Json>,
}

/// The outcome of a run that was cancelled.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CancelOutcome {
    /// Did it end in the time that the author allows?
    pub ended: bool,
}

/// What a method returned.
#[derive(Clone, Debug, Deserialize)]
pub struct ReturnedOutputs {
    /// The outputs.
    pub outputs: Json,
    /// What of them is not the same in every language: path and reason.
    pub odd: Vec<(String, String)>,
}

/// What `check` or `diff` touched.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Touch {
    /// The network.
    Network {
        /// The method.
        method: String,
        /// What of it.
        used: String,
    },
    /// The world, by requests.
    Requests {
        /// The method.
        method: String,
        /// How many.
        requests: u64,
    },
}

/// What people could read.
#[derive(Clone, Debug, Deserialize)]
pub struct VisibleOutput {
    /// What methods raised.
    pub errors: Vec<MethodError>,
    /// What was printed and logged.
    pub printed: String,
    /// The provider object, as it is printed.
    pub provider: String,
    /// The messages of the runs.
    pub messages: Vec<String>,
}

/// What a method raised.
#[derive(Clone, Debug, Deserialize)]
pub struct MethodError {
    /// The method.
    pub method: String,
    /// The error as sentences have it.
    pub error: String,
    /// The error with all that belongs to it.
    pub whole: String,
}

/// How an example ends early.
pub(super) type ExampleResult<T = ()> = std::result::Result<T, End>;

/// Breaks the law.
pub(super) fn broken(finding: &Finding) -> End {
    End::Broken { words: finding.words(), caused: false }
}

/// Breaks the law by the error of the last operation.
pub(super) fn broken_by_error(finding: &Finding) -> End {
    End::Broken { words: finding.words(), caused: true }
}

/// The example says nothing of the law.
pub(super) fn pass_over(what: &str) -> End {
    End::PassOver { what: what.to_owned() }
}
