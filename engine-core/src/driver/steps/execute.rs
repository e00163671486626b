//! Taking a step: record the intent, call the provider, record the outcome. No call is made before its intent is durable.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::event::{Event, Op};
use crate::fail_points;
use crate::message;
use crate::message::{Code, Command};
use crate::plan::{Step, copy_secrets, mark_outputs, needs_marks};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::{HookMoment, ResourceState};
use crate::state::{Change, PendingKind};
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use crate::driver::RpcError;
use crate::driver::calls::late::LateOutcome;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::program::hooks::{Occasion, moments};
use crate::driver::run::actions::Action;
use crate::driver::run::context::Context;
use crate::driver::run::exchange::Written;
use crate::driver::steps::write_ahead::Journalled;
use crate::driver::stop::Failure;

/// What a step led to.
struct Taken {
    row: Option<Arc<ResourceState>>,
    /// The outcome of a call, on its way to the disk.
    written: Option<Written>,
}

/// The outcome of a create or update.
pub(in crate::driver) struct Settled {
    pub(in crate::driver) row: Arc<ResourceState>,
    /// Why an object that is there did not start.
    pub(in crate::driver) error: Option<ProviderError>,
    /// The outcome, on its way to the disk.
    pub(in crate::driver) written: Written,
}

impl Context {
    /// Takes one step of a registration. Gives the row that it led to, or `None` when it failed and the run goes on
    /// without it. `resolved` is the live object of custom resources.
    pub(in crate::driver) async fn act(
        &self,
        step: Step,
        resolved: Option<&ResolvedProvider>,
    ) -> Result<Option<Arc<ResourceState>>, RpcError> {
        self.go_on()?;
        if matches!(step.op, Op::Delete | Op::DeleteReplaced) {
            return match self.delete_one(step).await? {
                true => Ok(Some(Arc::default())),
                // The program is not to wonder about outputs of a resource that the run does not come to any more.
                false if self.stop.is_halted() => Err(RpcError::unavailable()),
                false => Ok(None),
            };
        }
        self.keep_to_plan(&step)?;
        self.tell(Event::StepStarted(step.metadata(step.new.clone())));
        let outcome = match self.before(&step).await {
            Err(error) => Err(error),
            Ok(()) => self.take(&step, resolved).await,
        };
        let outcome = match outcome {
            Ok(Taken { row: Some(row), written: Some(written) }) if row.hooks.is_empty() => {
                self.done_when_written(step, Arc::clone(&row), written);
                return Ok(Some(row));
            }
            Ok(Taken { row, written: Some(written) }) => self.durable(written, row.as_deref()).await.map(|()| row),
            Ok(Taken { row, written: None }) => Ok(row),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(row) => {
                self.done(&step, row.clone());
                self.after(&step, row.as_deref()).await?;
                Ok(row)
            }
            Err(error) => {
                self.failed(&step, &error);
                if self.operation.continue_on_error { Ok(None) } else { Err(RpcError::unavailable()) }
            }
        }
    }

    async fn take(&self, step: &Step, resolved: Option<&ResolvedProvider>) -> Result<Taken, ProviderError> {
        let row = match step.op {
            Op::Replace => {
                // The new row is the one of the other half, made or to be made.
                self.run_state().row(&step.urn).map(|(_, row)| Arc::clone(row)).or_else(|| step.new.clone())
            }
            Op::Same => self.keep(step),
            Op::Import | Op::ImportReplacement => Some(self.adopt(step).await?),
            _ if self.operation.dry_run => Some(self.foresee(step)?),
            _ => return self.change(step, resolved).await,
        };
        Ok(Taken { row, written: None })
    }

    /// Calls the hooks that come before a step.
    async fn before(&self, step: &Step) -> Result<(), ProviderError> {
        match (moments(step.op), &step.new) {
            (Some((before, _)), Some(new)) if !new.hooks.is_empty() => {
                Box::pin(self.run_hooks(&step.urn, &new.hooks, before, Occasion::of(step, Some(new)))).await
            }
            _ => Ok(()),
        }
    }

