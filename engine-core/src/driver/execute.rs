//! Taking steps: journal what is begun, call the provider, journal what came of it (reliability, rule 1).

use std::sync::Arc;

use crate::event::{Event, Op};
use crate::plan::{Step, copy_secrets, mark_outputs, needs_marks};
use crate::planted::{self, Bug};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::row::{HookMoment, Row};
use crate::state::{Change, PendingKind};
use crate::value::PropertyMap;

use super::hooks::{Occasion, moments};
use super::limits::Late;
use super::served::Served;
use super::stop::Failure;
use super::{Engine, RpcError};

/// The present time as rows keep it.
pub(super) fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// A call of a provider that the journal is to know of.
#[derive(Clone, Copy)]
pub(super) struct Journalled<'a> {
    pub(super) served: &'a Served,
    pub(super) kind: PendingKind,
    /// The row that the journal keeps while the call goes on.
    pub(super) row: &'a Arc<Row>,
    /// What error hooks are told.
    pub(super) occasion: Occasion<'a>,
    /// What becomes of an answer that comes after the time limit, by the number of the journalled operation.
    pub(super) late: &'a (dyn Fn(u32) -> Late + Sync),
}

impl Engine {
    /// Takes one step of a registration. Gives the row that it led to, or `None` when it failed and the run goes on
    /// without it. `served` is the live object of custom resources.
    pub(super) async fn act(&self, step: Step, served: Option<&Served>) -> Result<Option<Arc<Row>>, RpcError> {
        self.go_on()?;
        if matches!(step.op, Op::Delete | Op::DeleteReplaced) {
            return self.delete_one(step).await.map(|done| done.then(Arc::default));
        }
        self.keep_to_plan(&step)?;
        self.events.emit(Event::StepStarted(step.metadata(step.new.clone())));
        let outcome = match self.before(&step).await {
            Err(error) => Err(error),
            Ok(()) => self.take(&step, served).await,
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

    async fn take(&self, step: &Step, served: Option<&Served>) -> Result<Option<Arc<Row>>, ProviderError> {
        match step.op {
            Op::Replace => {
                // The new row is the one of the other half, made or to be made.
                let row = self.book().row(&step.urn).map(|(_, row)| Arc::clone(row)).or_else(|| step.new.clone());
                Ok(row)
            }
            Op::Same => Ok(self.keep(step)),
            Op::Import | Op::ImportReplacement => self.adopt(step).await.map(Some),
            _ if self.operation.dry_run => self.foresee(step).map(Some),
            _ => self.change(step, served).await.map(Some),
        }
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
    async fn after(&self, step: &Step, row: Option<&Row>) -> Result<(), RpcError> {
        match (moments(step.op), row) {
            (Some((_, after)), Some(row)) if row.custom && !row.hooks.is_empty() => {
                Box::pin(self.run_after_hooks(&step.urn, &row.hooks, after, Occasion::of(step, Some(row)))).await
            }
            _ => Ok(()),
        }
    }

    /// Counts a step and tells of it. Components and the stack are told of when their outputs are known.
    fn done(&self, step: &Step, row: Option<Arc<Row>>) {
        let metadata = step.metadata(row.clone());
        let mut book = self.book();
        book.count(step.op, &step.urn);
        if row.is_some_and(|row| !row.custom) && step.op != Op::Replace {
            if step.urn.is_root_stack() {
                book.root = Some(step.urn.clone());
            }
            book.open.insert(step.urn.clone(), metadata);
            return;
        }
        drop(book);
        self.events.emit(Event::StepDone(metadata));
    }

    pub(super) fn failed(&self, step: &Step, error: &ProviderError) {
        if error.kind == ProviderErrorKind::Raised {
            self.book().maybe_corrupt = true;
        }
        self.book().failed.insert(step.urn.clone());
        self.report_failure(&step.urn, error, !self.operation.continue_on_error);
        self.events.emit(Event::StepFailed(step.metadata(step.new.clone())));
    }

    /// Nothing happens to the object; its row takes the new inputs and options.
    fn keep(&self, step: &Step) -> Option<Arc<Row>> {
        let mut row = Arc::clone(step.new.as_ref()?);
        if needs_marks(&row) {
            mark_outputs(Arc::make_mut(&mut row));
        }
        let old = step.old.as_ref();
        let in_place_of = old.map(|(number, _)| *number);
        if old.is_some_and(|(_, old)| old.urn != row.urn) && !self.operation.dry_run {
            // Its new URN must survive a crash, for what comes after it refers to it.
            let change = self.book().put(Arc::clone(&row), in_place_of);
            drop(self.session.append(&[change]));
        } else {
            self.book().keep(Arc::clone(&row), in_place_of);
        }
        Some(row)
    }

    /// What a preview shows of a step: the inputs, and the outputs that are known to stay.
    fn foresee(&self, step: &Step) -> Result<Arc<Row>, ProviderError> {
        let mut row = finished(step)?;
        if row.custom && row.urn.provider_package().is_none() {
            let mut outputs = (*row.inputs).clone();
            crate::builtin::foresee(&row.kind, &mut outputs);
            if let (Op::Update, Some((_, old))) = (step.op, &step.old) {
                for (key, value) in old.outputs_or_empty().iter() {
                    if step.stables.contains(key) || planted::has(Bug::PreviewKeepsOutputs) {
                        outputs.insert(key.clone(), value.clone());
                    }
                }
            }
            row.outputs = Some(Arc::new(outputs));
        }
        mark_outputs(&mut row);
        let row = Arc::new(row);
        let mut book = self.book();
        match &step.old {
            // As in the run itself, the old half waits for its deletion, so that the preview tells of that too.
            Some((number, old)) if step.op == Op::CreateReplacement && !is_pending(&book, *number) => {
                book.keep(Arc::clone(&row), None);
                let waiting = Row { delete: true, ..(**old).clone() };
                book.set(*number, Arc::new(waiting));
            }
            old => book.keep(Arc::clone(&row), old.as_ref().map(|(number, _)| *number)),
        }
        Ok(row)
    }

    /// A create or update: of an object, of a component's row, or of a provider's row.
    async fn change(&self, step: &Step, served: Option<&Served>) -> Result<Arc<Row>, ProviderError> {
        let mut row = finished(step)?;
        let served = served.filter(|_| row.custom && row.urn.provider_package().is_none());
        let Some(served) = served else {
            stamp(step.op, &mut row);
            let row = Arc::new(row);
            let change = self.book().put(Arc::clone(&row), step.old.as_ref().map(|(number, _)| *number));
            // No side effect: it may become durable together with whatever comes next.
            drop(self.session.append(&[change]));
            return Ok(row);
        };
        let updating = step.op == Op::Update;
        let inputs = served.shown(&row.inputs);
        if inputs.values().any(crate::value::Value::contains_unknown) {
            return Err(ProviderError::new(
                ProviderErrorKind::Raised,
                "its inputs are not known although this is no preview: something that it depends on failed",
            ));
        }
        let method = match &step.old {
            Some((_, old)) if updating => Method::Update {
                id: old.id.clone(),
                olds: served.shown(&old.outputs_or_empty()),
                news: inputs,
                timeout: row.custom_timeouts.update,
            },
            _ => Method::Create { inputs, timeout: row.custom_timeouts.create },
        };
        let kind = if updating { PendingKind::Updating } else { PendingKind::Creating };
        let row = Arc::new(row);
        let call = Journalled {
            served,
            kind,
            row: &row,
            occasion: Occasion::of(step, Some(&row)),
            late: &|operation| Self::late_change(step, &row, operation),
        };
        let (operation, answer) = self.call_retried(call, method).await?;
        let row = Arc::unwrap_or_clone(row);
        let (row, error) = self.settle(step, row, answer, operation).await?;
        match error {
            None => Ok(row),
            Some(error) => Err(error),
        }
    }

    /// Makes a journalled call, again for as long as the method raises and an error hook asks for it. Of other failures
    /// no hook is told: after them the object may exist, and another attempt would make a second one.
    pub(super) async fn call_retried(
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
            errors.insert(0, error.message.clone());
            match Box::pin(self.wants_retry(&row.urn, &row.hooks, occasion, name, &errors)).await {
                Ok(true) => {}
                Ok(false) => return Ok((operation, answer)),
                Err(mut failed) => {
                    failed.message = format!("{}; {name} itself had failed: {}", failed.message, error.message);
                    return Ok((operation, Err(failed)));
                }
            }
            let ended = self.book().end(operation);
            self.record(&[ended]).await?;
            method = again;
        }
    }

    /// Waits for its turn, journals that a call is about to be made, and makes it once that is durable. Gives the
    /// number of the journalled operation, which is for the caller to end, with the provider's answer.
    ///
    /// In this order, so that a killed run suspects no call that was still waiting for its turn.
    async fn call_journalled(
        &self,
        call: Journalled<'_>,
        method: Method,
    ) -> Result<(u32, Result<Answer, ProviderError>), ProviderError> {
        let Journalled { served, kind, row, late, .. } = call;
        let Ok(_turn) = self.turn(&row.urn, served).await else {
            return Err(ProviderError::new(ProviderErrorKind::Cancelled, "the run was stopped before the call"));
        };
        let (operation, change) = self.book().begin(kind, Arc::clone(row));
        self.record(&[change]).await?;
        Ok((operation, self.call_limited(served, &row.urn, method, || Some(late(operation))).await))
    }

    pub(super) fn state_failure(&self, error: &crate::error::Error) -> ProviderError {
        let message = format!("the state cannot be written, so nothing more is begun: {error}");
        self.stop.fail(Failure { message: message.clone(), source: None }, true);
        ProviderError::new(ProviderErrorKind::BadReturn, message)
    }

    /// Writes down the outcome of a create or update. Gives the row, and the error of an object that did not start.
    pub(super) async fn settle(
        &self,
        step: &Step,
        mut row: Row,
        answer: Result<Answer, ProviderError>,
        operation: u32,
    ) -> Result<(Arc<Row>, Option<ProviderError>), ProviderError> {
        let (outputs, error) = match answer {
            Ok(Answer::Created { id, outputs }) => {
                if id.is_empty() {
                    return Err(ProviderError::new(
                        ProviderErrorKind::BadReturn,
                        "create returned no id; return a text that names the new object, such as CreateResult(id_=...)",
                    ));
                }
                row.id = id;
                (outputs, None)
            }
            Ok(Answer::Updated { outputs }) => (outputs, None),
            Ok(_) => return Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call")),
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
                    row.init_errors = vec![error.message.clone()];
                    // What is missing is most likely as the inputs say; a diff that misses it would replace the object.
                    let mut outputs = (*row.inputs).clone();
                    outputs.extend(std::mem::take(properties));
                    (outputs, Some(error))
                }
                ProviderErrorKind::Raised
                | ProviderErrorKind::Cancelled
                | ProviderErrorKind::NoProvider
                | ProviderErrorKind::Hook => {
                    if planted::has(Bug::FailedCreateRecorded) && step.op == Op::Create {
                        "lost".clone_into(&mut row.id);
                        let changes = self.book_outcome(step, &Arc::new(row), operation);
                        self.record(&changes).await?;
                        return Err(error);
                    }
                    // By the SDKs' contract a method that raises has made nothing.
                    let change = self.book().end(operation);
                    self.record(&[change]).await?;
                    return Err(error);
                }
                // The object may exist: the operation stays pending, and the next run names it.
                ProviderErrorKind::BadReturn | ProviderErrorKind::TimedOut | ProviderErrorKind::Interrupted => {
                    return Err(error);
                }
            },
        };
        self.learn_secrets_of(&outputs);
        finish_row(step, &mut row, outputs, error.is_some());
        let row = Arc::new(row);
        let changes = self.book_outcome(step, &row, operation);
        self.record(&changes).await?;
        Ok((row, error))
    }

