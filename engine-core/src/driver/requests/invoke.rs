//! Functions of packages, which plugins serve, and of the engine itself.

use crate::builtin;
use crate::operation::OperationKind;
use crate::plan::{function_not_hosted, hex_checksums};
use crate::plugin::{PluginAnswer, PluginQuestion};
use crate::provider::ProviderError;
use crate::served_by::{ServedBy, served_by};
use crate::urn::{Urn, package_of};
use crate::value::{PropertyMap, Value, refuse_bytes};
use crate::wire::{
    Accepts, InvokeFailure, InvokeResponse, ResourceInvokeRequest, Struct, decode_properties, encode_outputs,
    encode_properties, lower,
};

use crate::driver::answers::RpcError;
use crate::driver::journal::Journal;
use crate::driver::outside_calls::Function;
use crate::driver::requests::{FunctionCalls, reasons_of_no_property};

impl FunctionCalls {
    /// Answers the call of a function. Its result is unknown while something that it depends on is not there.
    pub(crate) async fn invoke(&self, mut request: ResourceInvokeRequest) -> Result<InvokeResponse, RpcError> {
        let (arguments, computed_from) = lowered(request.args.take()).map_err(RpcError::invalid)?;
        // By name, as the program names what it waits for: both have to be there.
        request.depends_on.extend(computed_from);
        let found = builtin::resource_wanted(&request.tok, &arguments)
            .and_then(|urn| self.journal.resource(&urn).map(|(_, resource)| resource));
        if request.depends_on.iter().any(|urn| self.is_pending(&Urn::unchecked(urn))) {
            return Ok(InvokeResponse { unknown: true, ..InvokeResponse::default() });
        }
        if served_by(&request.tok) == ServedBy::Plugin {
            return self.invoke_plugin(&request, arguments).await;
        }
        let Some(called) = self.exchange.ask(Function { token: request.tok.clone(), arguments, found }).await else {
            let message = function_not_hosted(&request.tok, &request.version);
            return Err(RpcError { code: 12, message });
        };
        let answer = called.map_err(|message| RpcError { code: 5, message })?;
        self.reports.learn_secrets_of(&answer);
        Ok(InvokeResponse { r#return: Some(returned(&request, &answer)?), ..InvokeResponse::default() })
    }

    /// A function of a package, which its plugin serves. It is called in previews as well.
    async fn invoke_plugin(
        &self,
        request: &ResourceInvokeRequest,
        arguments: PropertyMap,
    ) -> Result<InvokeResponse, RpcError> {
        let package = self.provider_plugins.package_asked_for(
            &request.package_ref,
            package_of(&request.tok),
            &request.version,
            &request.plugin_download_url,
            hex_checksums(&request.plugin_checksums),
        )?;
        let of_parent = || {
            let parent = (!request.parent.is_empty()).then(|| Urn::unchecked(&request.parent))?;
            self.planning.planner().provider_of_parent(Some(&parent), &package.0.name)
        };
        let named = (!request.provider.is_empty()).then(|| request.provider.clone());
        let provider = named.or_else(of_parent).unwrap_or_default();
        let resolved = self.registration.plugin_for_function(&provider, package, &request.tok).await?;
        let failed = |error: ProviderError| RpcError {
            code: 2,
            message: format!("invocation of {} returned an error: {}", request.tok, error.message),
        };
        let preview = self.operation.dry_run;
        let question = PluginQuestion::Invoke { token: request.tok.clone(), arguments, preview };
        let (result, failures) = match self.providers.ask_plugin(&resolved, question).await.map_err(failed)? {
            Some(PluginAnswer::Returned { result, failures }) => (result, failures),
            // Its configuration is not known yet.
            _ => (PropertyMap::new(), Vec::new()),
        };
        self.reports.learn_secrets_of(&result);
        if let Some(reasons) = reasons_of_no_property(&failures) {
            let message = format!("invocation of {} returned an error: {reasons}", request.tok);
            return Err(RpcError { code: 2, message });
        }
        let failures = failures.into_iter().map(|it| InvokeFailure { property: it.property, reason: it.reason });
        Ok(InvokeResponse { r#return: Some(returned(request, &result)?), failures: failures.collect(), unknown: false })
    }

    /// Is a resource that the program registered not there yet? A component is there with the objects below it.
    fn is_pending(&self, urn: &Urn) -> bool {
        if !matches!(self.operation.kind, OperationKind::Update | OperationKind::Import) {
            return false;
        }
        match self.journal.resource(urn) {
            Some((_, resource)) if resource.custom => resource.id.is_empty(),
            Some(_) => self.planning.planner().all_seen().any(|other| {
                let is_made = self
                    .journal
                    .resource(other)
                    .is_none_or(|(_, resource)| !resource.custom || !resource.id.is_empty());
                !is_made && is_below(&self.journal, other, urn)
            }),
            // It failed, or is left out. What the run does not know is none of its resources.
            None => self.planning.planner().is_seen(urn),
        }
    }
}

/// Arguments as plain values, and the resources that they were computed from.
fn lowered(arguments: Option<Struct>) -> Result<(PropertyMap, Vec<String>), String> {
    let mut arguments = decode_properties(arguments.unwrap_or_default())?;
    let mut found = Vec::new();
    for value in arguments.values_mut() {
        lower(value, &mut found);
    }
    arguments.retain(|_, value| !matches!(value, Value::Sealed(_)));
    Ok((arguments, found.iter().map(Urn::to_string).collect()))
}

/// The result in the form that the program reads. It depends on all that the call depended on.
fn returned(request: &ResourceInvokeRequest, result: &PropertyMap) -> Result<Struct, RpcError> {
    if !request.accepts_byte_string {
        refuse_bytes(result).map_err(|reason| RpcError {
            code: 2,
            message: format!("the result of {}: the program's SDK {reason}", request.tok),
        })?;
    }
    if request.accept_output_values {
        return Ok(encode_outputs(result, |_| &request.depends_on));
    }
    Ok(encode_properties(result, Accepts { secrets: true, resources: request.accept_resources }))
}

/// Is a resource of this run below another one?
fn is_below(journal: &Journal, urn: &Urn, above: &Urn) -> bool {
    let parent_of = |urn: &Urn| journal.resource(urn).and_then(|(_, resource)| resource.parent.clone());
    std::iter::successors(parent_of(urn), parent_of).any(|parent| parent == *above)
}
