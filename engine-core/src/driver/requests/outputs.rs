//! The outputs of components and of the stack, as the program registers them.

use std::sync::Arc;

use crate::event::{Event, StepMetadata};
use crate::operation::OperationKind;
use crate::plan::registered_outputs;
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::RegisterResourceOutputsRequest;

use crate::driver::answers::RpcError;
use crate::driver::registration::numbers::tell_of_inexact_numbers;
use crate::driver::requests::ResourceRequests;

impl ResourceRequests {
    /// Outputs of a component, or of the stack (those are kept until the end of the run).
    pub(crate) async fn register_outputs(&self, request: RegisterResourceOutputsRequest) -> Result<(), RpcError> {
        if self.operation.kind != OperationKind::Update {
            return Ok(());
        }
        let urn = Urn::unchecked(&request.urn);
        let refused = |reason: String| RpcError::invalid(format!("outputs of '{urn}': {reason}"));
        let mut outputs = registered_outputs(request.outputs).map_err(refused)?;
        self.providers.complete_assets(&mut outputs).await.map_err(refused)?;
        if !self.components.register_outputs(&urn) {
            return Err(RpcError::invalid(format!(
                "outputs of '{urn}' are registered a second time: call registerOutputs (register_outputs) once, at the end of \
                 the constructor"
            )));
        }
        tell_of_inexact_numbers(&self.reports, "outputs", &urn, &outputs);
        let old = self.components.find(&urn).and_then(|step| step.old).map(|resource| resource.outputs_or_empty());
        self.plan.keep_outputs_to_plan(&urn, &old.unwrap_or_default(), &outputs)?;
        match self.take_outputs(&urn, outputs)? {
            None => Ok(()),
            Some(metadata) => {
                self.reports.emit(Event::StepDone(metadata.clone()));
                self.functions.run_component_hooks(&metadata).await
            }
        }
    }

    /// Keeps outputs that were registered. Gives the step of a component, which is done now.
    fn take_outputs(&self, urn: &Urn, outputs: PropertyMap) -> Result<Option<StepMetadata>, RpcError> {
        if self.components.root().as_ref() == Some(urn) {
            self.components.keep_stack_outputs(outputs);
            return Ok(None);
        }
        // What is no target, or failed, has no state; the SDKs register its outputs all the same.
        if self.selection.failed().contains(urn) || self.planning.planner().is_left_out(urn) {
            return Ok(None);
        }
        let Some((number, resource)) = self.journal.resource(urn) else {
            return Err(RpcError::invalid(format!(
                "outputs were registered for '{urn}', which is not a resource of this run"
            )));
        };
        let changed = *resource.outputs_or_empty() != outputs;
        let resource = Arc::new(ResourceState { outputs: Some(outputs.into()), ..(*resource).clone() });
        let metadata = self.components.close(urn);
        if changed {
            let change = self.journal.set(number, resource.clone());
            self.journal.append_unawaited(vec![change]);
        }
        Ok(metadata.map(|metadata| StepMetadata { new: Some(resource), ..metadata }))
    }
}
