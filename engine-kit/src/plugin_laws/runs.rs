//! The stacks of an example, and the operations on them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use maloko_core::error::{Error, Result};
use maloko_core::policy::PoliciesOfRun;
use maloko_core::{Engine, ProgramEnd, PropertyMap, Value};
use serde_json::{Map, Value as Json, json};

use super::kept::KeptPlugin;
use super::no_providers::NoProviders;
use super::program;
use super::under_test::{PROJECT, STACK, TestedPlugin};
use crate::json::read_map;
use crate::laws::{NAME, Operation, Program, ProgramResource};
use crate::plan::Entry;
use crate::report::Report;
use crate::run_request::{RunRequest, Time, Verb};
use crate::stack::{FormerState, TestStack, step_of};

/// Calls at a time where a law wants them at once.
const AT_ONCE: usize = 16;

/// The inputs of an example, and what the author says of them.
#[derive(Default)]
pub(super) struct Inputs {
    examples: Vec<Map<String, Json>>,
    secret: Vec<String>,
    baseline: Vec<Json>,
}

impl Inputs {
    pub(super) fn of(subject: &Json) -> Self {
        let list = |name: &str| subject[name].as_array().cloned().unwrap_or_default();
        let examples = list("inputs").into_iter().map(|it| it.as_object().cloned().unwrap_or_default()).collect();
        let secret = list("secret").iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
        Self { examples, secret, baseline: list("baseline") }
    }

    /// The inputs with this number, as properties.
    pub(super) fn of_number(&self, number: usize) -> PropertyMap {
        self.examples.get(number).map(read_map).unwrap_or_default()
    }

    fn wanted(&self, wanted: &ProgramResource, secret: bool) -> PropertyMap {
        let mut inputs = self.of_number(wanted.inputs);
        let second = self.of_number(1);
        for key in &wanted.taking {
            inputs.remove(key);
            if let Some(value) = second.get(key) {
                inputs.insert(key.clone(), value.clone());
            }
        }
        for (path, text) in &wanted.planted {
            if let Some(value) = at_mut(&mut inputs, path).filter(|value| matches!(value, Value::String(_))) {
                *value = Value::String(text.clone());
            }
        }
        for path in self.secret.iter().filter(|_| secret) {
            if let Some(value) = at_mut(&mut inputs, path) {
                *value = Value::secret(std::mem::replace(value, Value::Null));
            }
        }
        inputs
    }
}

fn at_mut<'a>(inputs: &'a mut PropertyMap, path: &str) -> Option<&'a mut Value> {
    let mut keys = path.split('.');
    let mut here = inputs.get_mut(keys.next()?)?;
    for key in keys {
        let Value::Object(members) = here else { return None };
        here = members.get_mut(key)?;
    }
    Some(here)
}

/// A stack with its program.
struct StackWithProgram {
    stack: TestStack,
    program: program::Program,
    /// How often it was deployed: random names are drawn anew each time.
    deployed: u64,
}

/// See the module's text.
pub(super) struct Runs {
    pub(super) shared: Arc<TestedPlugin>,
    pub(super) given: Inputs,
    grace: Duration,
    stacks: BTreeMap<usize, StackWithProgram>,
    now: usize,
    /// What an import had to change: the next plan of the law is to show it.
    changed_by_import: Option<Json>,
    messages: Vec<String>,
}

impl Runs {
    pub(super) fn new(shared: Arc<TestedPlugin>, given: Inputs, grace: f64) -> Self {
        let grace = Duration::try_from_secs_f64(grace).unwrap_or_default();
        Self { shared, given, grace, stacks: BTreeMap::new(), now: 0, changed_by_import: None, messages: Vec::new() }
    }

    fn placed(&mut self) -> Result<&mut StackWithProgram> {
        let placed = self.stacks.get_mut(&self.now);
        placed.ok_or_else(|| Error::Configuration("a law has run a program before it had one".into()))
    }

