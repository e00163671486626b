//! Taking a step: record the intent, call the provider, record the outcome. No call is made before its intent is durable.

use std::sync::Arc;

use crate::event::{Event, Op};
use crate::plan::{Step, mark_outputs, needs_marks};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{PendingKind, ResourceNumber};
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use crate::driver::answers::RpcError;
use crate::driver::calls::plugins::without_internal;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::exchange::PendingRecord;
use crate::driver::flow_states::StepState;
use crate::driver::journal::{Journal, old_object};
use crate::driver::program::hooks::{Occasion, moments};
use crate::driver::steps::Steps;
use crate::driver::steps::late_answers::LateOutcome;
use crate::driver::steps::outcomes::CallOutcome;
use crate::driver::steps::resource_states::{finished, plugin_arguments, stamp};
use crate::driver::steps::write_ahead::JournalledCall;
use crate::driver::views::called_for;

/// What a step led to.
struct StepOutcome {
    resource: Option<Arc<ResourceState>>,
    /// The outcome of a call, on its way to the disk.
    written: Option<PendingRecord>,
}

impl Steps {
    /// Takes one step of a registration. Gives the state that it led to, or `None` when it failed and the run goes on
    /// without it. `resolved` serves custom resources.
    pub(crate) async fn act(
        &self,
        step: Step,
        resolved: Option<&ResolvedProvider>,
    ) -> Result<Option<Arc<ResourceState>>, RpcError> {
        self.reports.go_on()?;
        if matches!(step.op, Op::Delete | Op::DeleteReplaced) {
            return match Box::pin(self.delete_one(step)).await? {
                true => Ok(Some(Arc::default())),
                // The program is not to wonder about outputs of a resource that the run does not come to any more.
                false if self.stop.is_halted() => Err(RpcError::unavailable()),
                false => Ok(None),
            };
        }
        self.plan.keep_to_plan(&step)?;
        // One that does nothing waits for nothing.
        let _flow_state = (step.op != Op::Same).then(|| self.flow_states.step(&step.urn, step.op));
        self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
        let outcome = match self.before(&step).await {
            Err(error) => Err(error),
            Ok(()) => self.take(&step, resolved).await,
        };
        let outcome = match outcome {
            Ok(StepOutcome { resource: Some(resource), written: Some(written) }) if resource.hooks.is_empty() => {
                let urn = step.urn.clone();
                self.reports.done_when_durable(step, Arc::clone(&resource), written);
                self.views.tell(&urn);
                return Ok(Some(resource));
            }
            Ok(StepOutcome { resource, written: Some(written) }) => {
                self.flow_states.step_at(&step.urn, StepState::Recording);
                self.journal.durable(written, resource.as_deref()).await.map(|()| resource)
            }
            Ok(StepOutcome { resource, written: None }) => Ok(resource),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(resource) => {
                self.done(&step, resource.clone());
                self.views.tell(&step.urn);
                self.after(&step, resource.as_deref()).await?;
                Ok(resource)
            }
            Err(error) => {
                self.reports.failed(&step, &error);
                self.views.tell(&step.urn);
                if self.operation.continue_on_error { Ok(None) } else { Err(RpcError::unavailable()) }
            }
        }
    }

    async fn take(&self, step: &Step, resolved: Option<&ResolvedProvider>) -> Result<StepOutcome, ProviderError> {
        let resource = match step.op {
            Op::Replace => {
                // The new state is the one of the create that goes with it, made or to be made.
                self.journal.resource(&step.urn).map(|(_, resource)| resource).or_else(|| step.new.clone())
            }
            Op::Same => self.keep(step),
            // In boxes of their own: most steps keep what is there, and the future of every registration would make room.
            Op::Import | Op::ImportReplacement => Some(Box::pin(self.outcomes.adopt(step)).await?),
            _ if self.operation.dry_run => Some(Box::pin(self.foresee(step, resolved)).await?),
            _ => return Box::pin(self.change(step, resolved)).await,
        };
        Ok(StepOutcome { resource, written: None })
    }

    /// Calls the hooks that come before a step.
    async fn before(&self, step: &Step) -> Result<(), ProviderError> {
        match (moments(step.op), &step.new) {
            (Some((before, _)), Some(new)) if !new.hooks.is_empty() => {
                Box::pin(self.functions.run_hooks(&step.urn, &new.hooks, before, Occasion::of(step, Some(new)))).await
            }
            _ => Ok(()),
        }
    }

