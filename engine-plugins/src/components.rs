//! The components that a plugin makes, and the methods of its resources.

use maloko_core::PropertyMap;
use maloko_core::plugin::PluginAnswer;
use maloko_core::provider::{ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_core::wire::provider as wire;

use crate::answers::outputs_in;
use crate::provider::{CallResult, RunningPlugin, bad_return, failures};

impl RunningPlugin {
    /// Has the plugin make a component. It registers that, and what is in it, before it answers.
    pub(crate) async fn construct(
        &self,
        request: wire::ConstructRequest,
        inputs: &PropertyMap,
    ) -> CallResult<PluginAnswer> {
        let features = self.features();
        if !features.secrets {
            let message = "its plugin takes no secrets, and only those that do can make components";
            return Err(ProviderError::new(ProviderErrorKind::NoMethod, message));
        }
        let preview = request.dry_run;
        let inputs = features.with_outputs(inputs, &request.input_dependencies)?;
        let asked = wire::ConstructRequest { inputs: Some(inputs), ..request };
        let answer: wire::ConstructResponse = self.rpc("Construct", &asked, false).await?;
        let read = outputs_in(answer.state, answer.state_dependencies, preview);
        let (outputs, dependencies) = read.map_err(bad_return("the component"))?;
        Ok(PluginAnswer::Constructed { urn: Urn::unchecked(&answer.urn), outputs, dependencies })
    }

    /// Calls a method of a resource.
    pub(crate) async fn call_method(
        &self,
        request: wire::CallRequest,
        arguments: &PropertyMap,
    ) -> CallResult<PluginAnswer> {
        // Whatever the plugin understands: what it is given for a method keeps its secrets and references.
        let features = crate::answers::Features { secrets: true, resources: true, ..self.features() };
        let preview = request.dry_run;
        let args = features.with_outputs(arguments, &std::collections::BTreeMap::new())?;
        let asked = wire::CallRequest { args: Some(args), ..request };
        let answer: wire::CallResponse = self.rpc("Call", &asked, false).await?;
        let read = outputs_in(answer.r#return, answer.return_dependencies, preview);
        let (result, dependencies) = read.map_err(bad_return("the method"))?;
        Ok(PluginAnswer::Called { result, dependencies, failures: failures(answer.failures) })
    }
}