    /// Destroys all stacks, and gives what could not be deleted.
    pub(super) async fn renew(&mut self) -> Result<Vec<String>> {
        let mut left = Vec::new();
        for (_, placed) in std::mem::take(&mut self.stacks) {
            let order = RunRequest {
                verb: Verb::Destroy,
                ignore_protect: true,
                continue_on_error: true,
                ..self.order(&placed, true)
            };
            let report = self.once(&placed.stack, &order, &program::Program::default()).await?;
            if report.outcome == "succeeded" {
                continue;
            }
            for (name, resource) in placed.stack.made().await? {
                left.push(format!("{name} ({})", resource["id"].as_str().unwrap_or_default()));
            }
        }
        Ok(left)
    }

    pub(super) async fn program(&mut self, wanted: Program) -> Result<()> {
        self.now = wanted.stack;
        let resources = wanted.resources.iter();
        let resources = resources.map(|it| (it.name.clone(), self.given.wanted(it, wanted.secret))).collect();
        let setup = &self.shared.setup;
        let program = program::Program {
            kind: setup.kind.clone(),
            version: setup.version.clone(),
            resources,
            import: String::new(),
            together: wanted.together,
        };
        if let Some(placed) = self.stacks.get_mut(&self.now) {
            placed.program = program;
            return Ok(());
        }
        let stack = TestStack::new(PROJECT, STACK).await?;
        self.stacks.insert(self.now, StackWithProgram { stack, program, deployed: 0 });
        Ok(())
    }

    fn order(&self, placed: &StackWithProgram, together: bool) -> RunRequest {
        RunRequest {
            time: Time::Real,
            config: self.shared.setup.full_config(),
            parallel: if together { AT_ONCE } else { 1 },
            seed: Some(placed.deployed),
            ..RunRequest::default()
        }
    }

    fn order_of(&mut self, operation: Operation) -> Result<RunRequest> {
        let (verb, preview, refresh) = match operation {
            Operation::Preview => (Verb::Up, true, false),
            Operation::RefreshedPreview => (Verb::Up, true, true),
            Operation::Up | Operation::Import => (Verb::Up, false, false),
            Operation::Refresh => (Verb::Refresh, false, false),
            Operation::Destroy => (Verb::Destroy, false, false),
        };
        let placed = self.placed()?;
        let together = placed.program.together;
        let number = self.now;
        let order = self.stacks.get(&number).map(|placed| self.order(placed, together)).unwrap_or_default();
        if verb == Verb::Up && !preview {
            self.placed()?.deployed += 1;
        }
        Ok(RunRequest { verb, preview, refresh, ..order })
    }

    /// Does an operation, and says how it ended, as laws take it.
    pub(super) async fn run(&mut self, operation: Operation) -> Result<Json> {
        let order = self.order_of(operation)?;
        if let Some(step) = self.changed_by_import.take().filter(|_| operation == Operation::Preview) {
            let resources = self.placed()?.stack.made().await?;
            return Ok(json!({ "error": null, "step": step, "resources": resources }));
        }
        if operation == Operation::Import {
            self.forget_to_import().await?;
        }
        let placed = self.placed()?;
        let (stack, program) = (placed.stack.clone(), placed.program.clone());
        placed.program.import.clear();
        let transcript = Arc::clone(&self.shared.kept.transcript);
        let errors = transcript.errors();
        let report = self.once(&stack, &order, &program).await?;
        self.messages.extend(report.diagnostics.iter().map(|it| it.text.clone()));
        if operation == Operation::Import {
            let entry = report.plan.iter().find(|entry| entry.name == NAME);
            let changes = |entry: &&Entry| entry.ops.iter().any(|op| !matches!(*op, "import" | "same"));
            self.changed_by_import = entry.filter(changes).map(step_of);
            if let Some(step) = &mut self.changed_by_import {
                step["action"] = "update".into();
            }
        }
        let error = (report.outcome != "succeeded").then(|| {
            let told = transcript.error_after(errors).or_else(|| report.error.clone());
            told.unwrap_or_else(|| format!("the run was {}", report.outcome))
        });
        let mut answer = stack.law_outcome(Some(&report)).await?;
        answer["error"] = json!(error);
        answer["readNothing"] = transcript.read_nothing().into();
        Ok(answer)
    }

