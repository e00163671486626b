//! What each step does: it asks the host, and changes what is known of the stack.

use std::sync::Arc;

use super::exchange::{
    DirectCallOutcome, LifeCrash, LifeOperation, LifeRequest, LifeResource, LifeRun, LifeRunOutcome, StepResult,
};
use super::finding;
use super::model::Model;
use super::step::{Inputs, Moment, Step};
use crate::exchange::Exchange;
use crate::fault_points::{self, Interruption};
use crate::laws::DeployedResource;
use crate::run_request::Import;

/// A lifecycle that goes on.
pub(super) struct Course {
    pub(super) model: Model,
    host: Exchange<LifeRequest>,
}

impl Course {
    pub(super) fn new(model: Model, host: Exchange<LifeRequest>) -> Self {
        Self { model, host }
    }

    /// Does a step, and looks at what must hold after it.
    pub(super) async fn take(&mut self, step: Step) -> StepResult {
        self.look_around().await;
        match step {
            Step::Edit(name, inputs) => self.edit(name, inputs).await,
            Step::Remove(name) => {
                self.model.program.remove(&name);
                self.tell_program().await;
                Ok(())
            }
            Step::Up => {
                let ran = self.run(LifeOperation::Up).await;
                self.deployed("up", ran).await
            }
            Step::Preview => self.preview().await,
            Step::Refresh => {
                self.must_run("refresh", LifeOperation::Refresh).await?;
                self.model.refreshed();
                self.holds("refresh").await
            }
            Step::Destroy => self.destroy("destroy").await,
            Step::Import(name, Some(inputs)) => self.import(name, inputs).await,
            Step::Import(name, None) => {
                self.take_over(name, None).await?;
                self.holds("import").await
            }
            Step::Drift(name) => {
                if let Some(id) = self.id_of(&name) {
                    self.host.ask::<()>(LifeRequest::MutateRemote { id }).await;
                }
                self.model.changed.insert(name);
                self.model.settled = false;
                Ok(())
            }
            Step::Vanish(name) => {
                if let Some(id) = self.id_of(&name) {
                    self.host.ask::<()>(LifeRequest::DeleteRemote { id }).await;
                }
                self.model.lost.insert(name);
                self.model.settled = false;
                Ok(())
            }
            Step::Crash(nth, kind) => self.crash(nth, kind).await,
            Step::LoseAnswer => {
                let ran = self.run_as(LifeRun { loses: true, ..self.an_up() }).await;
                if ran.lost {
                    return self.cut_off().await;
                }
                self.deployed("lose_answer", ran).await
            }
            Step::Restart => {
                self.model.writer = self.begin().await;
                self.model.settled = false;
                Ok(())
            }
            Step::SecondWriter(Moment::Before) => self.second_writer_before().await,
            Step::SecondWriter(Moment::During) => self.second_writer_during().await,
        }
    }

    /// Removes everything; nothing may be left. What the last updates made, and what there was, is compared with what a create
    /// of the same inputs makes.
    pub(super) async fn end(&mut self) -> StepResult {
        self.look_around().await;
        if self.model.uncertain {
            let ran = self.run_as(self.an_up()).await;
            self.deployed("the up after what was cut off", ran).await?;
        }
        let mut ends: Vec<(String, Arc<Inputs>, DeployedResource)> = Vec::new();
        for (name, (inputs, made)) in &self.model.updated {
            ends.push((name.clone(), Arc::clone(inputs), made.clone()));
        }
        for (name, inputs) in self.model.state.iter().filter(|_| self.model.settled) {
            let Some(resource) = self.model.resource(name) else { continue };
            let made = resource.made();
            if !ends.iter().any(|(_, other, it)| other.number == inputs.number && *it == made) {
                ends.push((name.clone(), Arc::clone(inputs), made));
            }
        }
        if self.model.resources.is_empty() && self.model.unresolved == 0 {
            self.holds("the end").await?;
        } else {
            self.destroy("the destroy at the end").await?;
        }
        let resets = self.model.subject.resets;
        for (name, inputs, made) in ends.iter().filter(|_| resets) {
            let afresh: Option<DeployedResource> =
                self.host.ask(LifeRequest::MakeAfresh { name: name.clone(), inputs: inputs.number }).await;
            let Some(afresh) = afresh else { continue };
            finding::as_created(name, &afresh, made, &mut self.model)?;
        }
        Ok(())
    }

    async fn look_around(&mut self) {
        if self.model.foreign.is_none() {
            let ids = self.ids().await;
            self.model.foreign = Some(ids.unwrap_or_default().into_iter().collect());
        }
    }

    async fn edit(&mut self, name: String, inputs: Arc<Inputs>) -> StepResult {
        let asked: DirectCallOutcome = self.host.ask(LifeRequest::Check { inputs: inputs.number }).await;
        finding::call("edit", &asked)?;
        if !asked.refused {
            self.model.program.insert(name, inputs);
            self.tell_program().await;
        }
        Ok(())
    }