    /// Calls the hooks that follow a step which was done; those of a component follow its outputs.
    async fn after(&self, step: &Step, resource: Option<&ResourceState>) -> Result<(), RpcError> {
        match (moments(step.op), resource) {
            (Some((_, after)), Some(resource)) if resource.custom && !resource.hooks.is_empty() => {
                Box::pin(self.functions.run_after_hooks(
                    &step.urn,
                    &resource.hooks,
                    after,
                    Occasion::of(step, Some(resource)),
                ))
                .await
            }
            _ => Ok(()),
        }
    }

    /// Counts a step and reports it. Components and the stack are reported when their outputs are known.
    fn done(&self, step: &Step, resource: Option<Arc<ResourceState>>) {
        let metadata = step.metadata(resource.clone());
        self.reports.count(step.op, &step.urn);
        if resource.is_some_and(|resource| !resource.custom) && step.op != Op::Replace {
            self.components.open(metadata);
            return;
        }
        self.reports.emit(Event::StepDone(metadata));
    }

    /// Nothing happens to the object; its state takes the new inputs and options.
    fn keep(&self, step: &Step) -> Option<Arc<ResourceState>> {
        let mut resource = Arc::clone(step.new.as_ref()?);
        if needs_marks(&resource) {
            mark_outputs(Arc::make_mut(&mut resource));
        }
        let old = step.old.as_ref();
        self.views.keep(&resource, old.map_or(&resource.urn, |(_, old)| &old.urn));
        let in_place_of = old.map(|(number, _)| *number);
        // Its new URN must survive a crash, for what comes after it refers to it. So must what it refers to from now on:
        // what it no longer needs may be deleted by this very run, and a resource that refers to nothing is not sound.
        let differs = |old: &ResourceState| old.urn != resource.urn || !old.refers_as(&resource);
        let moves = old.is_some_and(|(_, old)| differs(old));
        if moves {
            let change = self.journal.put(Arc::clone(&resource), in_place_of);
            self.journal.append_unawaited(vec![change]);
        } else {
            self.journal.keep(Arc::clone(&resource), in_place_of);
        }
        Some(resource)
    }

    /// What a preview shows of a step: the inputs, and the outputs that are known to stay.
    async fn foresee(
        &self,
        step: &Step,
        resolved: Option<&ResolvedProvider>,
    ) -> Result<Arc<ResourceState>, ProviderError> {
        let mut resource = finished(step)?;
        if let Some(resolved) = resolved.filter(|resolved| resolved.is_plugin()) {
            // In a box of its own: previews of live objects have nothing to wait for.
            resource.outputs = Some(Arc::new(Box::pin(self.ask_preview(step, &resource, resolved)).await?));
        } else if resource.urn.provider_package().is_some() {
            resource.outputs = Some(Arc::new(without_internal(&resource.inputs)));
        } else if resource.custom {
            let mut outputs = (*resource.inputs).clone();
            crate::builtin::foresee(&resource.kind, &mut outputs);
            if let (Op::Update, Some((_, old))) = (step.op, &step.old) {
                for (key, value) in old.outputs_or_empty().iter() {
                    if step.stables.contains(key) {
                        outputs.insert(key.clone(), value.clone());
                    }
                }
            }
            resource.outputs = Some(Arc::new(outputs));
        }
        mark_outputs(&mut resource);
        let resource = Arc::new(resource);
        match &step.old {
            // As in the run itself, the old object waits for its deletion, so that the preview tells of that too.
            Some((number, old))
                if step.op == Op::CreateReplacement && leaves_old(&self.journal, &resource, *number, old) =>
            {
                self.journal.keep(Arc::clone(&resource), None);
                let waiting =
                    ResourceState { pending_replacement: false, ..old_object(old, resource.retain_on_delete) };
                self.journal.set(*number, Arc::new(waiting));
            }
            old => self.journal.keep(Arc::clone(&resource), old.as_ref().map(|(number, _)| *number)),
        }
        // Nothing of a preview is journalled.
        self.views.take_in_alone(&step.urn, called_for(step.op));
        Ok(resource)
    }

