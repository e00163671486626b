//! Resources that a program only looks up (docs/rules 7.1).

use std::sync::Arc;

use crate::error::Reason;
use crate::event::{Event, Op};
use crate::message;
use crate::operation::Operation;
use crate::operation::OperationKind;
use crate::plan::{
    Goal, Registration, RegistrationError, Step, hex_checksums, make_set, optional_urn, position_text,
    registered_outputs, stack_texts, take_provider, urns,
};
use crate::provider::{Answer, Method, ObjectId, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::state::ResourceNumber;
use crate::urn::Urn;
use crate::wire::{Accepts, ReadResourceRequest, ReadResourceResponse, RegistrationResult, encode_properties};

use crate::driver::answers::RpcError;
use crate::driver::call_permits::CallPermits;
use crate::driver::calls::answer_validation::no_outputs;
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::plan_keeping::PlanKeeping;
use crate::driver::planning::Planning;
use crate::driver::program::bytes::ProgramBytes;
use crate::driver::registration::RegistrationFlow;
use crate::driver::registration::component_code::ComponentCodes;
use crate::driver::reports::Reports;
use crate::driver::steps::resource_states::plugin_arguments;
use crate::driver::steps::{Outcomes, Steps};
use crate::driver::stop::{Failure, Stop};
use crate::driver::views::{CalledFor, Views};

/// Looks up objects that the program only reads.
pub(crate) struct ReadRequests {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    call_permits: Arc<CallPermits>,
    plan: Arc<PlanKeeping>,
    outcomes: Arc<Outcomes>,
    steps: Arc<Steps>,
    component_codes: Arc<ComponentCodes>,
    registration: Arc<RegistrationFlow>,
    planning: Arc<Planning>,
    journal: Arc<Journal>,
    views: Arc<Views>,
}

impl ReadRequests {
    pub(crate) fn new(
        doors: &Doors,
        outcomes: &Arc<Outcomes>,
        steps: &Arc<Steps>,
        component_codes: &Arc<ComponentCodes>,
        registration: &Arc<RegistrationFlow>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            call_permits: Arc::clone(&doors.call_permits),
            plan: Arc::clone(&doors.plan),
            outcomes: Arc::clone(outcomes),
            steps: Arc::clone(steps),
            component_codes: Arc::clone(component_codes),
            registration: Arc::clone(registration),
            planning: Arc::clone(&doors.planning),
            journal: Arc::clone(&doors.journal),
            views: Arc::clone(&doors.views),
        }
    }

    pub(crate) async fn read_resource(&self, request: ReadResourceRequest) -> Result<ReadResourceResponse, RpcError> {
        let accepts = Accepts { secrets: request.accept_secrets, resources: request.accept_resources };
        let bytes = ProgramBytes { taken: request.accepts_byte_string, kind: self.operation.kind };
        let (kind, name) = (request.r#type.clone(), request.name.clone());
        let refused = |reason: String| RegistrationError::undecodable(&kind, &name, &reason);
        let (mut goal, id) = self.read_goal(request).map_err(|reason| self.reports.refuse(&refused(reason)))?;
        self.component_codes.guard_code(&goal).map_err(|reason| self.reports.refuse(&refused(reason)))?;
        if self.operation.kind != OperationKind::Update {
            return self.answer_from_state(&goal, accepts, bytes).await;
        }
        self.reports.counts.expect(1);
        let unknown = id.is_none();
        let served_by = goal.served_by();
        if served_by == Some(ServedBy::Plugin) {
            Box::pin(self.registration.settle_package(&mut goal)).await?;
        }
        let _planning = self.planning.shared().await;
        self.reports.go_on()?;
        self.planning.refuse_late(&goal)?;
        let object = goal.object;
        let begun = self.planning.planner().begin(goal);
        let mut registration = begun.map_err(|refusal| self.reports.refuse(&refusal))?;
        let urn = registration.urn.clone();
        let looked_up = self.planning.planner().looks_up(&mut registration);
        looked_up.map_err(|refusal| self.reports.refuse(&refusal))?;
        for step in std::mem::take(&mut registration.before) {
            self.steps.act(step, None).await?;
        }
        let resolved = self.find_server(&registration, object).await?;
        let id = id.unwrap_or_default();
        if id.is_empty() && !unknown {
            return Err(self.reports.refuse(&RegistrationError::look_up_without_id(&urn)));
        }
        let takes_over = registration.old.as_ref().is_some_and(|(_, old)| !old.external && old.id != id);
        let (old, resource) = read_state(registration, &resolved, &id);
        let op = if takes_over { Op::ReadReplacement } else { Op::Read };
        let step = Step::new(op, &urn, old, Some(Arc::new(resource.clone())));
        self.plan.keep_to_plan(&step)?;
        self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
        let outcome = if unknown { Ok(resource) } else { self.look_up(resource, &resolved, id).await };
        match outcome {
            Ok(resource) => {
                let resource = self.keep_read(&step, resource);
                if takes_over {
                    // The step that is counted: the managed object goes at the end of the run.
                    self.steps.act(Step { op: Op::Replace, new: Some(Arc::clone(&resource)), ..step }, None).await?;
                }
                self.answer(&urn, Some(&resource), accepts, bytes)
            }
            Err(error) => {
                // A look-up has no way to tell the program of its failure other than to end it, also with
                // continue-on-error: without this the run would take what was not registered for unwanted.
                self.reports.failed(&step, &error);
                self.stop.fail(Failure::new(Reason::Provider, message![format!("{urn}: "), &error.message]), true);
                Err(RpcError::unavailable())
            }
        }
    }

    /// In a refresh or destroy the program only brings its live providers: it is answered with what is stored.
    async fn answer_from_state(
        &self,
        goal: &Goal,
        accepts: Accepts,
        bytes: ProgramBytes,
    ) -> Result<ReadResourceResponse, RpcError> {
        let (urn, old) = self.planning.planner().locate(goal);
        if let Some(object) = goal.object {
            let registered = self.providers.register(&urn, object).await;
            registered.map_err(|error| self.reports.fail_planning(&urn, &error))?;
        }
        self.answer(&urn, old.as_ref().map(|(_, resource)| &**resource), accepts, bytes)
    }

    /// The answer to a look-up; without the resource, where the state has none, nothing of it is known.
    fn answer(
        &self,
        urn: &Urn,
        resource: Option<&ResourceState>,
        accepts: Accepts,
        bytes: ProgramBytes,
    ) -> Result<ReadResourceResponse, RpcError> {
        let mut outputs = resource.map(ResourceState::outputs_or_empty).unwrap_or_default();
        bytes.refuse_or_leave_out(urn, &mut outputs).map_err(|refusal| self.reports.refuse(&refusal))?;
        Ok(ReadResourceResponse {
            urn: urn.to_string(),
            properties: Some(encode_properties(&outputs, accepts)),
            result: RegistrationResult::Success as i32,
            unknown: resource.is_none(),
            id: resource.map(|resource| resource.id.clone()).unwrap_or_default(),
        })
    }

    /// Finds who is asked for the object, `object` if the program passed one.
    async fn find_server(
        &self,
        registration: &Registration,
        object: Option<ObjectId>,
    ) -> Result<ResolvedProvider, RpcError> {
        let urn = &registration.urn;
        let found = match object {
            Some(object) => self.providers.register_with(urn, object, &registration.provider).await,
            None if registration.goal.code.is_some() => self.component_codes.server_of_code(urn, registration),
            None if registration.goal.served_by() == Some(ServedBy::Plugin) => {
                let provider = self.providers.plugins.of(&registration.provider).map(ResolvedProvider::plugin);
                provider.map(|provider| provider.with_extension(registration.goal.extension.clone()))
            }
            None => {
                return ResolvedProvider::built_in(&registration.goal.kind)
                    .ok_or_else(|| self.reports.refuse(&RegistrationError::look_up_without_provider(urn)));
            }
        };
        found.map_err(|error| self.reports.fail_planning(urn, &error))
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
        let _permit = self.call_permits.call_permit(&resource.urn, resolved).await?;
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
                self.outcomes.renew_outputs(&mut resource, outputs, &inputs);
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
            resource.modified = self.exchange.now();
        }
        let resource = Arc::new(resource);
        let mut changes = Vec::new();
        match old {
            Some((number, old)) if step.op == Op::ReadReplacement => {
                changes.extend(self.journal.put_replacement(Arc::clone(&resource), number, &old));
            }
            old => changes.push(self.journal.put(Arc::clone(&resource), old.map(|(number, _)| number))),
        }
        changes.extend(self.views.take_in(&step.urn, CalledFor::Step));
        if differs && !first {
            self.reports.count(step.op, &step.urn);
        }
        self.journal.append_unawaited(changes);
        self.reports.emit(Event::StepDone(step.metadata(Some(Arc::clone(&resource)))));
        self.views.tell(&step.urn);
        resource
    }
}

/// The state of an object that is looked up, before that is done, and the resource that it takes the place of.
fn read_state(
    registration: Registration,
    resolved: &ResolvedProvider,
    id: &str,
) -> (Option<(ResourceNumber, Arc<ResourceState>)>, ResourceState) {
    let Registration { urn, goal, provider, old, .. } = registration;
    let earlier = old.as_ref().map(|(_, resource)| &**resource);
    let resource = ResourceState {
        urn,
        custom: true,
        id: id.to_owned(),
        kind: goal.kind,
        inputs: Arc::new(goal.inputs),
        external: true,
        parent: goal.parent,
        dependencies: goal.dependencies,
        provider,
        additional_secret_outputs: goal.additional_secret_outputs,
        stored_provider: resolved.stored(),
        created: earlier.map(|resource| resource.created.clone()).unwrap_or_default(),
        modified: earlier.map(|resource| resource.modified.clone()).unwrap_or_default(),
        source_position: goal.source_position,
        stack_trace: goal.stack_trace,
        extension: goal.extension,
        ..ResourceState::default()
    };
    (old, resource)
}
