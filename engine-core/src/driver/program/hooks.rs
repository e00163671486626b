//! Resource hooks and error hooks: functions of the program that are called around an operation (docs/rules 13.2, 13.3).

use crate::event::{Op, Severity, StepMetadata};
use crate::message;
use crate::message::Command;
use crate::plan::{Step, unregistered_hook};
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::resource_state::{HookMoment, Hooks, ResourceState};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::{
    Accepts, ErrorHookRequest, ErrorHookResponse, ResourceHookRequest, ResourceHookResponse, Struct, encode_properties,
};

use crate::driver::answers::RpcError;
use crate::driver::flow_states::StepState;
use crate::driver::program::Functions;
use crate::driver::program::bytes::guard_bytes;

/// How often an operation may fail before its error stands, whatever the error hooks say.
const MAX_FAILURES: usize = 100;

/// What hooks get of an operation; which bags they get depends on the moment.
#[derive(Clone, Copy)]
pub(crate) struct Occasion<'a> {
    pub(crate) old: Option<&'a ResourceState>,
    pub(crate) new: Option<&'a ResourceState>,
}

impl<'a> Occasion<'a> {
    /// The operation of a step, with the state that it led to so far. The old object of a replacement is no part of a
    /// creation.
    pub(crate) fn of(step: &'a Step, new: Option<&'a ResourceState>) -> Self {
        let old = step.old.as_ref().map(|(_, resource)| &**resource).filter(|_| step.op == Op::Update);
        Self { old, new }
    }

    fn resource(&self) -> Option<&'a ResourceState> {
        self.new.or(self.old)
    }

    fn request(&self, urn: &Urn, moment: HookMoment) -> ResourceHookRequest {
        let after = matches!(moment, HookMoment::AfterCreate | HookMoment::AfterUpdate);
        let outputs = |resource: &ResourceState| resource.outputs.as_ref().map(|outputs| bag(outputs));
        let id =
            self.new.map(|resource| &resource.id).filter(|id| !id.is_empty()).or(self.old.map(|resource| &resource.id));
        ResourceHookRequest {
            urn: urn.to_string(),
            id: id.cloned().unwrap_or_default(),
            name: urn.name().to_owned(),
            r#type: self.resource().map(|resource| resource.kind.clone()).unwrap_or_default(),
            new_inputs: self.new.map(|resource| bag(&resource.inputs)),
            old_inputs: self.old.map(|resource| bag(&resource.inputs)),
            new_outputs: self.new.filter(|_| after).and_then(outputs),
            old_outputs: self.old.and_then(outputs),
        }
    }
}

fn bag(properties: &PropertyMap) -> Struct {
    encode_properties(properties, Accepts { secrets: true, resources: true })
}

/// The moments before and after a step's operation; `None` for steps without hooks.
pub(crate) fn moments(op: Op) -> Option<(HookMoment, HookMoment)> {
    match op {
        Op::Create | Op::CreateReplacement => Some((HookMoment::BeforeCreate, HookMoment::AfterCreate)),
        Op::Update => Some((HookMoment::BeforeUpdate, HookMoment::AfterUpdate)),
        Op::Delete | Op::DeleteReplaced => Some((HookMoment::BeforeDelete, HookMoment::AfterDelete)),
        _ => None,
    }
}

impl Functions {
    /// Refuses a resource that is bound to a hook which the program has not registered.
    pub(crate) fn guard_hooks(&self, hooks: &Hooks) -> Result<(), String> {
        for (moment, names) in hooks {
            for name in names {
                let known = match moment {
                    HookMoment::OnError => self.callbacks.error_hook(name).is_some(),
                    _ => self.callbacks.hook(name).is_some(),
                };
                if !known {
                    return Err(unregistered_hook(name, moment.name()));
                }
            }
        }
        Ok(())
    }

