//! Taking one deletion step.

use std::sync::Arc;

use crate::event::{Event, IMPLIED, LEFT_BEHIND, LEFT_BEHIND_IMPLIED, Op, RETAINED};
use crate::plan::{RegistrationError, Step};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{Change, PendingKind, ResourceNumber};

use crate::driver::answers::RpcError;
use crate::driver::flow_states::StepState;
use crate::driver::program::hooks::{Occasion, moments};
use crate::driver::steps::Steps;
use crate::driver::steps::late_answers::LateOutcome;
use crate::driver::steps::resource_states::plugin_arguments;
use crate::driver::steps::write_ahead::JournalledCall;
use crate::driver::views::CalledFor;

impl Steps {
    /// Takes one deletion step; `true` when the resource is gone (or marked, where its replacement follows).
    pub(crate) async fn delete_one(&self, step: Step) -> Result<bool, RpcError> {
        self.reports.go_on()?;
        self.plan.keep_to_plan(&step)?;
        let Some((number, resource)) = step.old.clone() else { return Ok(true) };
        let step = Step { note: self.deletion_note(&step, number, &resource), ..step };
        let _flow_state = self.flow_states.step(&step.urn, step.op);
        self.reports.emit(Event::StepStarted(step.metadata(None)));
        let hooks = moments(step.op).filter(|_| !resource.hooks.is_empty());
        let occasion = Occasion { old: Some(&resource), new: None };
        if let Some((before, _)) = hooks
            && let Err(error) =
                Box::pin(self.functions.run_hooks(&resource.urn, &resource.hooks, before, occasion)).await
        {
            self.reports.failed(&step, &error);
            return Ok(false);
        }
        if step.op == Op::Delete && self.is_protected(&resource) {
            return Ok(self.refuse_protected(&step, &resource));
        }
        let without_call =
            !has_object_to_delete(&step, &resource) || matches!(step.note, RETAINED | IMPLIED | LEFT_BEHIND_IMPLIED);
        let outcome = match (without_call, self.operation.dry_run) {
            (true, _) => Ok(Vec::new()),
            (false, true) => self.providers.can_resolve(&resource).await.map(|()| Vec::new()),
            (false, false) => self.call_delete(&step, number, &resource).await,
        };
        match outcome {
            Ok(mut changes) => {
                changes.extend(self.outcomes.book_deletion(&step, number, &resource));
                self.flow_states.step_at(&step.urn, StepState::Recording);
                if let Err(error) = self.journal.record(changes).await {
                    self.reports.failed(&step, &error);
                    return Ok(false);
                }
                self.reports.emit(Event::StepDone(step.metadata(None)));
                self.views.tell(&step.urn);
                if let Some((_, after)) = hooks {
                    // It is gone all the same; the run knows of the failure.
                    let _ =
                        Box::pin(self.functions.run_after_hooks(&resource.urn, &resource.hooks, after, occasion)).await;
                }
                Ok(true)
            }
            Err(error) if error.kind == ProviderErrorKind::NoProvider => Ok(self.stays_without_provider(&step, &error)),
            Err(error) => {
                self.views
                    .take_in_alone(&step.urn, if resource.delete { CalledFor::OldObject } else { CalledFor::Step });
                self.reports.failed(&step, &error);
                self.views.tell(&step.urn);
                Ok(false)
            }
        }
    }

    /// The note of a deletion: its object stays, goes without a call of its own, or what the step says already.
    fn deletion_note(&self, step: &Step, number: ResourceNumber, resource: &ResourceState) -> &'static str {
        let is_left_behind = || self.base.resources.get(number as usize).is_some_and(|resource| resource.delete);
        if !has_object_to_delete(step, resource) {
            step.note
        } else if resource.retain_on_delete {
            RETAINED
        } else if step.op == Op::DeleteReplaced && is_left_behind() {
            if step.note == IMPLIED { LEFT_BEHIND_IMPLIED } else { LEFT_BEHIND }
        } else {
            step.note
        }
    }

    async fn call_delete(
        &self,
        step: &Step,
        number: ResourceNumber,
        resource: &Arc<ResourceState>,
    ) -> Result<Vec<Change>, ProviderError> {
        let Some(resolved) = self.providers.resolve_for_deletion(resource).await? else { return Ok(Vec::new()) };
        let method = Method::Delete {
            id: resource.id.clone(),
            props: resolved.shown(&resource.outputs_or_empty()),
            timeout: resource.custom_timeouts.delete,
        };
        let for_plugin =
            plugin_arguments(&resolved, resource, resource, false).map(|told| self.views.shown_to(resource, told));
        let call = JournalledCall {
            for_plugin: for_plugin.as_ref(),
            resolved: &resolved,
            kind: PendingKind::Deleting,
            resource,
            occasion: Occasion { old: Some(resource), new: None },
            late: &|operation| LateOutcome::Deletion { step: step.clone(), number, operation },
        };
        let (operation, answer) = self.calls.call_with_error_hooks(call, method).await?;
        if let Err(error) = &answer
            && matches!(
                error.kind,
                ProviderErrorKind::TimedOut | ProviderErrorKind::Died | ProviderErrorKind::Interrupted
            )
        {
            // The object may be gone: the operation stays pending, and the next run names it.
            return Err(error.clone());
        }
        let ended = self.journal.end(operation);
        match answer {
            Ok(Answer::Deleted) => Ok(vec![ended]),
            Ok(_) => Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call")),
            Err(error) => {
                self.journal.record(vec![ended]).await?;
                Err(error)
            }
        }
    }

    /// A protected resource stays, and the run goes on with what it does not need.
    fn refuse_protected(&self, step: &Step, resource: &ResourceState) -> bool {
        self.reports.complain(&RegistrationError::protected_deletion(&resource.urn));
        self.reports.emit(Event::StepFailed(step.metadata(None)));
        false
    }

    /// Nothing was attempted: the resource stays, and all else goes on.
    fn stays_without_provider(&self, step: &Step, error: &ProviderError) -> bool {
        self.selection.fail(step.urn.clone());
        self.reports.report_failure(&step.urn, error, false);
        self.reports.emit(Event::StepFailed(step.metadata(None)));
        false
    }

    /// Does the run refuse to delete the resource, unless it is the old object of a replacement?
    pub(crate) fn is_protected(&self, resource: &ResourceState) -> bool {
        let op = deletion_op(resource);
        resource.protect && op == Op::Delete && !self.operation.ignore_protect
    }
}

/// Does a step delete an object, and not only a component, a provider resource, or what was only looked up?
fn has_object_to_delete(step: &Step, resource: &ResourceState) -> bool {
    resource.custom && resource.urn.provider_package().is_none() && matches!(step.op, Op::Delete | Op::DeleteReplaced)
}

/// How a resource goes that is no longer wanted.
pub(crate) fn deletion_op(resource: &ResourceState) -> Op {
    match (resource, resource.delete) {
        (resource, true) if resource.external => Op::DiscardReplaced,
        (_, true) => Op::DeleteReplaced,
        (resource, false) if resource.pending_replacement => Op::RemovePendingReplace,
        (resource, false) if resource.external => Op::Discard,
        _ => Op::Delete,
    }
}