    /// Calls the hooks that follow a step which was done; those of a component follow its outputs.
    async fn after(&self, step: &Step, row: Option<&ResourceState>) -> Result<(), RpcError> {
        match (moments(step.op), row) {
            (Some((_, after)), Some(row)) if row.custom && !row.hooks.is_empty() => {
                Box::pin(self.run_after_hooks(&step.urn, &row.hooks, after, Occasion::of(step, Some(row)))).await
            }
            _ => Ok(()),
        }
    }

    /// Counts a step and tells of it. Components and the stack are told of when their outputs are known.
    fn done(&self, step: &Step, row: Option<Arc<ResourceState>>) {
        let metadata = step.metadata(row.clone());
        let mut run_state = self.run_state();
        run_state.count(step.op, &step.urn);
        if row.is_some_and(|row| !row.custom) && step.op != Op::Replace {
            if step.urn.is_root_stack() {
                run_state.root = Some(step.urn.clone());
            }
            run_state.open.insert(step.urn.clone(), metadata);
            return;
        }
        drop(run_state);
        self.tell(Event::StepDone(metadata));
    }

    pub(in crate::driver) fn failed(&self, step: &Step, error: &ProviderError) {
        self.note_failure(&step.urn, error);
        self.tell(Event::StepFailed(step.metadata(step.new.clone())));
    }

    /// Notes that a resource failed, and reports why.
    pub(in crate::driver) fn note_failure(&self, urn: &Urn, error: &ProviderError) {
        if error.kind == ProviderErrorKind::Raised {
            self.run_state().maybe_corrupt = true;
        }
        self.run_state().failed.insert(urn.clone());
        self.report_failure(urn, error, !self.operation.continue_on_error);
    }

    /// Nothing happens to the object; its row takes the new inputs and options.
    fn keep(&self, step: &Step) -> Option<Arc<ResourceState>> {
        let mut row = Arc::clone(step.new.as_ref()?);
        if needs_marks(&row) {
            mark_outputs(Arc::make_mut(&mut row));
        }
        let old = step.old.as_ref();
        let in_place_of = old.map(|(number, _)| *number);
        // Its new URN must survive a crash, for what comes after it refers to it. So must what it refers to from now on:
        // what it no longer needs may be deleted by this very run, and a row that refers to nothing is not sound.
        let referred = |row: &ResourceState| row.references().collect::<BTreeSet<_>>();
        let same = |old: &ResourceState| old.references().eq(row.references()) || referred(old) == referred(&row);
        let differs = |old: &ResourceState| old.urn != row.urn || !same(old);
        let moves =
            old.is_some_and(|(_, old)| differs(old)) && !fail_points::is_on("planted::kept-references-forgotten");
        if moves && !self.operation.dry_run {
            let change = self.run_state().put(Arc::clone(&row), in_place_of);
            self.exchange.append_unawaited(vec![change]);
        } else {
            self.run_state().keep(Arc::clone(&row), in_place_of);
        }
        Some(row)
    }

    /// What a preview shows of a step: the inputs, and the outputs that are known to stay.
    fn foresee(&self, step: &Step) -> Result<Arc<ResourceState>, ProviderError> {
        let mut row = finished(step)?;
        if row.custom && row.urn.provider_package().is_none() {
            let mut outputs = (*row.inputs).clone();
            crate::builtin::foresee(&row.kind, &mut outputs);
            if let (Op::Update, Some((_, old))) = (step.op, &step.old) {
                for (key, value) in old.outputs_or_empty().iter() {
                    if step.stables.contains(key) || fail_points::is_on("planted::preview-keeps-outputs") {
                        outputs.insert(key.clone(), value.clone());
                    }
                }
            }
            row.outputs = Some(Arc::new(outputs));
        }
        mark_outputs(&mut row);
        let row = Arc::new(row);
        let mut run_state = self.run_state();
        match &step.old {
            // As in the run itself, the old object waits for its deletion, so that the preview tells of that too.
            Some((number, old)) if step.op == Op::CreateReplacement && !is_pending(&run_state, *number) => {
                run_state.keep(Arc::clone(&row), None);
                let waiting = ResourceState { delete: true, ..(**old).clone() };
                run_state.set(*number, Arc::new(waiting));
            }
            old => run_state.keep(Arc::clone(&row), old.as_ref().map(|(number, _)| *number)),
        }
        Ok(row)
    }

