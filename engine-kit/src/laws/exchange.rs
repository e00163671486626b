//! What the procedure of a law asks of the host, and what the host answers.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Finding, Words};

/// What is known of a provider before it is tried.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Subject {
    /// The methods that it has.
    #[serde(default)]
    pub methods: BTreeSet<String>,
}

/// Properties that a method is called with. The host has them, so that they keep what JSON has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bag {
    /// No properties.
    Empty,
    /// The inputs of the example.
    Inputs,
    /// What the n-th call returned, from 0.
    Returned(usize),
}

/// An operation on the stack of the example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Plans an `up`.
    Preview,
    /// Makes the world as the program says.
    Up,
    /// Makes the state as the world is.
    Refresh,
    /// Deletes everything.
    Destroy,
}

/// What the host is to do. Errors that a law does not ask about end the example: the host reports them by itself.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Request {
    /// Call `check` of the provider, without an engine, with copies of these. The answer is [`Checked`].
    Check {
        /// The inputs of before.
        olds: Bag,
        /// The inputs to be checked.
        news: Bag,
    },
    /// Run the program, whose one resource has the inputs of the example. The answer is [`Ran`].
    Run {
        /// What is done.
        operation: Operation,
    },
    /// Keep a copy of the state. The answer is `null`; so for the next one.
    Save,
    /// Put the copy in the place of the state.
    Restore,
    /// Say which ids are in the world; `null` without a world.
    Look,
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
pub struct Checked {
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
    number: usize,
}

impl Checked {
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
pub struct Ran {
    /// The error that it failed with; `None` when it succeeded.
    pub error: Option<String>,
    /// What becomes, or became, of the resource; of an operation that failed it may be left out.
    #[serde(default)]
    pub step: PlannedStep,
    /// The id of the resource in the state; `None` when it is not there.
    pub id: Option<String>,
}

/// What a plan does to a resource.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct PlannedStep {
    /// `same`, `update`, `replace`, ...
    pub action: String,
    /// The properties that differ, in the order of their paths.
    pub changes: Vec<PlannedChange>,
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

/// How an example ends early.
pub(super) type Held = std::result::Result<(), End>;

/// The host, as the procedure of a law sees it.
pub(super) struct Host {
    subject: Subject,
    exchange: Arc<Mutex<Exchange>>,
}

/// What the procedure of a law asks for, and what the host answers.
#[derive(Default)]
pub(super) struct Exchange {
    pub(super) request: Option<Request>,
    pub(super) answer: Option<Json>,
    /// What is wrong with the last answer.
    pub(super) malformed: Option<String>,
    checks: usize,
}

impl Host {
    pub(super) fn new(subject: Subject, exchange: Arc<Mutex<Exchange>>) -> Self {
        Self { subject, exchange }
    }

    /// Ends the example of a provider without the method.
    pub(super) fn need(&self, method: &str, why: &str) -> Held {
        if self.subject.methods.contains(method) {
            return Ok(());
        }
        Err(End::Needs { what: format!("`{method}`, which the provider does not have: {why}") })
    }

    /// Calls `check`. Inputs that it refuses say nothing of a law.
    pub(super) async fn check(&self, olds: Bag, news: Bag) -> std::result::Result<Checked, End> {
        let mut checked: Checked = self.ask(Request::Check { olds, news }).await;
        {
            let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
            checked.number = exchange.checks;
            exchange.checks += 1;
        }
        if checked.failures.is_empty() {
            return Ok(checked);
        }
        let told: Vec<String> = checked.failures.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
        Err(End::Refused { error: told.join("; ") })
    }

    /// The first `up`. A provider that fails in it refuses the inputs.
    pub(super) async fn make(&self) -> std::result::Result<Ran, End> {
        let ran = self.run(Operation::Up).await;
        match ran.error {
            None => Ok(ran),
            Some(error) => Err(End::Refused { error }),
        }
    }

    /// What no provider may fail in.
    pub(super) async fn must_run(&self, operation: Operation) -> std::result::Result<Ran, End> {
        let ran = self.run(operation).await;
        if ran.error.is_some() { Err(End::Raised) } else { Ok(ran) }
    }

    pub(super) async fn run(&self, operation: Operation) -> Ran {
        self.ask(Request::Run { operation }).await
    }

    pub(super) async fn save(&self) {
        self.ask::<()>(Request::Save).await;
    }

    pub(super) async fn restore(&self) {
        self.ask::<()>(Request::Restore).await;
    }

    /// The ids in the world, sorted; `None` without a world.
    pub(super) async fn ids(&self) -> Option<Vec<String>> {
        let mut ids: Option<Vec<String>> = self.ask(Request::Look).await;
        if let Some(ids) = &mut ids {
            ids.sort();
        }
        ids
    }

    // An answer that cannot be read is the host's mistake: the procedure never goes on, and `LawTrial::next` says so.
    async fn ask<T: DeserializeOwned>(&self, request: Request) -> T {
        let mut request = Some(request);
        poll_fn(|_| {
            let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(request) = request.take() {
                exchange.request = Some(request);
                return Poll::Pending;
            }
            let Some(answer) = exchange.answer.take() else { return Poll::Pending };
            match serde_json::from_value(answer) {
                Ok(answer) => Poll::Ready(answer),
                Err(error) => {
                    exchange.malformed = Some(error.to_string());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// Breaks the law.
pub(super) fn broken(finding: &Finding) -> End {
    End::Broken { words: finding.words(), caused: false }
}

/// Breaks the law by the error of the last operation.
pub(super) fn broken_by_error(finding: &Finding) -> End {
    End::Broken { words: finding.words(), caused: true }
}
