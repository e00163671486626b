//! The testing kit's stacks, for the package's `testing` folder.

use std::path::Path;
use std::sync::Arc;

use maloko_cli::RunForTests;
use maloko_core::ProgramEngine;
use maloko_core::Result;
use maloko_core::error::Error;
use maloko_kit::RunRequest;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;
use serde_json::{Value, json};

use crate::engine::Bridge;
use crate::error::error_number;
use crate::runtime::{runtime, spawn};
use crate::thread::Thread;

/// What lies in the store of a stack.
#[napi(object, object_from_js = false)]
pub struct CheckpointAndJournal {
    /// The checkpoint.
    pub checkpoint: Buffer,
    /// The journal that an operation left which did not come to its end.
    pub journal: Option<Buffer>,
}

/// A private stack in memory or in a directory, with a clock of its own.
#[napi]
pub struct TestStack {
    inner: maloko_kit::TestStack,
}

fn reason(error: &Error) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}

#[napi]
impl TestStack {
    /// An empty stack. Throws for names that no stack can have.
    #[napi(constructor)]
    pub fn new(project: String, stack: String) -> napi::Result<Self> {
        let made = runtime()?.block_on(maloko_kit::TestStack::new(&project, &stack));
        Ok(Self { inner: made.map_err(|error| reason(&error))? })
    }

    /// A stack in a directory, which outlives the process: made when it is not there yet. Throws for a directory that
    /// cannot be used.
    #[napi(factory)]
    pub fn open(directory: String, project: String, stack: String) -> napi::Result<Self> {
        let opened = runtime()?.block_on(maloko_kit::TestStack::open(Path::new(&directory), &project, &stack));
        Ok(Self { inner: opened.map_err(|error| reason(&error))? })
    }

    /// Lets its clock advance by so many seconds. Throws for what is no span of time.
    #[napi]
    pub fn advance(&self, seconds: f64) -> napi::Result<()> {
        let time = std::time::Duration::try_from_secs_f64(seconds).map_err(|error| {
            napi::Error::from_reason(format!("the clock cannot advance by {seconds} seconds: {error}"))
        })?;
        self.inner.clock().advance(time);
        Ok(())
    }

    /// The seconds that have passed on its clock.
    #[napi(getter)]
    #[must_use]
    pub fn elapsed(&self) -> f64 {
        maloko_core::environment::Clock::elapsed(self.inner.clock()).as_secs_f64()
    }

    /// What is in its state as JSON, with secrets in plain text: `{ resources, unresolvedCreates }`, where an unresolved create
    /// is `{ urn, reason }`.
    #[napi]
    pub fn resources(&self) -> napi::Result<String> {
        let resources = runtime()?.block_on(self.inner.resources()).map_err(|error| reason(&error))?;
        Ok(resources.to_string())
    }

    /// What a resource was in the course of the test as JSON: `{ ids, actions, outputs }`.
    #[napi]
    #[must_use]
    pub fn history(&self, name: String) -> String {
        self.inner.history(&name).to_string()
    }

    /// The state as Pulumi's deployment (JSON), with secrets in plain text.
    #[napi]
    pub fn export(&self) -> napi::Result<String> {
        runtime()?.block_on(self.inner.export()).map_err(|error| reason(&error))
    }

    /// Replaces the state by an exported one; `place` names it in errors.
    #[napi]
    pub fn restore(&self, deployment: String, place: String) -> napi::Result<()> {
        runtime()?.block_on(self.inner.import(deployment.as_bytes(), &place)).map_err(|error| reason(&error))
    }

    /// Answers what a law or a lifecycle asks of the stack (JSON, `engine-kit/src/stack/requests.rs`) with JSON. Throws for what
    /// cannot be read, and for a state that cannot be read or written.
    #[napi]
    pub fn answer(&self, request: String) -> napi::Result<String> {
        let answer = runtime()?.block_on(self.inner.answer(&request)).map_err(|error| reason(&error))?;
        Ok(answer.to_string())
    }

