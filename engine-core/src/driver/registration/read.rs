//! Resources that a program only looks up (docs/rules 7.1).

use std::sync::Arc;

use crate::event::{Event, Op};
use crate::message;
use crate::operation::OperationKind;
use crate::plan::{
    Goal, RegistrationError, Step, hex_checksums, make_set, optional_urn, position_text, registered_outputs,
    stack_texts, take_provider, urns,
};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::urn::Urn;
use crate::wire::{Accepts, ReadResourceRequest, ReadResourceResponse, encode_properties};

use crate::driver::answers::RpcError;
use crate::driver::calls::answer_validation::no_outputs;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::context::Context;
use crate::driver::steps::resource_states::plugin_arguments;
use crate::driver::stop::Failure;

impl Context {
    pub(in crate::driver) async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<ReadResourceResponse, RpcError> {
        let accepts = Accepts { secrets: request.accept_secrets, resources: request.accept_resources };
        let (kind, name) = (request.r#type.clone(), request.name.clone());
        let refused = |reason: String| RegistrationError::undecodable(&kind, &name, &reason);
        let (mut goal, id) = self.read_goal(request).map_err(|reason| self.refuse(&refused(reason)))?;
        self.guard_code(&goal).map_err(|reason| self.refuse(&refused(reason)))?;
        if self.operation.kind != OperationKind::Update {
            let (urn, old) = self.run_state().planner.locate(&goal);
            if let Some(object) = goal.object {
                self.providers.register(&urn, object).await.map_err(|error| self.fail_planning(&urn, &error))?;
            }
            let outputs = old.map(|(_, resource)| resource.outputs_or_empty()).unwrap_or_default();
            return Ok(answer(&urn, &outputs, accepts));
        }
        let unknown = id.is_none();
        let served_by = goal.served_by();
        if served_by == Some(ServedBy::Plugin) {
            Box::pin(self.settle_package(&mut goal)).await?;
        }
        let _planning = self.planning.shared().await;
        self.go_on()?;
        self.refuse_late(&goal)?;
        let object = goal.object;
        let begun = self.run_state().planner.begin(goal);
        let mut registration = begun.map_err(|refusal| self.refuse(&refusal))?;
        let urn = registration.urn.clone();
        let looked_up = self.run_state().planner.looks_up(&mut registration);
        looked_up.map_err(|refusal| self.refuse(&refusal))?;
        for step in std::mem::take(&mut registration.before) {
            self.act(step, None).await?;
        }
        let resolved = match object {
            Some(object) => {
                let found = self.providers.register_with(&urn, object, &registration.provider).await;
                found.map_err(|error| self.fail_planning(&urn, &error))?
            }
            None if registration.goal.code.is_some() => {
                let found = self.server_of_code(&urn, &registration);
                found.map_err(|error| self.fail_planning(&urn, &error))?
            }
            None if served_by == Some(ServedBy::Plugin) => {
                let found = self.providers.plugins.of(&registration.provider);
                found.map(ResolvedProvider::plugin).map_err(|error| self.fail_planning(&urn, &error))?
            }
            None => ResolvedProvider::built_in(&registration.goal.kind)
                .ok_or_else(|| self.refuse(&RegistrationError::look_up_without_provider(&urn)))?,
        };
        let id = id.unwrap_or_default();
        if id.is_empty() && !unknown {
            return Err(self.refuse(&RegistrationError::look_up_without_id(&urn)));
        }
        let goal = registration.goal;
        let resource = ResourceState {
            urn: urn.clone(),
            custom: true,
            id: id.clone(),
            kind: goal.kind,
            inputs: Arc::new(goal.inputs),
            external: true,
            parent: goal.parent,
            dependencies: goal.dependencies,
            provider: registration.provider,
            additional_secret_outputs: goal.additional_secret_outputs,
            stored_provider: resolved.stored(),
            created: registration.old.as_ref().map(|(_, resource)| resource.created.clone()).unwrap_or_default(),
            modified: registration.old.as_ref().map(|(_, resource)| resource.modified.clone()).unwrap_or_default(),
            source_position: goal.source_position,
            stack_trace: goal.stack_trace,
            ..ResourceState::default()
        };
        let takes_over = registration.old.as_ref().is_some_and(|(_, old)| !old.external && old.id != id);
        let op = if takes_over { Op::ReadReplacement } else { Op::Read };
        let step = Step::new(op, &urn, registration.old, Some(Arc::new(resource.clone())));
        self.keep_to_plan(&step)?;
        self.tell(Event::StepStarted(step.metadata(step.new.clone())));
        let outcome = if unknown { Ok(resource) } else { self.look_up(resource, &resolved, id).await };
        match outcome {
            Ok(resource) => {
                let resource = self.keep_read(&step, resource);
                if takes_over {
                    // The step that is counted: the managed object goes at the end of the run.
                    self.act(Step { op: Op::Replace, new: Some(Arc::clone(&resource)), ..step }, None).await?;
                }
                Ok(answer(&urn, &resource.outputs_or_empty(), accepts))
            }
            Err(error) => {
                // A look-up has no way to tell the program of its failure other than to end it, also with
                // continue-on-error: without this the run would take what was not registered for unwanted.
                self.failed(&step, &error);
                self.stop.fail(Failure::new(message![format!("{urn}: "), &error.message]), true);
                Err(RpcError::unavailable())
            }
        }
    }

    fn read_goal(&self, request: ReadResourceRequest) -> Result<(Goal, Option<String>), String> {
        let root = &self.operation.project_root;
        let mut inputs = registered_outputs(request.properties)?;
        let (object, code) = take_provider(&mut inputs, &request.r#type)?;
        let mut dependencies = urns("dependsOn", &request.dependencies)?;
        make_set(&mut dependencies);
        let unknown = crate::value::UNKNOWN_TEXTS.contains(&request.id.as_str());
        let goal = Goal {
            kind: request.r#type,
            name: request.name,
            custom: true,
            package_version: request.version,
            parent: optional_urn("parent", &request.parent)?,
            inputs,
            object,
            code,
            dependencies,
            provider: request.provider,
            download_url: request.plugin_download_url,
            checksums: hex_checksums(&request.plugin_checksums),
            package_ref: request.package_ref,
            additional_secret_outputs: request.additional_secret_outputs,
            source_position: request.source_position.and_then(|at| position_text(&at, root)).unwrap_or_default(),
            stack_trace: stack_texts(request.stack_trace, root),
            ..Goal::default()
        };
        Ok((goal, (!unknown).then_some(request.id)))
    }

    async fn look_up(
        &self,
        mut resource: ResourceState,
        resolved: &ResolvedProvider,
        id: String,
    ) -> Result<ResourceState, ProviderError> {
        let method = Method::Read {
            id: id.clone(),
            props: resolved.shown(&resource.inputs),
            timeout: resource.custom_timeouts.read,
        };
        let _permit = self.call_permit(&resource.urn, resolved).await?;
        let for_plugin = plugin_arguments(resolved, &resource, &resource, self.operation.dry_run).map(Box::new);
        match self.providers.call_with(resolved, &resource.urn, method, for_plugin).await? {
            Answer::Read { id: read_id, outputs: Some(outputs), .. } => {
                if read_id.is_empty() && resolved.can_read() && outputs.is_empty() {
                    return Err(ProviderError::new(
                        ProviderErrorKind::BadReturn,
                        format!("there is no object with the id '{id}'"),
                    ));
                }
                if !read_id.is_empty() {
                    resource.id = read_id;
                }
                let inputs = Arc::clone(&resource.inputs);
                if resolved.is_plugin() {
                    // They were what the program knows of it, and are not kept.
                    resource.inputs = Arc::default();
                }
                self.renew_outputs(&mut resource, outputs, &inputs);
                Ok(resource)
            }
            Answer::Read { id: read_id, outputs: None, .. } if !read_id.is_empty() => Err(no_outputs("read")),
            _ => {
                Err(ProviderError::new(ProviderErrorKind::BadReturn, format!("there is no object with the id '{id}'")))
            }
        }
    }

    fn keep_read(&self, step: &Step, mut resource: ResourceState) -> Arc<ResourceState> {
        let old = step.old.clone();
        let first = old.is_none();
        let differs =
            old.as_ref().is_none_or(|(_, old)| old.outputs != resource.outputs || old.inputs != resource.inputs);
        if differs && old.is_some() {
            resource.modified = self.now();
        }
        let resource = Arc::new(resource);
        let mut changes = Vec::new();
        {
            let mut run_state = self.run_state();
            match old {
                Some((number, old)) if step.op == Op::ReadReplacement => {
                    changes.extend(run_state.put_replacement(Arc::clone(&resource), number, &old));
                }
                old => changes.push(run_state.put(Arc::clone(&resource), old.map(|(number, _)| number))),
            }
            if differs && !first {
                run_state.count(step.op, &step.urn);
            }
        }
        if !self.operation.dry_run {
            self.exchange.append_unawaited(changes);
        }
        self.tell(Event::StepDone(step.metadata(Some(Arc::clone(&resource)))));
        resource
    }
}

fn answer(urn: &Urn, outputs: &crate::PropertyMap, accepts: Accepts) -> ReadResourceResponse {
    ReadResourceResponse { urn: urn.to_string(), properties: Some(encode_properties(outputs, accepts)) }
}