    /// A create or update: of an object, of a component's row, or of a provider's row.
    async fn change(&self, step: &Step, resolved: Option<&ResolvedProvider>) -> Result<Taken, ProviderError> {
        let mut row = finished(step)?;
        let resolved = resolved.filter(|_| row.custom && row.urn.provider_package().is_none());
        let Some(resolved) = resolved else {
            stamp(step.op, &mut row, self.now());
            let row = Arc::new(row);
            let change = self.run_state().put(Arc::clone(&row), step.old.as_ref().map(|(number, _)| *number));
            // No side effect: it may become durable together with whatever comes next.
            self.exchange.append_unawaited(vec![change]);
            return Ok(Taken { row: Some(row), written: None });
        };
        let updating = step.op == Op::Update;
        let inputs = resolved.shown(&row.inputs);
        if inputs.values().any(Value::contains_unknown) {
            return Err(ProviderError::new(
                ProviderErrorKind::Raised,
                "its inputs are not known although this is no preview: something that it depends on failed",
            ));
        }
        let method = match &step.old {
            Some((_, old)) if updating => Method::Update {
                id: old.id.clone(),
                olds: resolved.shown(&old.outputs_or_empty()),
                news: inputs,
                timeout: row.custom_timeouts.update,
            },
            _ => Method::Create { inputs, key: self.key_for(resolved, &row.urn), timeout: row.custom_timeouts.create },
        };
        let kind = if updating { PendingKind::Updating } else { PendingKind::Creating };
        let row = Arc::new(row);
        let call = Journalled {
            resolved,
            kind,
            row: &row,
            occasion: Occasion::of(step, Some(&row)),
            late: &|operation| LateOutcome::Change { step: step.clone(), row: Arc::clone(&row), operation },
        };
        let (operation, answer) = self.call_retried(call, method).await?;
        let row = Arc::unwrap_or_clone(row);
        let Settled { row, error, written } = self.settle(step, row, answer, operation).await?;
        match error {
            None => Ok(Taken { row: Some(row), written: Some(written) }),
            Some(error) => self.durable(written, Some(&row)).await.and(Err(error)),
        }
    }

    /// Makes a journalled call, again for as long as the method raises and an error hook asks for it. Of other failures
    /// no hook is told: after them the object may exist, and another attempt would make a second one.
    pub(in crate::driver) async fn call_retried(
        &self,
        call: Journalled<'_>,
        mut method: Method,
    ) -> Result<(u32, Result<Answer, ProviderError>), ProviderError> {
        let Journalled { row, occasion, .. } = call;
        let mut errors = Vec::new();
        loop {
            let name = method.name();
            let again = row.hooks.contains_key(&HookMoment::OnError).then(|| method.clone());
            let (operation, answer) = self.call_journalled(call, method).await?;
            let (Some(again), Err(error)) = (again, &answer) else { return Ok((operation, answer)) };
            if error.kind != ProviderErrorKind::Raised {
                return Ok((operation, answer));
            }
            errors.insert(0, error.message.to_string());
            match Box::pin(self.wants_retry(&row.urn, &row.hooks, occasion, name, &errors)).await {
                Ok(true) => {}
                Ok(false) => return Ok((operation, answer)),
                Err(mut failed) => {
                    failed.message = message![&failed.message, format!("; {name} itself had failed: "), &error.message];
                    return Ok((operation, Err(failed)));
                }
            }
            let ended = match &again {
                Method::Create { .. } => self.unknown_outcome(&row.urn, error, Some(operation)),
                _ => vec![self.run_state().end(operation)],
            };
            self.record(ended).await?;
            method = again;
        }
    }

    pub(in crate::driver) fn state_failure(&self, error: &crate::error::Error) -> ProviderError {
        let message = message!["the state cannot be written, so nothing more is begun: ", error];
        self.stop.fail(Failure::new(message.clone()), true);
        ProviderError::new(ProviderErrorKind::BadReturn, message)
    }

