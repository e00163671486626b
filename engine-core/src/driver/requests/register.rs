//! The registration of a resource: from the request to what the run makes of it, and to the answer.

use std::sync::Arc;

use crate::operation::OperationKind;
use crate::plan::{Goal, RegistrationError};
use crate::served_by::ServedBy;
use crate::urn::Urn;
use crate::value::Value;
use crate::wire::{Accepts, RegisterResourceRequest, RegisterResourceResponse, RegistrationResult, encode_properties};

use crate::driver::answers::RpcError;
use crate::driver::program::bytes::ProgramBytes;
use crate::driver::registration::outcome::RegistrationOutcome;
use crate::driver::requests::ResourceRequests;

impl ResourceRequests {
    pub(super) async fn register_resource(
        &self,
        request: Box<RegisterResourceRequest>,
    ) -> Result<RegisterResourceResponse, RpcError> {
        let accepts = Accepts { secrets: request.accept_secrets, resources: request.accept_resources };
        let has_outputs = request.custom || request.remote;
        let request = self.with_functions_of_program(request);
        let (kind, name) = (request.r#type.clone(), request.name.clone());
        let partial = request.supports_partial_values;
        let bytes = ProgramBytes { taken: request.accepts_byte_string, kind: self.operation.kind };
        // In a box of its own: most programs have no transforms, and requests are many.
        let request = match self.functions.transforms_of(&request) {
            Some(transforms) => Box::new(Box::pin(self.functions.transform(*request, transforms)).await?),
            None => request,
        };
        if request.remote && self.operation.kind == OperationKind::Update {
            return Box::pin(self.construction.construct(*request, accepts, bytes)).await;
        }
        let answers_failure_with_object = request.object.is_some() && self.operation.continue_on_error;
        let refused = |reason: String| RegistrationError::undecodable(&kind, &name, &reason);
        // In a box: a request's future would have to make room for it several times over.
        let goal = Goal::decode(*request, &self.operation.project_root).map(Box::new);
        let mut goal = goal.map_err(|reason| self.reports.refuse(&refused(reason)))?;
        if self.operation.kind == OperationKind::Update {
            self.reports.counts.expect(1);
            self.functions.guard_hooks(&goal.hooks).map_err(|reason| self.reports.refuse(&refused(reason)))?;
            let completed = self.providers.complete_assets(&mut goal.inputs).await;
            completed.map_err(|reason| self.reports.refuse(&refused(reason)))?;
        }
        self.component_codes.guard_code(&goal).map_err(|reason| self.reports.refuse(&refused(reason)))?;
        self.reports.learn_secrets_of(&goal.inputs);
        let mut goal = match self.refresh_first.hold_stack(goal) {
            Ok(goal) => goal,
            Err(urn) => {
                return Ok(RegisterResourceResponse { urn: urn.to_string(), ..RegisterResourceResponse::default() });
            }
        };
        self.refresh_first.begin_with_refresh().await?;
        self.refresh_first.refresh_registered(&goal).await?;
        if goal.served_by() == Some(ServedBy::Plugin) {
            // In a box of its own, which programs of live objects alone need not pay for.
            Box::pin(self.refresh_first.refresh_where_asked(&mut goal)).await?;
        }
        if self.journal.ledger().doubts_deletions() {
            Box::pin(self.refresh_first.read_doubted(&mut goal)).await?;
        }
        let (urn, registered) = match self.operation.kind {
            OperationKind::Update => self.registration.plan_and_act(goal).await?,
            OperationKind::Refresh | OperationKind::Destroy | OperationKind::Import | OperationKind::Load => {
                self.registration.answer_from_state(&goal).await?
            }
        };
        let form = AnswerForm { accepts, has_outputs, partial, answers_failure_with_object, bytes };
        response(&urn, registered, &form).map_err(|refusal| self.reports.refuse(&refusal))
    }

    /// A component that a plugin registers, with the functions that the program gave for it.
    fn with_functions_of_program(&self, mut request: Box<RegisterResourceRequest>) -> Box<RegisterResourceRequest> {
        if request.custom || request.remote || !self.callbacks.has_for_remote() {
            return request;
        }
        let parent = (!request.parent.is_empty()).then(|| Urn::unchecked(&request.parent));
        let urn = self.planning.planner().urn_for(parent.as_ref(), &request.r#type, &request.name);
        let functions = self.callbacks.take_for_remote(&urn);
        request.transforms.extend(functions.transforms);
        request.state_migrations.extend(functions.state_migrations);
        request
    }
}

/// What a registration wants to be answered with.
struct AnswerForm {
    accepts: Accepts,
    has_outputs: bool,
    /// Does the SDK read values that are known in part?
    partial: bool,
    answers_failure_with_object: bool,
    bytes: ProgramBytes,
}

fn response(
    urn: &Urn,
    registered: RegistrationOutcome,
    wanted: &AnswerForm,
) -> Result<RegisterResourceResponse, RegistrationError> {
    let mut response = RegisterResourceResponse { urn: urn.to_string(), ..RegisterResourceResponse::default() };
    match registered {
        RegistrationOutcome::Done(resource) => {
            response.id.clone_from(&resource.id);
            let mut outputs = if wanted.has_outputs { resource.outputs_or_empty() } else { Arc::default() };
            if !wanted.partial && outputs.values().any(Value::contains_unknown) {
                Arc::make_mut(&mut outputs).retain(|_, value| !value.contains_unknown());
            }
            wanted.bytes.refuse_or_leave_out(urn, &mut outputs)?;
            response.object = Some(encode_properties(&outputs, wanted.accepts));
        }
        RegistrationOutcome::Unknown => response.unknown = true,
        RegistrationOutcome::Failed => {
            response.result = RegistrationResult::Fail as i32;
            response.object = wanted.answers_failure_with_object.then(crate::wire::Struct::default);
        }
        RegistrationOutcome::Skipped => response.result = RegistrationResult::Skip as i32,
    }
    Ok(response)
}
