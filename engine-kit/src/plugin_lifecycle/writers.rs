//! All who deploy the program of a lifecycle, each with a process of the plugin's, and what their operations come to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use maloko_core::PropertyMap;
use maloko_core::error::Result;
use serde_json::{Value as Json, json};

use crate::fault_points::Crash;
use crate::lifecycle::{LifeOrder, LifeRun};
use crate::plugin_laws::{KeptPlugin, LOST, PROJECT, Program, STACK, TestedPlugin, WRITING, deploy};
use crate::report::Report;
use crate::run_request::{Fault, Injection, RunRequest, Verb};
use crate::stack::TestStack;

/// See the module's text.
pub(super) struct Writers {
    shared: Arc<TestedPlugin>,
    /// Made with the first operation.
    stack: Option<TestStack>,
    /// By number; the first one has the process that goes on from lifecycle to lifecycle.
    plugins: BTreeMap<usize, Arc<KeptPlugin>>,
    program: Program,
    /// How many operations there were: random names are drawn anew each time.
    operations: u64,
    /// How many objects were made without an engine.
    pub(super) made_by_hand: u64,
}

/// What somebody else's `up` came to, once there was an occasion for it: its error, or `None` when it succeeded.
type ConcurrentUpOutcome = Arc<Mutex<Option<Option<String>>>>;

impl Writers {
    pub(super) fn new(shared: Arc<TestedPlugin>) -> Self {
        let program = Program {
            kind: shared.setup.kind.clone(),
            version: shared.setup.version.clone(),
            together: true,
            ..Program::default()
        };
        let plugins = BTreeMap::from([(0, Arc::clone(&shared.kept))]);
        Self { shared, stack: None, plugins, program, operations: 0, made_by_hand: 0 }
    }

    pub(super) fn program(&mut self, resources: Vec<(String, PropertyMap)>) {
        self.program.resources = resources;
    }

    /// One more writer, with a process of its own once that is needed.
    pub(super) fn begin(&mut self, writer: usize) {
        self.plugins.insert(writer, Arc::new(self.shared.another()));
    }

    fn plugin(&self, writer: usize) -> &Arc<KeptPlugin> {
        self.plugins.get(&writer).unwrap_or(&self.shared.kept)
    }

    /// The plugin of the last who came.
    pub(super) fn last(&self) -> &KeptPlugin {
        self.plugins.last_key_value().map_or(&*self.shared.kept, |(_, plugin)| plugin)
    }

    async fn stack(&mut self) -> Result<TestStack> {
        match &self.stack {
            Some(stack) => Ok(stack.clone()),
            None => Ok(self.stack.insert(TestStack::new(PROJECT, STACK).await?).clone()),
        }
    }

    fn order(&mut self) -> RunRequest {
        self.operations += 1;
        RunRequest { config: self.shared.setup.full_config(), seed: Some(self.operations), ..RunRequest::default() }
    }

    /// Makes a resource on a new stack, and deletes it again: the outcome, or `null` when the plugin refuses that.
    pub(super) async fn make_afresh(&mut self, name: String, inputs: PropertyMap) -> Result<Json> {
        let stack = TestStack::new(PROJECT, STACK).await?;
        let (kept, order) = (Arc::clone(&self.shared.kept), self.order());
        let program = Program { resources: vec![(name, inputs)], ..self.program.clone() };
        let report = deploy(&stack, &order, &program, &kept).await?;
        let made = stack.made().await?.into_iter().next().filter(|_| report.outcome == "succeeded");
        let order = RunRequest { verb: Verb::Destroy, ..order };
        deploy(&stack, &order, &program, &kept).await?;
        Ok(made.map_or(Json::Null, |(_, it)| json!({ "id": it["id"], "outputs": it["outputs"] })))
    }

    /// Does an operation, and says what it came to ([`crate::LifeRunOutcome`]).
    pub(super) async fn run(&mut self, run: LifeRun) -> Result<Json> {
        let kept = Arc::clone(self.plugin(run.writer));
        let (stack, program) = (self.stack().await?, self.program.clone());
        let errors = kept.transcript.errors();
        let mut order = RunRequest { faults: if run.loses { lost_answers() } else { Vec::new() }, ..self.order() };
        let LifeOrder { verb, preview, refresh, crash, imports } = run.order;
        (order.verb, order.preview, order.refresh, order.imports) = (verb, preview, refresh, imports);
        let crashes = crash.is_some();
        order.crash = crash.map(|it| Crash { point: 0, label: Some(it.label), kind: it.kind });
        let tried = run.meanwhile.map(|other| self.meanwhile(&kept, other, &stack));
        let report = deploy(&stack, &order, &program, &kept).await;
        kept.before_writing(None);
        let report = match report {
            Ok(report) => Some(report),
            // So early that the state could not even be opened.
            Err(_) if crashes => None,
            Err(error) => return Err(error),
        };
        let tried = tried.and_then(|tried| tried.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut answer = stack.life_outcome(report.as_deref()).await?;
        answer["error"] = json!(report.and_then(|report| error_of(&report, &kept, errors)));
        answer["meanwhile"] = tried.map_or(Json::Null, |error| json!({ "error": error }));
        Ok(answer)
    }

    /// Has the state forget a resource; what an import of its object is told.
    pub(super) async fn forget(&mut self, name: &str) -> Result<Json> {
        Ok(json!(self.stack().await?.forget(name).await?))
    }

    /// Has somebody else try an `up` when the first call that changes something is to be made.
    fn meanwhile(&mut self, kept: &KeptPlugin, other: usize, stack: &TestStack) -> ConcurrentUpOutcome {
        let tried = ConcurrentUpOutcome::default();
        let (note, other, stack) = (Arc::clone(&tried), Arc::clone(self.plugin(other)), stack.clone());
        let (order, program) = (self.order(), self.program.clone());
        kept.before_writing(Some(Box::pin(async move {
            let error = match deploy(&stack, &order, &program, &other).await {
                Ok(report) => (report.outcome != "succeeded").then(|| report.error.clone().unwrap_or_default()),
                Err(error) => Some(error.to_string()),
            };
            *note.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        })));
        tried
    }

    /// Deletes what is left, and ends the processes that are nobody's after it.
    pub(super) async fn close(&mut self) {
        if let Some(stack) = self.stack.take() {
            let order =
                RunRequest { verb: Verb::Destroy, ignore_protect: true, continue_on_error: true, ..self.order() };
            // A plugin that is wrong may well fail in it.
            drop(deploy(&stack, &order, &self.program, &self.shared.kept).await);
        }
        for (_, plugin) in std::mem::take(&mut self.plugins).into_iter().filter(|(writer, _)| *writer > 0) {
            plugin.end().await;
        }
    }
}

/// Each call that changes something is made, and its answer is lost.
fn lost_answers() -> Vec<Fault> {
    let fault = |(id, method): (u64, &str)| Fault {
        id,
        resource: None,
        kind: None,
        provider: None,
        method: Some(method.to_owned()),
        nth: None,
        injection: Injection::CallAfter { object: LOST },
    };
    (0..).zip(WRITING).map(fault).collect()
}

/// Why an operation failed: what the plugin said, or else the engine.
fn error_of(report: &Report, kept: &KeptPlugin, errors: usize) -> Option<String> {
    (report.outcome != "succeeded").then(|| {
        let told = kept.transcript.error_after(errors).or_else(|| report.error.clone());
        told.unwrap_or_else(|| format!("the operation {}", report.outcome))
    })
}
