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
use crate::driver::context::Context;

impl Context {
    /// Outputs of a component, or of the stack (those are kept until the end of the run).
    pub(in crate::driver) async fn register_outputs(
        &self,
        request: RegisterResourceOutputsRequest,
    ) -> Result<(), RpcError> {
        if self.operation.kind != OperationKind::Update {
            return Ok(());
        }
        let urn = Urn::unchecked(&request.urn);
        let refused = |reason: String| RpcError::invalid(format!("outputs of '{urn}': {reason}"));
        let mut outputs = registered_outputs(request.outputs).map_err(refused)?;
        self.providers.complete_assets(&mut outputs).await.map_err(refused)?;
        if !self.run_state().with_outputs.insert(urn.clone()) {
            return Err(RpcError::invalid(format!(
                "outputs of '{urn}' are registered a second time: call registerOutputs (register_outputs) once, at the end of \
                 the constructor"
            )));
        }
        self.tell_of_inexact_numbers("outputs", &urn, &outputs);
        let old = self
            .run_state()
            .open
            .get(&urn)
            .and_then(|step| step.old.as_ref().map(|resource| resource.outputs_or_empty()));
        self.keep_outputs_to_plan(&urn, &old.unwrap_or_default(), &outputs)?;
        match self.take_outputs(&urn, outputs)? {
            None => Ok(()),
            Some(metadata) => {
                self.tell(Event::StepDone(metadata.clone()));
                self.run_component_hooks(&metadata).await
            }
        }
    }

    /// Keeps outputs that were registered. Gives the step of a component, which is done now.
    fn take_outputs(&self, urn: &Urn, outputs: PropertyMap) -> Result<Option<StepMetadata>, RpcError> {
        let mut run_state = self.run_state();
        if run_state.root.as_ref() == Some(urn) {
            run_state.stack_outputs = Some(outputs);
            return Ok(None);
        }
        // What is no target, or failed, has no state; the SDKs register its outputs all the same.
        if run_state.failed.contains(urn) || run_state.planner.is_left_out(urn) {
            return Ok(None);
        }
        let Some((number, resource)) = run_state.resource(urn).map(|(number, resource)| (number, resource.clone()))
        else {
            return Err(RpcError::invalid(format!(
                "outputs were registered for '{urn}', which is not a resource of this run"
            )));
        };
        let changed = *resource.outputs_or_empty() != outputs;
        let resource = Arc::new(ResourceState { outputs: Some(outputs.into()), ..(*resource).clone() });
        let metadata = run_state.open.remove(urn);
        if changed {
            let change = run_state.set(number, resource.clone());
            drop(run_state);
            if !self.operation.dry_run {
                self.exchange.append_unawaited(vec![change]);
            }
        } else {
            drop(run_state);
        }
        Ok(metadata.map(|metadata| StepMetadata { new: Some(resource), ..metadata }))
    }
}
