//! Completing creations that an earlier run began without learning how they ended (semantics 7.4, 8.6).

use std::sync::Arc;

use crate::event::{Event, Op};
use crate::plan::{Refusal, Step, copy_secrets, mark_outputs};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::row::Row;
use crate::urn::Urn;

use super::Engine;
use super::execute::stamp;

impl Engine {
    /// Takes over the objects that interrupted creations made, by the ids that the user found.
    pub(super) async fn import_pending_creates(&self) {
        for (urn, id) in &self.operation.pending_creates {
            if self.stop.is_halted() {
                return;
            }
            let Some((operation, row)) = self.book().ledger.pending_create(urn) else {
                self.complain(&Refusal::no_pending_create(urn));
                continue;
            };
            let row = Arc::new(Row { id: id.clone(), ..(*row).clone() });
            let step = Step::new(Op::Import, urn, None, Some(row));
            self.events.emit(Event::StepStarted(step.metadata(step.new.clone())));
            match self.complete_creation(&step, urn, id, operation).await {
                Ok(Some(row)) => {
                    self.book().count(Op::Import, urn);
                    self.events.emit(Event::StepDone(step.metadata(Some(row))));
                }
                Ok(None) => {
                    self.complain(&Refusal::nothing_to_import(urn, id));
                    self.events.emit(Event::StepFailed(step.metadata(step.new.clone())));
                }
                Err(error) => {
                    self.report_failure(urn, &error, false);
                    self.events.emit(Event::StepFailed(step.metadata(step.new.clone())));
                }
            }
        }
    }

    /// The row of the object; `None` when there is none of that id, and the creation stays open.
    async fn complete_creation(
        &self,
        step: &Step,
        urn: &Urn,
        id: &str,
        operation: u32,
    ) -> Result<Option<Arc<Row>>, ProviderError> {
        let Some(intended) = &step.new else { return Ok(None) };
        let served = self.providers.resolve(intended, &self.session).await?;
        let method = Method::Read { id: id.to_owned(), props: served.shown(&intended.inputs), timeout: 0.0 };
        let answer = {
            let _turn = self
                .turn(urn, &served)
                .await
                .map_err(|_| ProviderError::new(ProviderErrorKind::Cancelled, "the run was stopped before the call"))?;
            self.call_limited(&served, urn, method, || None).await?
        };
        let Answer::Read { id, outputs: Some(mut outputs), .. } = answer else { return Ok(None) };
        if id.is_empty() {
            return Ok(None);
        }
        self.learn_secrets_of(&outputs);
        let mut row = Row { id, ..(**intended).clone() };
        copy_secrets(&row.inputs, &mut outputs);
        row.outputs = Some(Arc::new(outputs));
        mark_outputs(&mut row);
        stamp(Op::Import, &mut row);
        let row = Arc::new(row);
        let changes = {
            let mut book = self.book();
            let old = book.planner.old_row(urn).filter(|(number, _)| book.ledger.get(*number).is_some());
            let mut changes = vec![book.end(operation)];
            match old {
                // The creation was that of a replacement: its old half goes with the next update.
                Some((number, old)) if !old.pending_replacement && old.id != row.id => {
                    changes.push(book.put(Arc::clone(&row), None));
                    changes.push(book.set(number, Arc::new(Row { delete: true, ..(*old).clone() })));
                }
                old => changes.push(book.put(Arc::clone(&row), old.map(|(number, _)| number))),
            }
            changes
        };
        if !self.operation.dry_run {
            self.record(&changes).await?;
        }
        Ok(Some(row))
    }
}
