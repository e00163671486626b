//! Taking one deletion step.

use std::sync::Arc;

use crate::event::{Event, Op};
use crate::fail_points;
use crate::plan::{IMPLIED, RegistrationError, Step};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{Change, PendingKind, ResourceNumber};

use crate::driver::answers::RpcError;
use crate::driver::context::Context;
use crate::driver::context::late_calls::LateOutcome;
use crate::driver::program::hooks::{Occasion, moments};
use crate::driver::steps::rows::plugin_arguments;
use crate::driver::steps::write_ahead::Journalled;

impl Context {
    /// Takes one deletion step; `true` when the row is gone (or marked, where its replacement follows).
    pub(in crate::driver) async fn delete_one(&self, step: Step) -> Result<bool, RpcError> {
        self.go_on()?;
        self.keep_to_plan(&step)?;
        let Some((number, row)) = step.old.clone() else { return Ok(true) };
        self.tell(Event::StepStarted(step.metadata(None)));
        let hooks = moments(step.op).filter(|_| !row.hooks.is_empty());
        let occasion = Occasion { old: Some(&row), new: None };
        if let Some((before, _)) = hooks
            && let Err(error) = Box::pin(self.run_hooks(&row.urn, &row.hooks, before, occasion)).await
        {
            self.failed(&step, &error);
            return Ok(false);
        }
        if step.op == Op::Delete && self.is_protected(&row) {
            return Ok(self.refuse_protected(&step, &row));
        }
        let without_call = !row.custom
            || row.urn.provider_package().is_some()
            || (row.retain_on_delete
                && !(step.op == Op::DeleteReplaced && fail_points::is_on("planted::retain-ignored-for-old-object")))
            || step.note == IMPLIED
            || !matches!(step.op, Op::Delete | Op::DeleteReplaced);
        let outcome = match (without_call, self.operation.dry_run) {
            (true, _) => Ok(Vec::new()),
            (false, true) => self.providers.can_resolve(&row).await.map(|()| Vec::new()),
            (false, false) => self.call_delete(&step, number, &row).await,
        };
        match outcome {
            Ok(mut changes) => {
                changes.push(self.book_deletion(&step, number, &row));
                if !self.operation.dry_run
                    && let Err(error) = self.record(changes).await
                {
                    self.failed(&step, &error);
                    return Ok(false);
                }
                self.tell(Event::StepDone(step.metadata(None)));
                if let Some((_, after)) = hooks {
                    // It is gone all the same; the run knows of the failure.
                    let _ = Box::pin(self.run_after_hooks(&row.urn, &row.hooks, after, occasion)).await;
                }
                Ok(true)
            }
            Err(error) if error.kind == ProviderErrorKind::NoProvider => {
                // Nothing was attempted: the resource stays, and all else goes on.
                self.run_state().failed.insert(step.urn.clone());
                self.report_failure(&step.urn, &error, false);
                self.tell(Event::StepFailed(step.metadata(None)));
                Ok(false)
            }
            Err(error) => {
                self.failed(&step, &error);
                Ok(false)
            }
        }
    }

    async fn call_delete(
        &self,
        step: &Step,
        number: ResourceNumber,
        row: &Arc<ResourceState>,
    ) -> Result<Vec<Change>, ProviderError> {
        let resolved = self.providers.resolve(row).await?;
        let method = Method::Delete {
            id: row.id.clone(),
            props: resolved.shown(&row.outputs_or_empty()),
            timeout: row.custom_timeouts.delete,
        };
        let for_plugin = plugin_arguments(&resolved, row, row, false);
        let call = Journalled {
            for_plugin: for_plugin.as_ref(),
            resolved: &resolved,
            kind: PendingKind::Deleting,
            row,
            occasion: Occasion { old: Some(row), new: None },
            late: &|operation| LateOutcome::Deletion { step: step.clone(), number, operation },
        };
        let (operation, answer) = self.call_retried(call, method).await?;
        if let Err(error) = &answer
            && matches!(
                error.kind,
                ProviderErrorKind::TimedOut | ProviderErrorKind::Died | ProviderErrorKind::Interrupted
            )
        {
            // The object may be gone: the operation stays pending, and the next run names it.
            return Err(error.clone());
        }
        let ended = self.run_state().end(operation);
        match answer {
            Ok(Answer::Deleted) => Ok(vec![ended]),
            Ok(_) => Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call")),
            Err(error) => {
                self.record(vec![ended]).await?;
                Err(error)
            }
        }
    }

    /// A protected resource stays, and the run goes on with what it does not need.
    fn refuse_protected(&self, step: &Step, row: &ResourceState) -> bool {
        self.complain(&RegistrationError::protected_deletion(&row.urn));
        self.tell(Event::StepFailed(step.metadata(None)));
        false
    }

    /// Does the run refuse to delete the row, unless it is the old object of a replacement?
    pub(in crate::driver) fn is_protected(&self, row: &ResourceState) -> bool {
        let op = deletion_op(row);
        row.protect && op == Op::Delete && !self.operation.ignore_protect
    }
}

/// How a row goes that is no longer wanted.
pub(in crate::driver) fn deletion_op(row: &ResourceState) -> Op {
    match (row, row.delete) {
        (row, true) if row.external => Op::DiscardReplaced,
        (_, true) => Op::DeleteReplaced,
        (row, false) if row.pending_replacement => Op::RemovePendingReplace,
        (row, false) if row.external => Op::Discard,
        _ => Op::Delete,
    }
}