    /// Journals changes and waits until they are durable: only then is a step reported as done.
    pub(super) async fn record(&self, changes: &[Change]) -> Result<(), ProviderError> {
        self.session.append(changes).await.map_err(|error| self.state_failure(&error))
    }

    fn book_outcome(&self, step: &Step, row: &Arc<Row>, operation: u32) -> Vec<Change> {
        let mut book = self.book();
        let mut changes = vec![book.end(operation)];
        let old =
            step.old.as_ref().and_then(|(number, _)| book.ledger.get(*number).map(|old| (*number, Arc::clone(old))));
        match (step.op, old) {
            (Op::CreateReplacement, Some((number, old))) if !old.pending_replacement => {
                // Under a new URN it takes the place of the old one, which then comes back as an old half: so rows that
                // the run does not come to follow it to its URN.
                let renamed = (old.urn != row.urn).then_some(number);
                changes.push(book.put(Arc::clone(row), renamed));
                let waiting = Row { delete: true, ..(*old).clone() };
                changes.push(if planted::has(Bug::PendingDeleteLost) {
                    book.remove(number)
                } else {
                    book.set(number, Arc::new(waiting))
                });
            }
            (_, old) => changes.push(book.put(Arc::clone(row), old.map(|(number, _)| number))),
        }
        changes
    }
}