    /// The outcome of a call could not be recorded: nobody but this message may know of the object.
    pub(in crate::driver) fn outcome_failure(
        &self,
        error: &crate::error::Error,
        row: Option<&ResourceState>,
    ) -> ProviderError {
        let mut failure = self.state_failure(error);
        if let Some(row) = row.filter(|row| !row.id.is_empty()) {
            failure.message = message![
                format!(
                    "{}. The object has the id '{}': if the state does not name it after this run, take it over: with ",
                    failure.message, row.id
                ),
                Command::new("refresh").with("--import-pending-creates").quoted(&row.urn).value(&row.id),
                " if ",
                Command::new("stack"),
                " shows an unresolved create of it, else with ",
                Command::new("import")
            ];
        }
        failure
    }

    /// Writes down the outcome of a create or update.
    pub(in crate::driver) async fn settle(
        &self,
        step: &Step,
        mut row: ResourceState,
        answer: Result<Answer, ProviderError>,
        operation: u32,
    ) -> Result<Settled, ProviderError> {
        let (outputs, error) = match answer {
            Ok(Answer::Created { id, outputs }) => {
                if id.is_empty() {
                    let returned = crate::update_plan::shown_value(&Value::Object(outputs));
                    let error = ProviderError::new(
                        ProviderErrorKind::Unreadable { returned, id },
                        message![
                            "create returned no id; return ",
                            Code::CreateResult,
                            ", which is a text that names the new object"
                        ],
                    );
                    return Err(self.leave_open(step, error).await);
                }
                row.id = id;
                (outputs, None)
            }
            Ok(Answer::Updated { outputs }) => (outputs, None),
            Ok(_) => {
                let error = ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call");
                return Err(self.leave_open(step, error).await);
            }
            Err(mut error) => match &mut error.kind {
                ProviderErrorKind::NotInitialized { id, properties, reasons } => {
                    if !id.is_empty() && step.op != Op::Update {
                        row.id.clone_from(id);
                    }
                    row.init_errors.clone_from(reasons);
                    (std::mem::take(properties), Some(error))
                }
                // The object is known, so the next run updates it in place of making another one.
                ProviderErrorKind::UnusableOutputs { id, properties } => {
                    if step.op != Op::Update {
                        row.id.clone_from(id);
                    }
                    row.init_errors = vec![self.redacted(&error.message).into_owned()];
                    // What is missing is most likely as the inputs say; a diff that misses it would replace the object.
                    let mut outputs = (*row.inputs).clone();
                    outputs.extend(std::mem::take(properties));
                    (outputs, Some(error))
                }
                ProviderErrorKind::Raised
                | ProviderErrorKind::Cancelled
                | ProviderErrorKind::NoProvider
                | ProviderErrorKind::NoMethod
                | ProviderErrorKind::Hook => {
                    if fail_points::is_on("planted::failed-create-recorded") && step.op == Op::Create {
                        "lost".clone_into(&mut row.id);
                        let changes = self.book_outcome(step, &Arc::new(row), operation);
                        self.record(changes).await?;
                        return Err(error);
                    }
                    // By the SDKs' contract a method that raises has made nothing; of a create there is a record all the
                    // same.
                    let changes = if step.op == Op::Update {
                        vec![self.run_state().end(operation)]
                    } else {
                        self.unknown_outcome(&step.urn, &error, Some(operation))
                    };
                    self.record(changes).await?;
                    return Err(error);
                }
                // The object may exist: the operation stays pending, and the next run names it.
                ProviderErrorKind::BadReturn
                | ProviderErrorKind::Unreadable { .. }
                | ProviderErrorKind::TimedOut
                | ProviderErrorKind::Interrupted => return Err(self.leave_open(step, error).await),
            },
        };
        self.learn_secrets_of(&outputs);
        finish_row(step, &mut row, outputs, error.is_some(), self.now());
        let row = Arc::new(row);
        let changes = self.book_outcome(step, &row, operation);
        fail_points::kill("kill::before-outcome");
        // The program goes on; only hooks and reports of failures wait for the disk.
        let awaited = error.is_some() || !row.hooks.is_empty();
        let waiting = if awaited { None } else { Some(self.reporting_flow()) };
        let written = self.exchange.append(changes, !awaited, waiting);
        Ok(Settled { row, error, written })
    }

    /// Waits until what was journalled is durable: the outcome of a call that led to the row.
    pub(in crate::driver) async fn durable(
        &self,
        written: Written,
        row: Option<&ResourceState>,
    ) -> Result<(), ProviderError> {
        let written = written.wait().await.map_err(|error| self.outcome_failure(&error, row));
        fail_points::kill("kill::after-outcome");
        written
    }

