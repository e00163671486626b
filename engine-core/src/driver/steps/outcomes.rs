//! Recording what a step led to: the state after a call or after an object was taken over, or the end of one.

use std::sync::Arc;

use crate::event::Op;
use crate::fail_points;
use crate::message;
use crate::message::Code;
use crate::plan::{Step, copy_secrets, mark_outputs};
use crate::provider::{Answer, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{Change, ResourceNumber};
use crate::value::{PropertyMap, Value};

use crate::driver::exchange::PendingRecord;
use crate::driver::steps::Outcomes;
use crate::driver::steps::resource_states::{finished, stamp};
use crate::driver::views::{CalledFor, called_for};

/// The outcome of a create or update.
pub(crate) struct CallOutcome {
    pub(crate) resource: Arc<ResourceState>,
    /// Why an object that is there did not start.
    pub(crate) error: Option<ProviderError>,
    /// The outcome, on its way to the disk.
    pub(crate) written: PendingRecord,
}

impl Outcomes {
    /// Writes down the outcome of a create or update.
    pub(super) async fn record(
        &self,
        step: &Step,
        mut resource: ResourceState,
        answer: Result<Answer, ProviderError>,
        operation: u32,
    ) -> Result<CallOutcome, ProviderError> {
        self.unresolved.name_made_unasked(&step.urn);
        let (outputs, error) = match answer {
            Ok(answer) => match returned(&mut resource, answer) {
                Ok(outputs) => (outputs, None),
                Err(error) => return Err(self.leave_open(step, error).await),
            },
            Err(error) => {
                let partly = self.partly_done(step, &mut resource, error, operation).await;
                if partly.is_err() {
                    self.views.take_in_alone(&step.urn, CalledFor::Step);
                }
                let (outputs, error) = partly?;
                (outputs, Some(error))
            }
        };
        self.reports.learn_secrets_of(&outputs);
        finish_resource(step, &mut resource, outputs, error.is_some(), self.exchange.now());
        let resource = Arc::new(resource);
        let mut changes = self.book_outcome(step, &resource, operation);
        changes.extend(self.views.take_in(&step.urn, called_for(step.op)));
        fail_points::kill("kill::before-outcome");
        // The program goes on; only hooks and reports of failures wait for the disk.
        let awaited = error.is_some() || !resource.hooks.is_empty();
        let waiting = if awaited { None } else { Some(self.reports.reporting_flow()) };
        let written = self.journal.append(changes, !awaited, waiting);
        Ok(CallOutcome { resource, error, written })
    }

    /// What there is of an object although its provider failed: its outputs, and why it failed. An error: nothing is known of it.
    async fn partly_done(
        &self,
        step: &Step,
        resource: &mut ResourceState,
        mut error: ProviderError,
        operation: u32,
    ) -> Result<(PropertyMap, ProviderError), ProviderError> {
        match &mut error.kind {
            ProviderErrorKind::NotInitialized { id, properties, reasons, read_first, .. } => {
                if !id.is_empty() && step.op != Op::Update {
                    resource.id.clone_from(id);
                }
                resource.init_errors.clone_from(reasons);
                resource.refresh_before_update = *read_first;
                Ok((std::mem::take(properties), error))
            }
            // The object is known, so the next run updates it in place of making another one.
            ProviderErrorKind::UnusableOutputs { id, properties } => {
                if step.op != Op::Update {
                    resource.id.clone_from(id);
                }
                resource.init_errors = vec![self.reports.redacted(&error.message).into_owned()];
                // What is missing is most likely as the inputs say; a diff that misses it would replace the object.
                let mut outputs = (*resource.inputs).clone();
                outputs.extend(std::mem::take(properties));
                Ok((outputs, error))
            }
            ProviderErrorKind::Raised
            | ProviderErrorKind::Cancelled
            | ProviderErrorKind::NoProvider
            | ProviderErrorKind::NoStack(_)
            | ProviderErrorKind::NoMethod
            | ProviderErrorKind::Hook => {
                // By the SDKs' contract a method that raises has made nothing; of a create there is a record all the
                // same.
                let changes = if step.op == Op::Update {
                    vec![self.journal.end(operation)]
                } else {
                    self.unresolved.unknown_outcome(&step.urn, &error, Some(operation))
                };
                self.journal.record(changes).await?;
                Err(error)
            }
            // The object may exist: the operation stays pending, and the next run names it.
            ProviderErrorKind::BadReturn
            | ProviderErrorKind::Unreadable { .. }
            | ProviderErrorKind::TimedOut
            | ProviderErrorKind::Died
            | ProviderErrorKind::Interrupted => Err(self.leave_open(step, error).await),
        }
    }

    /// Notes of a create that ended without an outcome why it has none. The operation stays pending.
    async fn leave_open(&self, step: &Step, error: ProviderError) -> ProviderError {
        if step.op != Op::Update {
            let changes = self.unresolved.unknown_outcome(&step.urn, &error, None);
            if !changes.is_empty()
                && let Err(unwritten) = self.journal.record(changes).await
            {
                return unwritten;
            }
        }
        error
    }

    fn book_outcome(&self, step: &Step, resource: &Arc<ResourceState>, operation: u32) -> Vec<Change> {
        let mut changes = vec![self.journal.end(operation)];
        if step.op == Op::Update {
            changes.extend(self.journal.end_doubt(resource));
        } else {
            changes.extend(self.journal.resolve(&resource.urn));
        }
        let old = step.old.as_ref().and_then(|(number, _)| self.journal.numbered(*number).map(|old| (*number, old)));
        match (step.op, old) {
            (Op::CreateReplacement, Some((number, old))) if !old.pending_replacement => {
                changes.extend(self.journal.put_replacement(Arc::clone(resource), number, &old));
            }
            (_, old) => changes.push(self.journal.put(Arc::clone(resource), old.map(|(number, _)| number))),
        }
        changes
    }

    /// Writes down an object that was taken over: nothing happens to the object itself.
    pub(crate) async fn adopt(&self, step: &Step) -> Result<Arc<ResourceState>, ProviderError> {
        let mut resource = finished(step)?;
        stamp(step.op, &mut resource, self.exchange.now());
        let resource = Arc::new(resource);
        let changes = self.book_adopted(step, &resource);
        self.journal.record(changes).await?;
        Ok(resource)
    }

    fn book_adopted(&self, step: &Step, resource: &Arc<ResourceState>) -> Vec<Change> {
        // Whoever names the object has looked for it.
        let mut changes = self.journal.resolve(&resource.urn);
        changes.extend(match &step.old {
            Some((number, old)) if step.op == Op::ImportReplacement && !self.journal.is_pending(*number) => {
                self.journal.put_replacement(Arc::clone(resource), *number, old).into()
            }
            old => vec![self.journal.put(Arc::clone(resource), old.as_ref().map(|(number, _)| *number))],
        });
        changes.extend(self.views.take_in(&step.urn, called_for(step.op)));
        changes
    }

    pub(super) fn book_deletion(
        &self,
        step: &Step,
        number: ResourceNumber,
        resource: &Arc<ResourceState>,
    ) -> Vec<Change> {
        self.reports.count_noted(step.op, step.note, &step.urn);
        let mut changes = self.journal.end_doubt(resource);
        let called_for = if resource.delete { CalledFor::OldObject } else { CalledFor::Step };
        changes.extend(self.views.take_in(&step.urn, called_for));
        changes.extend(self.views.remove_with(resource));
        changes.push(if step.keep_until_replaced {
            let marked = ResourceState { pending_replacement: true, ..(**resource).clone() };
            self.journal.set(number, Arc::new(marked))
        } else {
            self.journal.remove(number)
        });
        changes
    }
}

/// The outputs that a create or update returned. An error: the answer cannot be used.
fn returned(resource: &mut ResourceState, answer: Answer) -> Result<PropertyMap, ProviderError> {
    match answer {
        Answer::Created { id, outputs, .. } if id.is_empty() => {
            let returned = crate::update_plan::shown_value(&Value::Object(outputs));
            Err(ProviderError::new(
                ProviderErrorKind::Unreadable { returned, id },
                message![
                    "create returned no id; return ",
                    Code::CreateResult,
                    ", which is a text that names the new object"
                ],
            ))
        }
        Answer::Created { id, outputs, read_first } => {
            resource.id = id;
            resource.refresh_before_update = read_first;
            Ok(outputs)
        }
        Answer::Updated { outputs, read_first } => {
            resource.refresh_before_update = read_first;
            Ok(outputs)
        }
        _ => Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call")),
    }
}

fn finish_resource(step: &Step, resource: &mut ResourceState, mut outputs: PropertyMap, partly: bool, now: String) {
    // A plugin says itself what is secret.
    if !resource.served_by().is_plugin() {
        copy_secrets(&resource.inputs, &mut outputs);
    }
    if let (true, Op::Update, Some((_, old))) = (partly, step.op, &step.old) {
        resource.inputs = Arc::clone(&old.inputs);
    }
    resource.outputs = Some(Arc::new(outputs));
    mark_outputs(resource);
    stamp(step.op, resource, now);
}
