//! What a step asks of the host, and what the host answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::fault_points::Interruption;
use crate::laws::{DeployedResource, PlannedChange, Words};
use crate::run_request::{Import, Verb};

/// An operation on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeOperation {
    /// Plans an `up`.
    Preview,
    /// Plans a refresh, and an `up` after it.
    RefreshedPreview,
    /// Makes the world as the program says.
    Up,
    /// The same, after a refresh.
    RefreshedUp,
    /// Makes the state as the world is.
    Refresh,
    /// Deletes everything.
    Destroy,
    /// Takes an object over.
    Import,
}

/// One operation, as members of a [`crate::RunRequest`] that the host completes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LifeOrder {
    /// What is done.
    pub verb: Verb,
    /// Is it only planned?
    pub preview: bool,
    /// Are the real objects looked at first?
    pub refresh: bool,
    /// Where it is cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<LifeCrash>,
    /// What is taken over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<Import>,
}

impl From<LifeOperation> for LifeOrder {
    fn from(operation: LifeOperation) -> Self {
        let (verb, preview, refresh) = match operation {
            LifeOperation::Preview => (Verb::Up, true, false),
            LifeOperation::RefreshedPreview => (Verb::Up, true, true),
            LifeOperation::Up => (Verb::Up, false, false),
            LifeOperation::RefreshedUp => (Verb::Up, false, true),
            LifeOperation::Refresh => (Verb::Refresh, false, false),
            LifeOperation::Destroy => (Verb::Destroy, false, false),
            LifeOperation::Import => (Verb::Import, false, false),
        };
        Self { verb, preview, refresh, crash: None, imports: Vec::new() }
    }
}

/// Who does an operation, and what happens meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LifeRun {
    /// What is done.
    pub order: LifeOrder,
    /// The number of the writer who does it.
    pub writer: usize,
    /// Are the answers of `create`, `update` and `delete` lost after they were given?
    pub loses: bool,
    /// The number of a writer who tries an `up` when the first of those methods is entered.
    pub meanwhile: Option<usize>,
}

/// Where an operation is cut off.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LifeCrash {
    /// The label of the point.
    pub label: String,
    /// What happens there.
    pub kind: Interruption,
}

/// What the host is to do.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum LifeRequest {
    /// Call `check` with these inputs, without an engine. The answer is [`DirectCallOutcome`].
    Check {
        /// The number of the inputs.
        inputs: usize,
    },
    /// Call `check` and `create` with these inputs, without an engine. The answer is [`DirectCallOutcome`].
    Make {
        /// The number of the inputs.
        inputs: usize,
    },
    /// Begin with an empty world, and make an object with these inputs on a new stack. The answer is [`DeployedResource`], or `null` when
    /// the provider refuses that.
    MakeAfresh {
        /// The name of the resource: automatic names are made of it.
        name: String,
        /// The number of the inputs.
        inputs: usize,
    },
    /// Have all programs make these resources, by the numbers of their inputs. The answer is `null`; so for the next one.
    Program {
        /// The resources by name.
        resources: BTreeMap<String, usize>,
    },
    /// Make a provider object and a program on the same state, as another process has them.
    Begin {
        /// The number of the new writer.
        writer: usize,
    },
    /// Run the program. The answer is [`LifeRunOutcome`].
    Run(LifeRun),
    /// Have the state of the stack forget a resource, whose object stays. The answer is an [`Import`] of it.
    Forget {
        /// The name of the resource.
        name: String,
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
    /// Nothing more: the step has come to its end.
    End(LifeEnd),
}

/// What a step says of the provider.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum LifeEnd {
    /// All is as it must be.
    Holds,
    /// Something is not.
    Broken {
        /// What was found.
        words: Words,
        /// Is the error of the last call or operation its cause?
        caused: bool,
    },
}

/// What a call of the provider came to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DirectCallOutcome {
    /// What was raised.
    pub error: Option<String>,
    /// Does `check` refuse the inputs?
    pub refused: bool,
    /// The id of the object that was made.
    pub id: Option<String>,
}

/// What an operation came to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LifeRunOutcome {
    /// The error that it failed with; `None` when it succeeded.
    pub error: Option<String>,
    /// Did `check` refuse inputs?
    pub refused: bool,
    /// Was it cut off where that was asked for?
    pub crashed: bool,
    /// Was an answer lost?
    pub lost: bool,
    /// The outcome of the other writer's `up`; `None` when there was no occasion.
    pub meanwhile: Option<ConcurrentUp>,
    /// What is done to resources, without those that stay the same.
    pub plan: Vec<LifePlannedStep>,
    /// The labels of the points that it has passed.
    pub points: Vec<String>,
    /// The resources in the state that have a provider.
    pub resources: Vec<LifeResource>,
    /// How many creates in the state have an outcome that is unknown.
    pub unresolved: usize,
}

/// The outcome of another writer's `up`.
#[derive(Clone, Debug, Deserialize)]
pub struct ConcurrentUp {
    /// The error that it failed with; `None` when it succeeded.
    pub error: Option<String>,
}

/// What is done to a resource.
#[derive(Clone, Debug, Deserialize)]
pub struct LifePlannedStep {
    /// The name of the resource.
    pub name: String,
    /// Its URN.
    #[serde(default)]
    pub urn: String,
    /// Its type token.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Its parent's URN; `None` for the stack.
    #[serde(default)]
    pub parent: Option<String>,
    /// `update`, `replace`, ...
    pub action: String,
    /// The properties that differ.
    #[serde(default)]
    pub changes: Vec<PlannedChange>,
}

/// A resource in the state.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LifeResource {
    /// Its name.
    pub name: String,
    /// The id of its object.
    pub id: String,
    /// Its outputs, secret ones in plain text.
    pub outputs: Json,
    /// Does it wait for its deletion?
    #[serde(default)]
    pub waiting: bool,
}

impl LifeResource {
    pub(super) fn made(&self) -> DeployedResource {
        DeployedResource { id: self.id.clone(), outputs: self.outputs.clone(), secret: Vec::new() }
    }
}

/// How a step ends early.
pub(super) type StepResult<T = ()> = Result<T, LifeEnd>;