    /// Notes of a create that ended without an outcome why it has none. The operation stays pending.
    async fn leave_open(&self, step: &Step, error: ProviderError) -> ProviderError {
        if step.op != Op::Update {
            let changes = self.unknown_outcome(&step.urn, &error, None);
            if !changes.is_empty()
                && let Err(unwritten) = self.record(changes).await
            {
                return unwritten;
            }
        }
        error
    }

    /// The operation key of a create; what the engine serves itself makes nothing outside of the state.
    fn key_for(&self, resolved: &ResolvedProvider, urn: &Urn) -> String {
        if resolved.is_built_in() { String::new() } else { self.run_state().operation_key(urn) }
    }

    /// Journals changes and waits until they are durable: only then is a step reported as done.
    pub(in crate::driver) async fn record(&self, changes: Vec<Change>) -> Result<(), ProviderError> {
        let begins = changes.iter().any(|change| matches!(change, Change::Begin { .. }));
        fail_points::kill(if begins { "kill::before-intent" } else { "kill::before-outcome" });
        if fail_points::is_on(if begins { "planted::call-before-intent" } else { "planted::done-before-durable" }) {
            self.exchange.leave(Action::Append { changes, with_next: false, awaited: None });
            return Ok(());
        }
        let written = self.exchange.append(changes, false, None);
        let written = written.wait().await.map_err(|error| self.state_failure(&error));
        fail_points::kill(if begins { "kill::after-intent" } else { "kill::after-outcome" });
        written
    }

    fn book_outcome(&self, step: &Step, row: &Arc<ResourceState>, operation: u32) -> Vec<Change> {
        let mut run_state = self.run_state();
        let mut changes = vec![run_state.end(operation)];
        if step.op != Op::Update {
            changes.extend(run_state.resolve(&row.urn));
        }
        let old = step
            .old
            .as_ref()
            .and_then(|(number, _)| run_state.ledger.get(*number).map(|old| (*number, Arc::clone(old))));
        match (step.op, old) {
            (Op::CreateReplacement, Some((number, old))) if !old.pending_replacement => {
                changes.extend(run_state.put_replacement(Arc::clone(row), number, &old));
                if fail_points::is_on("planted::pending-delete-lost") {
                    changes.push(run_state.remove(number));
                }
            }
            (_, old) => changes.push(run_state.put(Arc::clone(row), old.map(|(number, _)| number))),
        }
        changes
    }
}

/// Is the row's object deleted already?
pub(in crate::driver) fn is_pending(
    run_state: &crate::driver::run_state::RunState,
    number: crate::state::ResourceNumber,
) -> bool {
    run_state.ledger.get(number).is_some_and(|row| row.pending_replacement)
}

/// The row that a step leads to, with the id that it keeps.
pub(in crate::driver) fn finished(step: &Step) -> Result<ResourceState, ProviderError> {
    let Some(new) = &step.new else {
        return Err(ProviderError::new(ProviderErrorKind::BadReturn, "a step without a row; this is a bug in maloko"));
    };
    Ok((**new).clone())
}

/// Notes when an object was made and changed.
pub(in crate::driver) fn stamp(op: Op, row: &mut ResourceState, now: String) {
    if op != Op::Update || row.created.is_empty() {
        row.created.clone_from(&now);
    }
    row.modified = now;
}

fn finish_row(step: &Step, row: &mut ResourceState, mut outputs: PropertyMap, partly: bool, now: String) {
    copy_secrets(&row.inputs, &mut outputs);
    if let (true, Op::Update, Some((_, old))) = (fail_points::is_on("planted::old-outputs-kept"), step.op, &step.old) {
        outputs.extend((*old.outputs_or_empty()).clone());
    }
    if let (true, Op::Update, Some((_, old))) = (partly, step.op, &step.old)
        && !fail_points::is_on("planted::partial-update-stores-new-inputs")
    {
        row.inputs = Arc::clone(&old.inputs);
    }
    row.outputs = Some(Arc::new(outputs));
    mark_outputs(row);
    stamp(step.op, row, now);
}