    /// Begins a task (JSON, `engine-kit/src/task`). Throws for one that cannot be read.
    #[napi]
    pub fn task(&self, task: String) -> napi::Result<StackTask> {
        let inner = maloko_kit::StackTask::new(self.inner.clone(), &task).map_err(|error| reason(&error))?;
        Ok(StackTask { inner })
    }

    /// What lies in the store now.
    #[napi]
    #[must_use]
    pub fn stored(&self) -> CheckpointAndJournal {
        let (checkpoint, journal) = self.inner.stored();
        CheckpointAndJournal { checkpoint: checkpoint.into(), journal: journal.map(Buffer::from) }
    }
}

/// What a test has its stack do in several operations: it says what the kit is to run, and takes the answers.
#[napi]
pub struct StackTask {
    inner: maloko_kit::StackTask,
}

#[napi]
impl StackTask {
    /// What is to be done next (JSON, `maloko_kit::TaskRequest`), after the answer to what was to be done before; at first, that
    /// is `null`. Throws for an answer that is none, and for a state that cannot be read or written.
    #[napi]
    pub fn next(&mut self, answer: String) -> napi::Result<String> {
        let request = runtime()?.block_on(self.inner.next(read(&answer)?)).map_err(|error| reason(&error))?;
        serde_json::to_string(&request).map_err(|error| napi::Error::from_reason(error.to_string()))
    }
}

#[napi]
impl Bridge {
    /// Begins an operation on a stack of a test: `order` (JSON) says which, `program` (JSON) is handed back with the order to
    /// run the program. Its end comes as a message with this number, whose text is the report, or `{ fault }`.
    #[napi]
    pub fn run_test(&self, number: u32, stack: &TestStack, order: String, program: String) {
        let (thread, stack) = (self.thread(), stack.inner.clone());
        spawn(async move {
            let report = match serde_json::from_str::<RunRequest>(&order) {
                Ok(order) => operate(&thread, number, &stack, &order, program)
                    .await
                    .unwrap_or_else(|error| json!({ "fault": error.to_string() })),
                Err(error) => json!({ "fault": format!("the order cannot be read: {error}") }),
            };
            thread.finished(number, report.to_string());
        });
    }
}

async fn operate(
    thread: &Arc<Thread>,
    number: u32,
    stack: &maloko_kit::TestStack,
    order: &RunRequest,
    program: String,
) -> Result<Value> {
    let run = RunForTests::begin(stack, order, thread.host(number)).await?;
    let engine: Arc<dyn ProgramEngine> = Arc::clone(run.engine()) as _;
    let end = thread.run_program(&engine, program).await;
    let report = run.finish(end).await?;
    let source = error_number(report.source.as_ref());
    let mut json = serde_json::to_value(&*report).map_err(|error| Error::Configuration(error.to_string().into()))?;
    json["thrown"] = source.into();
    Ok(json)
}

/// The page (HTML) of what was recorded of a run: `page` of a report, and of the end of an invocation. Throws for what is no
/// record.
#[napi]
pub fn page_of_record(record: String) -> napi::Result<String> {
    let page = maloko_cli::page_of_record(&record);
    page.ok_or_else(|| napi::Error::from_reason("what was recorded of the run cannot be read"))
}

/// The result of a law (JSON, `maloko_kit::LawResult`) in words. Throws for what is none.
#[napi]
pub fn law_text(law: String, title: String, provider: String, result: String) -> napi::Result<String> {
    let result: maloko_kit::LawResult = read(&result)?;
    Ok(maloko_kit::law_result_text(&law, &title, &provider, &result))
}

/// Answers a question of the kit (JSON, `maloko_kit::answer`) with JSON. Throws for one that cannot be read.
#[napi]
pub fn kit_answer(question: String) -> napi::Result<String> {
    maloko_kit::answer(&question).map_err(|error| napi::Error::from_reason(error.to_string()))
}

/// One example of a law: it says what the kit is to do, and takes the answer.
#[napi]
pub struct LawTrial {
    inner: maloko_kit::LawTrial,
}

#[napi]
impl LawTrial {
    /// Begins an example of a law (`L5`). `subject` is what is known of the provider (JSON, `maloko_kit::Subject`). Throws
    /// for a law that it does not know.
    #[napi(constructor)]
    pub fn new(law: String, subject: String) -> napi::Result<Self> {
        let inner = maloko_kit::LawTrial::new(&law, read(&subject)?).map_err(|error| reason(&error))?;
        Ok(Self { inner })
    }

