//! The host, as the procedure of a law sees it: each method is a request, and its answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::exchange::{
    Bag, CancelOutcome, CheckOutcome, DeployedResource, End, ExampleResult, Operation, PlannedStep, Program,
    ProgramResource, Request, ReturnedOutputs, RunOutcome, Touch, VisibleOutput,
};
use super::subject::Subject;
use crate::exchange::Exchange;

/// The name of an example's only resource.
pub(crate) const NAME: &str = "it";

/// The host.
pub(super) struct Host {
    pub(super) subject: Subject,
    exchange: Exchange<Request>,
    checks: AtomicUsize,
}

/// What the only resource of a program is made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inputs {
    number: usize,
    taking: Vec<String>,
}

impl Inputs {
    /// The inputs of the example with this number.
    pub(super) fn of(number: usize) -> Self {
        Self { number, taking: Vec::new() }
    }

    /// The first inputs, with one property of the second ones.
    pub(super) fn first_with(property: String) -> Self {
        Self { number: 0, taking: vec![property] }
    }

    /// The properties in which they differ from the first ones, sorted.
    pub(super) fn changed(&self, subject: &Subject) -> Vec<String> {
        if self.taking.is_empty() { subject.changed() } else { self.taking.clone() }
    }

    fn wanted(&self) -> ProgramResource {
        let (inputs, taking) = (self.number, self.taking.clone());
        ProgramResource { name: NAME.to_owned(), inputs, taking, planted: BTreeMap::new() }
    }
}

impl Host {
    pub(super) fn new(subject: Subject, exchange: Exchange<Request>) -> Self {
        Self { subject, exchange, checks: AtomicUsize::new(0) }
    }

    pub(super) fn has(&self, method: &str) -> bool {
        self.subject.has(method)
    }

    /// Calls `check`. Inputs that it refuses say nothing of a law.
    pub(super) async fn check(&self, olds: Bag, news: Bag) -> ExampleResult<CheckOutcome> {
        let mut checked: CheckOutcome = self.ask(Request::Check { olds, news }).await;
        checked.number = self.checks.fetch_add(1, Ordering::Relaxed);
        if checked.failures.is_empty() {
            return Ok(checked);
        }
        let told: Vec<String> = checked.failures.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
        Err(End::Refused { error: told.join("; ") })
    }

    /// Makes the first object of an example. A provider that fails in it refuses the inputs.
    pub(super) async fn make(&self, inputs: &Inputs) -> ExampleResult<DeployedResource> {
        self.want(inputs).await;
        self.make_wanted().await
    }

    /// Makes what the program wants, as [`Host::make`] does.
    pub(super) async fn make_wanted(&self) -> ExampleResult<DeployedResource> {
        let mut ran = self.run(Operation::Up).await;
        match ran.error {
            None => Ok(ran.resources.remove(NAME).unwrap_or_default()),
            Some(error) => Err(End::Refused { error }),
        }
    }

    /// Edits the program of the first stack.
    pub(super) async fn want(&self, inputs: &Inputs) {
        self.program(Program { resources: vec![inputs.wanted()], ..Program::default() }).await;
    }

    pub(super) async fn program(&self, program: Program) {
        self.ask::<()>(Request::Program(program)).await;
    }

    /// Edits the program, and plans it. A provider that fails in that refuses the inputs.
    pub(super) async fn edit(&self, inputs: &Inputs) -> ExampleResult<PlannedStep> {
        self.want(inputs).await;
        self.plan_wanted().await
    }

    /// Plans what the program wants, as [`Host::edit`] does.
    pub(super) async fn plan_wanted(&self) -> ExampleResult<PlannedStep> {
        let ran = self.run(Operation::Preview).await;
        match ran.error {
            None => Ok(ran.step),
            Some(error) => Err(End::Refused { error }),
        }
    }

    /// What no provider may fail in.
    pub(super) async fn must_run(&self, operation: Operation) -> ExampleResult<RunOutcome> {
        let ran = self.run(operation).await;
        if ran.error.is_some() { Err(End::Raised) } else { Ok(ran) }
    }

    pub(super) async fn run(&self, operation: Operation) -> RunOutcome {
        self.ask(Request::Run { operation, loses: false }).await
    }

    /// Deploys; the answer of `create` is lost after the provider gave it.
    pub(super) async fn lose_the_answer_of_create(&self) -> RunOutcome {
        self.ask(Request::Run { operation: Operation::Up, loses: true }).await
    }

    /// Cancels an operation when it enters a method. Does it end in the time that the author allows?
    pub(super) async fn ends_when_cancelled(&self, operation: Operation, method: &str) -> bool {
        let cancelled: CancelOutcome = self.ask(Request::Cancel { operation, method: method.to_owned() }).await;
        cancelled.ended
    }

    pub(super) async fn renew(&self) {
        self.ask::<()>(Request::Renew).await;
    }

    pub(super) async fn save(&self) {
        self.ask::<()>(Request::Save).await;
    }

    pub(super) async fn restore(&self) {
        self.ask::<()>(Request::Restore).await;
    }

    pub(super) async fn reload(&self) {
        self.ask::<()>(Request::Reload).await;
    }

    /// Puts a resource of the former release in the place of the resource, in the state and the program.
    pub(super) async fn put_former(&self, number: usize) {
        self.ask::<()>(Request::PutFormer { number }).await;
    }

    /// The ids in the world, sorted; `None` without a world.
    pub(super) async fn ids(&self) -> Option<Vec<String>> {
        let mut ids: Option<Vec<String>> = self.ask(Request::Look).await;
        if let Some(ids) = &mut ids {
            ids.sort();
        }
        ids
    }

    /// What is in the world; `null` without one.
    pub(super) async fn picture(&self) -> Json {
        self.ask(Request::Picture).await
    }

    pub(super) async fn mutate_remote(&self, id: &str) {
        self.ask::<()>(Request::MutateRemote { id: id.to_owned() }).await;
    }

    pub(super) async fn delete_remote(&self, id: &str) {
        self.ask::<()>(Request::DeleteRemote { id: id.to_owned() }).await;
    }

    pub(super) async fn returned(&self, method: &str) -> Option<ReturnedOutputs> {
        self.ask(Request::ReturnedLast { method: method.to_owned() }).await
    }

    pub(super) async fn guard(&self) {
        self.ask::<()>(Request::Guard).await;
    }

    pub(super) async fn touches(&self) -> Vec<Touch> {
        self.ask(Request::Touches).await
    }

    pub(super) async fn shown(&self) -> VisibleOutput {
        self.ask(Request::Shown).await
    }

    async fn ask<T: DeserializeOwned>(&self, request: Request) -> T {
        self.exchange.ask(request).await
    }
}