/// Is the row's object deleted already?
pub(super) fn is_pending(book: &super::book::Book, number: crate::state::RowNumber) -> bool {
    book.ledger.get(number).is_some_and(|row| row.pending_replacement)
}

/// The row that a step leads to, with the id that it keeps.
pub(super) fn finished(step: &Step) -> Result<Row, ProviderError> {
    let Some(new) = &step.new else {
        return Err(ProviderError::new(
            ProviderErrorKind::BadReturn,
            "a step without a row; this is a fault of maloko",
        ));
    };
    Ok((**new).clone())
}

pub(super) fn stamp(op: Op, row: &mut Row) {
    let now = now();
    if op != Op::Update || row.created.is_empty() {
        row.created.clone_from(&now);
    }
    row.modified = now;
}

fn finish_row(step: &Step, row: &mut Row, mut outputs: PropertyMap, partly: bool) {
    copy_secrets(&row.inputs, &mut outputs);
    if let (true, Op::Update, Some((_, old))) = (planted::has(Bug::OldOutputsKept), step.op, &step.old) {
        outputs.extend((*old.outputs_or_empty()).clone());
    }
    if let (true, Op::Update, Some((_, old))) = (partly, step.op, &step.old)
        && !planted::has(Bug::PartialUpdateStoresNewInputs)
    {
        row.inputs = Arc::clone(&old.inputs);
    }
    row.outputs = Some(Arc::new(outputs));
    mark_outputs(row);
    stamp(step.op, row);
}
