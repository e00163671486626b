//! What a test has its stack do in several operations: take over an object, settle, be torn down. Which operations these are,
//! what they must come to, and how that is said, is here; a kit only runs them, one after the other.

mod imports;
mod settling;
#[cfg(test)]
mod task_tests;
mod teardown;

use std::sync::Arc;

use maloko_core::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::exchange::{Exchange, Flow, Progress};
use crate::plan::Entry;
use crate::plan_assertions::Step;
use crate::report::Report;
use crate::stack::TestStack;

/// What is to be done.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Task {
    /// Two more plans, without and with a refresh, must be empty.
    Settle {
        /// The verb that they come after; none where the test asks by itself.
        after: Option<String>,
        /// URNs or globs that the plans are about.
        #[serde(default)]
        targets: Vec<String>,
        /// URNs or globs that they are not about.
        #[serde(default)]
        excludes: Vec<String>,
    },
    /// Takes an object over as the resource that the program registers under a name.
    Import { name: String, id: String },
    /// The object of a resource, imported by its id into a copy of the stack that does not know it, must be the same there.
    ImportCleanly {
        name: String,
        /// Properties that may differ, and what is below them.
        ignore: Vec<String>,
    },
    /// Plans an `up` of a copy of the stack that has another state.
    PlanFrom {
        /// Pulumi's deployment JSON.
        deployment: String,
        /// Names it in errors.
        place: String,
    },
    /// Destroys what the stack has, and judges what is left.
    TearDown(teardown::TearDown),
}

/// What the kit is to do.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum TaskRequest {
    /// Run the program. The answer is `{ "error" }`: what was raised, in words, or `null`.
    Run {
        /// Members of a [`crate::RunRequest`] that the kit completes. Where `aside` is true, the test has not asked for this
        /// operation: it is not among the calls and the operations of the test.
        order: Json,
    },
    /// Nothing more.
    End(TaskEnd),
}

/// What a task came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum TaskEnd {
    /// It is done.
    Done {
        /// What it came to: of a teardown `{ "deleted", "forgotten", "problems" }` (lists of texts), else `null`.
        value: Json,
    },
    /// The last operation failed, and its error is that of the task.
    Raised,
    /// Something is not as it must be.
    Broken {
        /// What, and what to do.
        text: String,
        /// Is the error of the last operation its cause?
        caused: bool,
    },
}

/// What a flow asks for: the kit runs the program, and the stack does the rest.
enum Need {
    Run(Json),
    Resources { copy: bool },
    Unresolved,
    Forget(Vec<String>),
    Copy { without: Vec<String>, restored: Option<(String, String)> },
}

/// One task on a stack.
pub struct StackTask {
    stack: TestStack,
    exchange: Exchange<Need>,
    flow: Flow<TaskEnd>,
}

impl StackTask {
    /// Begins a task (JSON). Fails for one that cannot be read.
    pub fn new(stack: TestStack, task: &str) -> Result<Self> {
        let task: Task = serde_json::from_str(task)
            .map_err(|error| Error::Configuration(format!("the task cannot be read: {error}").into()))?;
        let exchange = Exchange::default();
        let host = Host { exchange: exchange.clone(), stack: stack.clone() };
        let flow: Flow<TaskEnd> = match task {
            Task::Settle { after, targets, excludes } => {
                Box::pin(async move { ended(settling::settle(&host, after, targets, excludes).await) })
            }
            Task::Import { name, id } => Box::pin(async move { ended(imports::import(&host, &name, &id).await) }),
            Task::ImportCleanly { name, ignore } => {
                Box::pin(async move { ended(imports::import_cleanly(&host, &name, &ignore).await) })
            }
            Task::PlanFrom { deployment, place } => Box::pin(async move {
                host.copy(&[], Some((deployment, place))).await;
                ended(host.run(json!({ "verb": "up", "preview": true, "aside": true, "copy": true })).await.map(drop))
            }),
            Task::TearDown(settings) => Box::pin(async move { teardown::tear_down(&host, settings).await }),
        };
        Ok(Self { stack, exchange, flow })
    }