    async fn preview(&mut self) -> StepResult {
        let resources = self.model.resources.clone();
        let picture: serde_json::Value = self.host.ask(LifeRequest::Picture).await;
        let ran = self.run(self.planning()).await;
        if ran.error.is_some() && !ran.refused {
            return Err(finding::failed("preview", &ran));
        }
        if ran.error.is_none() {
            finding::preview(&mut self.model, &ran)?;
        }
        let then: serde_json::Value = self.host.ask(LifeRequest::Picture).await;
        finding::unchanged(&resources, &self.model.resources, &picture, &then)
    }

    async fn destroy(&mut self, what: &str) -> StepResult {
        self.must_run(what, LifeOperation::Destroy).await?;
        self.model.destroyed();
        self.holds(what).await
    }

    async fn import(&mut self, name: String, inputs: Arc<Inputs>) -> StepResult {
        let asked: DirectCallOutcome = self.host.ask(LifeRequest::Make { inputs: inputs.number }).await;
        finding::call("import", &asked)?;
        if asked.refused {
            return Ok(());
        }
        self.model.program.insert(name.clone(), Arc::clone(&inputs));
        self.tell_program().await;
        self.take_over(name.clone(), Some(asked.id.unwrap_or_default())).await?;
        self.model.state.insert(name, inputs);
        self.holds("import").await
    }

    /// Takes an object over by its id. Without one, the stack forgets the resource first, and takes its own object over.
    async fn take_over(&mut self, name: String, id: Option<String>) -> StepResult {
        self.model.settled = false;
        let import = match id {
            None => self.host.ask(LifeRequest::Forget { name }).await,
            Some(id) => {
                let run = self.operation(LifeOperation::Preview);
                let planned: LifeRunOutcome = self.host.ask(LifeRequest::Run(run)).await;
                if planned.error.is_some() {
                    self.model.saw(&planned);
                    return Err(finding::failed("import", &planned));
                }
                let Some(it) = planned.plan.into_iter().find(|it| it.name == name) else { return Ok(()) };
                Import { urn: it.urn, kind: it.kind, parent: it.parent, id }
            }
        };
        let mut run = self.operation(LifeOperation::Import);
        run.order.imports.push(import);
        let ran = self.run_as(run).await;
        if ran.error.is_some() { Err(finding::failed("import", &ran)) } else { Ok(()) }
    }

    async fn crash(&mut self, nth: usize, kind: Interruption) -> StepResult {
        let planned = self.run(self.planning()).await;
        if planned.error.is_some() {
            return if planned.refused { Ok(()) } else { Err(finding::failed("the preview of a crash", &planned)) };
        }
        let steps: Vec<(String, String)> = planned.plan.into_iter().map(|it| (it.action, it.name)).collect();
        let points = fault_points::planned(&steps, kind);
        let point = points.get((nth - 1) % points.len().max(1));
        let label = point.map(|it| self.model.next_label(&it.label, it.ahead));
        let crash = label.map(|label| LifeCrash { label, kind });
        let mut run = self.an_up();
        run.order.crash = crash;
        let ran = self.run_as(run).await;
        if ran.crashed {
            return self.cut_off().await;
        }
        self.deployed("crash", ran).await
    }

    /// An `up` was cut off. A provider object finds what it has made by the operation key. Plugins have none: as the engine says
    /// then, somebody looks for the objects of unresolved creates, and here removes them.
    async fn cut_off(&mut self) -> StepResult {
        self.model.cut_off();
        if !self.model.subject.plugin || self.model.unresolved == 0 {
            return Ok(());
        }
        let strays = finding::strays(&self.model, &self.ids().await.unwrap_or_default())?;
        for id in strays {
            self.host.ask::<()>(LifeRequest::DeleteRemote { id }).await;
        }
        Ok(())
    }

    // The other's `up` is a plan as well: one that does not settle shows in it, and in the plan after it.
    async fn second_writer_before(&mut self) -> StepResult {
        let other = self.begin().await;
        let ran = self.run_as(LifeRun { writer: other, ..self.an_up() }).await;
        if self.refuses(&ran) {
            return Ok(());
        }
        self.arrived("the up of the second writer", ran).await?;
        let ran = self.run(LifeOperation::Up).await;
        self.deployed("the up after that of the second writer", ran).await
    }

    async fn second_writer_during(&mut self) -> StepResult {
        let other = self.begin().await;
        let ran = self.run_as(LifeRun { meanwhile: Some(other), ..self.an_up() }).await;
        finding::two_writers(&ran)?;
        if self.refuses(&ran) {
            return Ok(());
        }
        self.arrived("the up beside a second writer", ran).await?;
        let ran = self.run_as(LifeRun { writer: other, ..self.operation(LifeOperation::Up) }).await;
        self.deployed("the up of the second writer", ran).await
    }