    /// What is to be done next (JSON, `maloko_kit::Request`), after the answer to what was to be done before; at first,
    /// that is `null`. Throws for an answer that is none.
    #[napi]
    pub fn next(&mut self, answer: String) -> napi::Result<String> {
        let request = self.inner.next(read(&answer)?).map_err(|error| reason(&error))?;
        serde_json::to_string(&request).map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// The inputs that the example has tried last, for a report (JSON, a list of `maloko_kit::ShownInputs`).
    #[napi]
    pub fn shown(&self) -> napi::Result<String> {
        serde_json::to_string(&self.inner.shown()).map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// A text, such as the message of an error, without what is secret.
    #[napi]
    #[must_use]
    pub fn hide(&self, text: String) -> String {
        self.inner.hide(&text)
    }
}

/// A lifecycle of a provider: it says what the kit is to do for a step, and takes the answers.
#[napi]
pub struct LifeTrial {
    inner: maloko_kit::LifeTrial,
}

#[napi]
impl LifeTrial {
    /// Begins with an empty program. `subject` is what is known of the provider (JSON, `maloko_kit::LifeSubject`). Throws for
    /// rules that cannot be left out.
    #[napi(constructor)]
    pub fn new(subject: String) -> napi::Result<Self> {
        let inner = maloko_kit::LifeTrial::new(read(&subject)?).map_err(|error| reason(&error))?;
        Ok(Self { inner })
    }

    /// The rules that can be followed just now, each with the names of the resources that it can be about (JSON).
    #[napi]
    pub fn possible(&self) -> napi::Result<String> {
        serde_json::to_string(&self.inner.possible()).map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// Why this cannot be the next step (JSON, as in a story), in words; `null` when it can. `story` says how steps are written
    /// (JSON, `maloko_kit::Story`).
    #[napi]
    pub fn refusal(&self, step: String, story: String) -> napi::Result<Option<String>> {
        Ok(self.inner.refusal(&read::<Vec<serde_json::Value>>(&step)?, &read(&story)?))
    }

    /// Inputs (JSON) without what is secret, as a step is to be written with them.
    #[napi]
    pub fn hide_inputs(&mut self, inputs: String) -> napi::Result<String> {
        Ok(self.inner.hide_inputs(&read(&inputs)?).to_string())
    }

    /// A text, such as the message of an error, without what is secret in the steps so far.
    #[napi]
    #[must_use]
    pub fn hide(&self, text: String) -> String {
        self.inner.hide(&text)
    }

    /// Begins a step. Throws for one that cannot be the next.
    #[napi]
    pub fn take(&mut self, step: String) -> napi::Result<()> {
        self.inner.take(&read::<Vec<serde_json::Value>>(&step)?).map_err(|error| reason(&error))
    }

    /// Begins the end. Throws while a step goes on.
    #[napi]
    pub fn end(&mut self) -> napi::Result<()> {
        self.inner.end().map_err(|error| reason(&error))
    }

    /// What is to be done next (JSON, `maloko_kit::LifeRequest`), after the answer to what was to be done before; at first, that
    /// is `null`. Throws for an answer that is none.
    #[napi]
    pub fn next(&mut self, answer: String) -> napi::Result<String> {
        let request = self.inner.next(read(&answer)?).map_err(|error| reason(&error))?;
        serde_json::to_string(&request).map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// The steps so far as a test.
    #[napi]
    pub fn story(&self, story: String) -> napi::Result<String> {
        Ok(self.inner.story(&read(&story)?))
    }

    /// What went wrong (JSON, `maloko_kit::Words`), with the steps as a test. `again`: what runs it again, or nothing.
    #[napi]
    pub fn broken_text(&self, words: String, story: String, again: String) -> napi::Result<String> {
        Ok(self.inner.broken_text(&read(&words)?, &read(&story)?, &again))
    }
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> napi::Result<T> {
    serde_json::from_str(json).map_err(|error| napi::Error::from_reason(error.to_string()))
}