    /// The outputs that a plugin foresees.
    async fn ask_preview(
        &self,
        step: &Step,
        resource: &ResourceState,
        resolved: &ResolvedProvider,
    ) -> Result<PropertyMap, ProviderError> {
        let inputs = (*resource.inputs).clone();
        let old = step.old.as_ref().filter(|_| step.op == Op::Update).map(|(_, old)| &**old);
        let method = match old {
            Some(old) => Method::Update {
                id: old.id.clone(),
                olds: (*old.outputs_or_empty()).clone(),
                news: inputs,
                timeout: resource.custom_timeouts.update,
            },
            None => Method::Create { inputs, key: String::new(), timeout: resource.custom_timeouts.create },
        };
        let for_plugin = plugin_arguments(resolved, old.unwrap_or(resource), resource, true)
            .map(|told| match old {
                Some(old) => self.views.shown_to(old, told),
                None => told,
            })
            .map(Box::new);
        let _permit = self.call_permits.call_permit(&resource.urn, resolved).await?;
        self.flow_states.step_at(&resource.urn, StepState::Calling);
        match self.providers.call_with(resolved, &resource.urn, method, for_plugin).await? {
            Answer::Created { outputs, .. } | Answer::Updated { outputs, .. } => {
                self.reports.learn_secrets_of(&outputs);
                Ok(outputs)
            }
            _ => Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call")),
        }
    }

    /// A create or update of what has no object: a component's state, or a provider's.
    fn change_resource(&self, step: &Step, mut resource: ResourceState) -> StepOutcome {
        if resource.urn.provider_package().is_some() {
            if resource.id.is_empty() {
                resource.id = self.journal.new_key();
            }
            resource.outputs = Some(Arc::new(without_internal(&resource.inputs)));
        }
        stamp(step.op, &mut resource, self.exchange.now());
        let resource = Arc::new(resource);
        let changes = match &step.old {
            // What the old provider made is deleted by it.
            Some((number, old))
                if step.op == Op::CreateReplacement
                    && resource.urn.provider_package().is_some()
                    && self.journal.is_needed_provider(*number, old) =>
            {
                let old = ResourceState { pending_replacement: false, ..(**old).clone() };
                self.journal.put_replacement(Arc::clone(&resource), *number, &old).to_vec()
            }
            old => vec![self.journal.put(Arc::clone(&resource), old.as_ref().map(|(number, _)| *number))],
        };
        // No side effect: it may become durable together with whatever comes next.
        self.journal.append_unawaited(changes);
        StepOutcome { resource: Some(resource), written: None }
    }

    /// A create or update: of an object, a component, or a provider resource.
    async fn change(&self, step: &Step, resolved: Option<&ResolvedProvider>) -> Result<StepOutcome, ProviderError> {
        // In a box from the start: the future would have to make room for the resource as long as the call takes.
        let resource = Box::new(finished(step)?);
        let resolved = resolved.filter(|_| resource.custom && resource.urn.provider_package().is_none());
        let Some(resolved) = resolved else { return Ok(self.change_resource(step, *resource)) };
        let updating = step.op == Op::Update;
        let inputs = resolved.shown(&resource.inputs);
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
                timeout: resource.custom_timeouts.update,
            },
            _ => Method::Create {
                inputs,
                key: self.key_for(resolved, &resource.urn),
                timeout: resource.custom_timeouts.create,
            },
        };
        let kind = if updating { PendingKind::Updating } else { PendingKind::Creating };
        let resource: Arc<ResourceState> = resource.into();
        let old = step.old.as_ref().filter(|_| updating).map(|(_, old)| &**old);
        let for_plugin = plugin_arguments(resolved, old.unwrap_or(&resource), &resource, false).map(|told| match old {
            Some(old) => self.views.shown_to(old, told),
            None => told,
        });
        let call = JournalledCall {
            for_plugin: for_plugin.as_ref(),
            resolved,
            kind,
            resource: &resource,
            occasion: Occasion::of(step, Some(&resource)),
            late: &|operation| LateOutcome::Change { step: step.clone(), resource: Arc::clone(&resource), operation },
        };
        let (operation, answer) = self.calls.call_with_error_hooks(call, method).await?;
        let resource = Arc::unwrap_or_clone(resource);
        let CallOutcome { resource, error, written } = self.outcomes.record(step, resource, answer, operation).await?;
        match error {
            None => Ok(StepOutcome { resource: Some(resource), written: Some(written) }),
            Some(error) => self.journal.durable(written, Some(&resource)).await.and(Err(error)),
        }
    }

    /// The operation key of a create; what the engine serves itself makes nothing outside of the state.
    fn key_for(&self, resolved: &ResolvedProvider, urn: &Urn) -> String {
        if resolved.is_built_in() { String::new() } else { self.journal.operation_key(urn) }
    }
}

/// Does a replacement leave the old resource, to be deleted later?
fn leaves_old(journal: &Journal, resource: &ResourceState, number: ResourceNumber, old: &ResourceState) -> bool {
    if resource.urn.provider_package().is_some() {
        journal.is_needed_provider(number, old)
    } else {
        !journal.is_pending(number)
    }
}