    /// After an `up`: what it must have come to, and that it settles.
    async fn deployed(&mut self, what: &str, ran: LifeRunOutcome) -> StepResult {
        if self.refuses(&ran) {
            return Ok(());
        }
        let changed = !ran.plan.is_empty();
        let updated: Vec<String> =
            ran.plan.iter().filter(|it| it.action == "update").map(|it| it.name.clone()).collect();
        self.arrived(what, ran).await?;
        // Where the last plan was empty and the `up` has done nothing, nothing is left to be planned.
        if !self.model.settled || changed {
            self.settles(what, changed).await?;
        }
        for name in updated {
            // A later step may hide it: a destroy, a refresh.
            let made = self.model.resource(&name).map(LifeResource::made);
            if let (Some(inputs), Some(made)) = (self.model.program.get(&name), made) {
                let inputs = Arc::clone(inputs);
                self.model.updated.insert(name, (inputs, made));
            }
        }
        Ok(())
    }

    async fn arrived(&mut self, what: &str, ran: LifeRunOutcome) -> StepResult {
        // What is gone cannot be updated by who has not looked; the up after a refresh must mend that.
        if ran.error.is_some() && self.model.lost.is_empty() {
            return Err(finding::failed(what, &ran));
        }
        if self.model.drifted() {
            // What happened outside is found by a refresh only; an up without one may well leave it.
            self.must_run("an up after a refresh", LifeOperation::RefreshedUp).await?;
            self.model.settled = false;
        }
        self.model.deployed();
        self.holds(what).await
    }

    // Where `check` refuses inputs, nothing of them was to change; what became of the other resources is not known.
    fn refuses(&mut self, ran: &LifeRunOutcome) -> bool {
        let refuses = ran.refused && ran.error.is_some();
        if refuses {
            self.model.cut_off();
        }
        refuses
    }

    // An `up` that has changed nothing was an empty plan itself.
    async fn settles(&mut self, what: &str, changed: bool) -> StepResult {
        let plain = changed.then_some(LifeOperation::Preview);
        let refreshed = self.model.has_read().then_some(LifeOperation::RefreshedPreview);
        for operation in plain.into_iter().chain(refreshed) {
            let ran = self.must_run("the preview after an up", operation).await?;
            finding::settled(what, operation, &ran, &mut self.model)?;
        }
        self.model.settled = true;
        Ok(())
    }

    /// The state is as the steps say, and the world as the state says.
    async fn holds(&mut self, what: &str) -> StepResult {
        if self.model.uncertain {
            return Ok(());
        }
        let ids = self.ids().await;
        finding::holds(what, &self.model, ids)
    }

    async fn ids(&self) -> Option<Vec<String>> {
        let mut ids: Option<Vec<String>> = self.host.ask(LifeRequest::Look).await;
        if let Some(ids) = &mut ids {
            ids.sort();
        }
        ids
    }

    fn id_of(&self, name: &str) -> Option<String> {
        self.model.resource(name).map(|resource| resource.id.clone())
    }

    async fn tell_program(&mut self) {
        self.model.settled = false;
        let numbers = self.model.program.iter().map(|(name, inputs)| (name.clone(), inputs.number));
        let resources = numbers.collect();
        self.host.ask::<()>(LifeRequest::Program { resources }).await;
    }

    async fn begin(&mut self) -> usize {
        let writer = self.model.new_writer();
        self.host.ask::<()>(LifeRequest::Begin { writer }).await;
        writer
    }

    // An `up` that looks first where something happened outside.
    fn an_up(&self) -> LifeRun {
        self.operation(if self.model.drifted() { LifeOperation::RefreshedUp } else { LifeOperation::Up })
    }

    fn planning(&self) -> LifeOperation {
        if self.model.drifted() { LifeOperation::RefreshedPreview } else { LifeOperation::Preview }
    }

    fn operation(&self, operation: LifeOperation) -> LifeRun {
        LifeRun { order: operation.into(), writer: self.model.writer, loses: false, meanwhile: None }
    }

    async fn must_run(&mut self, what: &str, operation: LifeOperation) -> StepResult<LifeRunOutcome> {
        let ran = self.run(operation).await;
        if ran.error.is_some() { Err(finding::failed(what, &ran)) } else { Ok(ran) }
    }

    async fn run(&mut self, operation: LifeOperation) -> LifeRunOutcome {
        self.run_as(self.operation(operation)).await
    }

    async fn run_as(&mut self, run: LifeRun) -> LifeRunOutcome {
        let ran: LifeRunOutcome = self.host.ask(LifeRequest::Run(run)).await;
        self.model.saw(&ran);
        ran
    }
}