    /// What is to be done next, after the answer to what was to be done before; at first, that is `null`. Fails for an
    /// answer that is none, after the end, and for a state that cannot be read or written.
    pub async fn next(&mut self, answer: Json) -> Result<TaskRequest> {
        let mut answer = answer;
        loop {
            answer = match self.exchange.go_on(&mut self.flow, answer, "a task")? {
                Progress::Ended(end) => return Ok(TaskRequest::End(end)),
                Progress::Asks(Need::Run(order)) => return Ok(TaskRequest::Run { order }),
                Progress::Asks(Need::Resources { copy }) => {
                    let stack = if copy { self.stack.copy()? } else { self.stack.clone() };
                    stack.resources().await?["resources"].take()
                }
                Progress::Asks(Need::Unresolved) => json!(self.stack.unresolved_creates().await?),
                Progress::Asks(Need::Forget(urns)) => {
                    self.stack.forget_creates(&urns).await?;
                    Json::Null
                }
                Progress::Asks(Need::Copy { without, restored }) => {
                    self.stack.copy_aside(&without, restored).await?;
                    Json::Null
                }
            };
        }
    }
}

/// How a task ends early.
enum EarlyEnd {
    Raised,
    Broken { text: String, caused: bool },
}

fn broken(text: String) -> EarlyEnd {
    EarlyEnd::Broken { text, caused: false }
}

fn ended(done: std::result::Result<(), EarlyEnd>) -> TaskEnd {
    match done {
        Ok(()) => TaskEnd::Done { value: Json::Null },
        Err(EarlyEnd::Raised) => TaskEnd::Raised,
        Err(EarlyEnd::Broken { text, caused }) => TaskEnd::Broken { text, caused },
    }
}

/// A resource of the state, as far as tasks look at it.
#[derive(Clone, Debug, Deserialize)]
struct Resource {
    urn: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    id: String,
    custom: bool,
    parent: Option<String>,
    inputs: Map<String, Json>,
    outputs: Map<String, Json>,
    /// Paths.
    secret: Vec<String>,
    delete: bool,
}

#[derive(Debug, Deserialize)]
struct TaskRunOutcome {
    error: Option<String>,
}

/// Whom a flow asks.
struct Host {
    exchange: Exchange<Need>,
    stack: TestStack,
}

impl Host {
    /// Runs the program; an operation that fails ends the task.
    async fn run(&self, order: Json) -> std::result::Result<Arc<Report>, EarlyEnd> {
        match self.attempt(order).await {
            (None, Some(report)) => Ok(report),
            _ => Err(EarlyEnd::Raised),
        }
    }

    /// Runs the program. Gives what was raised, and the report, where there is one.
    async fn attempt(&self, order: Json) -> (Option<String>, Option<Arc<Report>>) {
        let copy = order["copy"] == true;
        let TaskRunOutcome { error } = self.exchange.ask(Need::Run(order)).await;
        (error, self.stack.last_report(copy))
    }

    async fn resources(&self) -> Vec<Resource> {
        self.exchange.ask(Need::Resources { copy: false }).await
    }

    /// The resources of the copy.
    async fn copied_resources(&self) -> Vec<Resource> {
        self.exchange.ask(Need::Resources { copy: true }).await
    }

    /// Has the stack make a copy, on which operations with `copy` are done.
    async fn copy(&self, without: &[&str], restored: Option<(String, String)>) {
        let without = without.iter().map(|urn| (*urn).to_owned()).collect();
        let () = self.exchange.ask(Need::Copy { without, restored }).await;
    }
}

fn import_of(urn: &str, kind: &str, parent: Option<&str>, id: &str) -> Json {
    json!([{ "urn": urn, "type": kind, "parent": parent, "id": id }])
}

/// A plan as the texts about plans take it.
fn steps_of(entries: &[Entry]) -> Vec<Step> {
    entries.iter().map(Step::from).collect()
}
