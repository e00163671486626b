//! Methods of resources, which the plugins of their packages serve.

use crate::builtin;
use crate::message;
use crate::plan::{RegistrationError, function_not_hosted, hex_checksums};
use crate::plugin::{PluginAnswer, PluginQuestion};
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::urn::{Urn, package_of};
use crate::value::{PropertyMap, ResourceReference, Value, refuse_bytes};
use crate::wire::provider::CallRequest;
use crate::wire::{
    Accepts, InvokeFailure, ResourceCallRequest, ResourceCallResponse, decode_properties, encode_outputs,
    encode_properties, lower,
};

use crate::driver::answers::RpcError;
use crate::driver::calls::provider_resources::wrong_answer;
use crate::driver::requests::{FunctionCalls, reasons_of_no_property};

/// What begins the tokens of methods of provider resources.
const PROVIDERS: &str = "pulumi:providers:";

impl FunctionCalls {
    /// Calls a method of a resource, in previews as well. What goes wrong ends the run; what is wrong with the arguments is
    /// the program's to deal with.
    pub(super) async fn call_method(&self, request: ResourceCallRequest) -> Result<ResourceCallResponse, RpcError> {
        let of_provider = request.tok.strip_prefix(PROVIDERS);
        if of_provider.is_none() && package_of(&request.tok) == builtin::PACKAGE {
            let message = function_not_hosted(&request.tok, &request.version);
            return Err(RpcError { code: 12, message });
        }
        let arguments = decode_properties(request.args.clone().unwrap_or_default()).map_err(RpcError::invalid)?;
        let mut plain = arguments.clone();
        for value in plain.values_mut() {
            lower(value, &mut Vec::new());
        }
        self.reports.learn_secrets_of(&plain);
        let token = request.tok.clone();
        let failed = |error: ProviderError| {
            if error.kind == ProviderErrorKind::Cancelled {
                return RpcError::unavailable();
            }
            let reason = message![format!("call to function '{token}' failed: "), &error.message];
            self.reports.refuse(&RegistrationError::of_run(reason))
        };
        let provider = self.provider_asked(of_provider.is_some(), receiver(&plain), &request.provider);
        let package = self.provider_plugins.package_asked_for(
            &request.package_ref,
            of_provider.map_or_else(|| package_of(&token), |rest| rest.split('/').next().unwrap_or_default()),
            &request.version,
            &request.plugin_download_url,
            hex_checksums(&request.plugin_checksums),
        )?;
        let resolved = self.registration.plugin_for_function(&provider, package, &token).await?;
        let (accepts_output_values, takes_bytes) = (request.accept_output_values, request.accepts_byte_string);
        let question = PluginQuestion::Call { request: Box::new(self.plugin_call_request(request)), arguments };
        let (result, return_dependencies, failures) =
            match self.providers.ask_plugin_until(self.stop.wait(), &resolved, question).await.map_err(failed)? {
                Some(PluginAnswer::Called { result, dependencies, failures }) => (result, dependencies, failures),
                Some(_) => return Err(failed(wrong_answer())),
                // Its configuration is not known yet.
                None => Default::default(),
            };
        self.reports.learn_secrets_of(&result);
        if let Some(reasons) = reasons_of_no_property(&failures) {
            return Err(RpcError { code: 2, message: format!("call to function '{token}' failed: {reasons}") });
        }
        if !takes_bytes {
            refuse_bytes(&result).map_err(|reason| {
                let message = format!("the result of {token}: the program's SDK {reason}");
                self.reports.refuse(&RegistrationError::of_run(message))
            })?;
        }
        let failures = failures.into_iter().map(|it| InvokeFailure { property: it.property, reason: it.reason });
        let returned = if accepts_output_values {
            let urns_of = |key: &str| return_dependencies.get(key).map(|it| it.urns.as_slice()).unwrap_or_default();
            encode_outputs(&result, urns_of)
        } else {
            encode_properties(&result, Accepts { secrets: true, resources: true })
        };
        Ok(ResourceCallResponse { r#return: Some(returned), return_dependencies, failures: failures.collect() })
    }

    /// The reference of the provider resource whose plugin has the method: the receiver itself where the method is one of providers,
    /// else the one that the program names, else the one that made the receiver.
    fn provider_asked(&self, of_provider: bool, receiver: Option<&ResourceReference>, named: &str) -> String {
        match receiver {
            Some(receiver) if of_provider => {
                format!("{}::{}", receiver.urn, receiver.id.as_deref().unwrap_or_default())
            }
            _ if !named.is_empty() => named.to_owned(),
            receiver => receiver.and_then(|receiver| self.provider_that_serves(&receiver.urn)).unwrap_or_default(),
        }
    }

    /// The provider resource that made a resource or a component of this run, by its reference.
    fn provider_that_serves(&self, urn: &Urn) -> Option<String> {
        let of_component = self.providers.plugins.provider_of_component(urn);
        of_component.or_else(|| {
            let resource = self.journal.resource(urn);
            resource.map(|(_, resource)| resource.provider.clone()).filter(|provider| !provider.is_empty())
        })
    }

    fn plugin_call_request(&self, request: ResourceCallRequest) -> CallRequest {
        let operation = &self.operation;
        CallRequest {
            tok: request.tok,
            arg_dependencies: request.arg_dependencies,
            project: operation.project.clone(),
            stack: operation.stack.clone(),
            organization: operation.organization.clone(),
            config: operation.plain_config(),
            config_secret_keys: operation.secret_keys(),
            dry_run: operation.dry_run,
            parallel: operation.calls_at_once(),
            accepts_output_values: true,
            ..CallRequest::default()
        }
    }
}

/// The resource whose method is called.
fn receiver(arguments: &PropertyMap) -> Option<&ResourceReference> {
    match arguments.get("__self__")? {
        Value::Resource(reference) => Some(reference),
        Value::Secret(inner) => match &**inner {
            Value::Resource(reference) => Some(reference),
            _ => None,
        },
        _ => None,
    }
}