    /// Calls the hooks of a moment, one after the other; the first one that fails ends it.
    pub(crate) async fn run_hooks(
        &self,
        urn: &Urn,
        hooks: &Hooks,
        moment: HookMoment,
        occasion: Occasion<'_>,
    ) -> Result<(), ProviderError> {
        for name in hooks.get(&moment).into_iter().flatten() {
            self.flow_states.step_at(urn, StepState::CallingHooks);
            let Some(hook) = self.callbacks.hook(name) else { return Err(missing(name, moment)) };
            if self.operation.dry_run && !hook.on_dry_run {
                continue;
            }
            let label = format!("the hook '{name}' ({})", moment.name());
            let request = occasion.request(urn, moment);
            let bags = [&request.new_inputs, &request.old_inputs, &request.new_outputs, &request.old_outputs];
            let answer: Result<ResourceHookResponse, _> = match guard_bytes(&label, &hook.function, bags) {
                Ok(()) => self.call_back(&label, &hook.function, &request).await,
                Err(refused) => Err(refused),
            };
            let failed = match answer {
                Ok(answer) if answer.error.is_empty() => continue,
                Ok(answer) => ProviderError::new(ProviderErrorKind::Hook, format!("{label} failed: {}", answer.error)),
                Err(error) => error,
            };
            if !hook.ignore_errors || failed.kind == ProviderErrorKind::Cancelled {
                return Err(failed);
            }
            self.reports.diagnose(Some(urn), Severity::Warning, failed.message);
        }
        Ok(())
    }

    /// Calls the hooks that follow a step which was done. Their failure is the run's and not the step's.
    pub(crate) async fn run_after_hooks(
        &self,
        urn: &Urn,
        hooks: &Hooks,
        moment: HookMoment,
        occasion: Occasion<'_>,
    ) -> Result<(), RpcError> {
        let Err(error) = self.run_hooks(urn, hooks, moment, occasion).await else { return Ok(()) };
        self.reports.report_failure(urn, &error, !self.operation.continue_on_error);
        self.reports.go_on()
    }

    /// Calls the hooks that follow the creation or update of a component, whose outputs are known now.
    pub(crate) async fn run_component_hooks(&self, step: &StepMetadata) -> Result<(), RpcError> {
        let (Some((_, after)), Some(new)) = (moments(step.op), &step.new) else { return Ok(()) };
        let old = step.old.as_deref().filter(|_| step.op == Op::Update);
        Box::pin(self.run_after_hooks(&step.urn, &new.hooks, after, Occasion { old, new: Some(new) })).await
    }

    /// Asks the error hooks whether an operation is to be tried again. `errors` are those so far, the newest first.
    pub(crate) async fn wants_retry(
        &self,
        urn: &Urn,
        hooks: &Hooks,
        occasion: Occasion<'_>,
        operation: &str,
        errors: &[String],
    ) -> Result<bool, ProviderError> {
        self.flow_states.step_at(urn, StepState::CallingHooks);
        let names = hooks.get(&HookMoment::OnError).map(Vec::as_slice).unwrap_or_default();
        let known = occasion.request(urn, HookMoment::OnError);
        let mut retry = false;
        for name in names {
            let Some(function) = self.callbacks.error_hook(name) else {
                return Err(missing(name, HookMoment::OnError));
            };
            let label = format!("the error hook '{name}'");
            let request = ErrorHookRequest {
                urn: known.urn.clone(),
                id: known.id.clone(),
                name: known.name.clone(),
                r#type: known.r#type.clone(),
                new_inputs: known.new_inputs.clone(),
                old_inputs: known.old_inputs.clone(),
                old_outputs: known.old_outputs.clone(),
                failed_operation: operation.to_owned(),
                errors: errors.to_vec(),
            };
            guard_bytes(&label, &function, [&request.new_inputs, &request.old_inputs, &request.old_outputs])?;
            let answer: ErrorHookResponse = self.call_back(&label, &function, &request).await?;
            if !answer.error.is_empty() {
                return Err(ProviderError::new(ProviderErrorKind::Hook, format!("{label} failed: {}", answer.error)));
            }
            retry |= answer.retry;
        }
        let failures = errors.len();
        let text = if !retry {
            return Ok(false);
        } else if failures >= MAX_FAILURES {
            format!(
                "the {operation} failed {failures} times and is not tried again, although an error hook asks for it"
            )
        } else {
            let error = errors.first().map(String::as_str).unwrap_or_default();
            format!(
                "the {operation} failed (attempt {failures} of {MAX_FAILURES}) and is tried again, because an error hook \
                 asks for it: {error}"
            )
        };
        self.reports.diagnose(Some(urn), Severity::Warning, text);
        Ok(failures < MAX_FAILURES)
    }
}

fn missing(name: &str, moment: HookMoment) -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::Hook,
        message![
            format!(
                "the resource has the hook '{name}' ({}), which the program does not register. Ways out: run the \
                 program that registers it (",
                moment.name()
            ),
            Command::new("destroy"),
            " does, unless --no-program is given); or take the hook out of the resource's options and run ",
            Command::new("up"),
            " before the resource goes"
        ],
    )
}