    /// Has the state forget the resource, and the program import its object.
    async fn forget_to_import(&mut self) -> Result<()> {
        let placed = self.placed()?;
        placed.program.import = placed.stack.forget(NAME).await?.id;
        Ok(())
    }

    /// Does an operation that is cancelled when it enters a method. Does it end in time?
    pub(super) async fn cancel(&mut self, operation: Operation, method: &str) -> Result<bool> {
        let order = self.order_of(operation)?;
        let placed = self.placed()?;
        let (stack, program) = (placed.stack.clone(), placed.program.clone());
        let host = Arc::new(NoProviders(tokio::runtime::Handle::current()));
        let run =
            stack.begin(&order, host, Some(Arc::clone(&self.shared.kept) as _), PoliciesOfRun::default(), None).await?;
        let engine: Arc<Engine> = Arc::clone(run.engine());
        let weak = Arc::downgrade(&engine);
        let (cancelled, was_cancelled) = tokio::sync::oneshot::channel::<()>();
        let cancel = move || {
            if let Some(engine) = weak.upgrade() {
                engine.cancel();
            }
            drop(cancelled);
        };
        self.shared.kept.transcript.when_entered(method, Box::new(cancel));
        let mut running = tokio::spawn(async move {
            program.run(&engine).await;
            run.finish(ProgramEnd { error: None, source: None }).await
        });
        // Only from the cancellation on: a plugin that has to be started first takes its time.
        let in_time = async {
            tokio::select! {
                _ = &mut running => true,
                _ = was_cancelled => tokio::time::timeout(self.grace, &mut running).await.is_ok(),
            }
        };
        let ended = in_time.await;
        if !ended {
            // Nothing else ends its call.
            self.shared.kept.end().await;
            drop(running.await);
        }
        Ok(ended)
    }

    async fn once(&self, stack: &TestStack, order: &RunRequest, program: &program::Program) -> Result<Arc<Report>> {
        deploy(stack, order, program, &self.shared.kept).await
    }

    pub(super) async fn save(&mut self) -> Result<()> {
        self.placed()?.stack.save().await
    }

    pub(super) async fn restore(&mut self) -> Result<()> {
        self.placed()?.stack.restore_saved().await
    }

    pub(super) async fn reload(&mut self) -> Result<()> {
        self.placed()?.stack.reload().await
    }

    /// Puts a resource of the former release in the place of the resource, in the state and the program.
    pub(super) async fn put_former(&mut self, number: usize) -> Result<()> {
        let former = self.given.baseline.get(number).cloned().unwrap_or_default();
        let inputs = former["inputs"].as_object().map(read_map).unwrap_or_default();
        let unreadable = |error: serde_json::Error| Error::Configuration(error.to_string().into());
        let former: FormerState = serde_json::from_value(former).map_err(unreadable)?;
        let placed = self.placed()?;
        placed.program.resources = vec![(NAME.to_owned(), inputs)];
        placed.stack.put_former(former).await
    }

    /// What people could read of the example.
    pub(super) fn shown(&self) -> Json {
        self.shared.kept.transcript.shown(&self.messages)
    }
}

/// Does an operation with a process of the plugin's.
pub(crate) async fn deploy(
    stack: &TestStack,
    order: &RunRequest,
    program: &program::Program,
    kept: &Arc<KeptPlugin>,
) -> Result<Arc<Report>> {
    let host = Arc::new(NoProviders(tokio::runtime::Handle::current()));
    let run = stack.begin(order, host, Some(Arc::clone(kept) as _), PoliciesOfRun::default(), None).await?;
    if order.verb != Verb::Destroy {
        program.run(run.engine()).await;
    }
    run.finish(ProgramEnd { error: None, source: None }).await
}
