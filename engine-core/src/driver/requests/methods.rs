//! The methods of the resource monitor and the engine service, by name (docs/rules 12.1).

use std::sync::Arc;

use prost::{DecodeError, Message};

use crate::builtin::check_pulumi_version;
use crate::event::Severity;
use crate::operation::Operation;
use crate::operation::OperationKind;
use crate::plan::{RegistrationError, hex_checksums};
use crate::plugin::{PackageParameter, PackageRequest};
use crate::provider::{Extension, ExtensionParameter};
use crate::urn::Urn;
use crate::wire::{
    DeploymentInfo, LogRequest, Parameterization, ReadResourceRequest, RegisterPackageRequest, RegisterPackageResponse,
    RegisterResourceRequest, RequirePulumiVersionRequest, RootResource, SupportsFeatureRequest,
    SupportsFeatureResponse, why_unreadable,
};

use crate::driver::answers::RpcError;
use crate::driver::calls::provider_plugins::package;
use crate::driver::calls::providers::Providers;
use crate::driver::components::Components;
use crate::driver::doors::Doors;
use crate::driver::ending::finish::Finish;
use crate::driver::program::Functions;
use crate::driver::program::callbacks::Callbacks;
use crate::driver::refresh_first::RefreshFirst;
use crate::driver::registration::read::ReadRequests;
use crate::driver::reports::Reports;
use crate::driver::requests::depth::too_deep;
use crate::driver::requests::exists::ObjectLookups;
use crate::driver::requests::{FunctionCalls, ResourceRequests};
use crate::driver::stop::Stop;
use crate::driver::views::Views;

/// Features of the monitor, by id and by number of the public enumeration.
const FEATURES: [(&str, i32); 19] = [
    ("secrets", 0),
    ("resourceReferences", 1),
    ("outputValues", 2),
    ("aliasSpecs", 3),
    ("replacementTrigger", 4),
    ("deletedWith", 5),
    ("replaceWith", 6),
    ("transforms", 7),
    ("invokeTransforms", 8),
    ("parameterization", 9),
    ("resourceHooks", 10),
    ("errorHooks", 11),
    ("byteString", 13),
    ("invokeDependsOn", 14),
    ("invokeParent", 15),
    ("stateMigrations", 16),
    ("invokeOutputValues", 17),
    ("callOutputValues", 18),
    ("registerResourceOutputValues", 19),
];

/// Answers the program.
pub(crate) struct Requests {
    operation: Arc<Operation>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    callbacks: Arc<Callbacks>,
    reports: Arc<Reports>,
    functions: Arc<Functions>,
    reads: Arc<ReadRequests>,
    refresh_first: Arc<RefreshFirst>,
    registrations: Arc<ResourceRequests>,
    function_calls: Arc<FunctionCalls>,
    object_lookups: Arc<ObjectLookups>,
    finish: Arc<Finish>,
    components: Arc<Components>,
    views: Arc<Views>,
}

impl Requests {
    pub(crate) fn new(
        doors: &Doors,
        reads: &Arc<ReadRequests>,
        refresh_first: &Arc<RefreshFirst>,
        registrations: &Arc<ResourceRequests>,
        function_calls: &Arc<FunctionCalls>,
        object_lookups: &Arc<ObjectLookups>,
        finish: &Arc<Finish>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            callbacks: Arc::clone(&doors.callbacks),
            reports: Arc::clone(&doors.reports),
            functions: Arc::clone(&doors.functions),
            reads: Arc::clone(reads),
            refresh_first: Arc::clone(refresh_first),
            registrations: Arc::clone(registrations),
            function_calls: Arc::clone(function_calls),
            object_lookups: Arc::clone(object_lookups),
            finish: Arc::clone(finish),
            components: Arc::clone(&doors.components),
            views: Arc::clone(&doors.views),
        }
    }

    /// Answers a request of the program: a method of the resource monitor or the engine service (docs/rules 12.1) by
    /// its name, with and for protobuf bytes. Takes as long as the step that it asks for. Afterwards, when the run has
    /// failed or was cancelled, every call ends with code 14.
    pub(crate) async fn rpc(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, RpcError> {
        let _flight = self.stop.enter();
        self.guard_unreadable(method, request)?;
        match method {
            "RegisterResource" => {
                self.reports.go_on()?;
                let request: RegisterResourceRequest = self.decode_resource(method, request)?;
                self.registrations.register_resource(Box::new(request)).await.map(|response| response.encode_to_vec())
            }
            "RegisterResourceOutputs" => {
                self.reports.go_on()?;
                self.refresh_first.begin_with_refresh().await?;
                self.registrations.register_outputs(self.decode_resource(method, request)?).await.map(|()| Vec::new())
            }
            "ReadResource" => {
                self.reports.go_on()?;
                let request: ReadResourceRequest = self.decode_resource(method, request)?;
                self.refresh_first.begin_with_refresh().await?;
                Box::pin(self.reads.read_resource(request)).await.map(|response| response.encode_to_vec())
            }
            "ExistsResource" => {
                self.reports.go_on()?;
                let request = self.decode_resource(method, request)?;
                Box::pin(self.object_lookups.exists(request)).await.map(|response| response.encode_to_vec())
            }
            "Invoke" => {
                // In boxes, as what is rare: the future of every request would have to make room for it.
                let request = Box::pin(self.functions.transform_invoke(decode(method, request)?)).await?;
                Box::pin(self.function_calls.invoke(request)).await.map(|response| response.encode_to_vec())
            }
            "RegisterStackTransform" => {
                self.callbacks.add_stack_transform(decode(method, request)?);
                Ok(Vec::new())
            }
            "RegisterStackInvokeTransform" => {
                self.callbacks.add_invoke_transform(decode(method, request)?);
                Ok(Vec::new())
            }
            "RegisterResourceHook" => self.callbacks.add_hook(decode(method, request)?).map(|()| Vec::new()),
            "RegisterErrorHook" => self.callbacks.add_error_hook(decode(method, request)?).map(|()| Vec::new()),
            "Call" => {
                self.reports.go_on()?;
                Box::pin(self.function_calls.call_method(decode(method, request)?))
                    .await
                    .map(|response| response.encode_to_vec())
            }
            "RegisterPackage" => Ok(self.register_package(decode(method, request)?).encode_to_vec()),
            "SignalAndWaitForShutdown" => {
                Box::pin(self.finish.wind_up()).await;
                Ok(Vec::new())
            }
            "PublishViewSteps" => self.views.publish(decode(method, request)?).map(|()| Vec::new()),
            "GetDeploymentInfo" => Ok(self.deployment_info().encode_to_vec()),
            "SupportsFeature" => {
                let request: SupportsFeatureRequest = decode(method, request)?;
                let has_support = FEATURES.iter().any(|(id, _)| *id == request.id);
                Ok(SupportsFeatureResponse { has_support }.encode_to_vec())
            }
            "Log" => {
                self.log_request(&decode(method, request)?);
                Ok(Vec::new())
            }
            "GetRootResource" => {
                let urn = self.components.root().as_ref().map(Urn::to_string).unwrap_or_default();
                Ok(RootResource { urn }.encode_to_vec())
            }
            "RequirePulumiVersion" => {
                let request: RequirePulumiVersionRequest = decode(method, request)?;
                check_pulumi_version(&request.pulumi_version_range).map_err(RpcError::invalid)?;
                Ok(Vec::new())
            }
            "SetRootResource" | "StartDebugging" => Ok(Vec::new()),
            other => Err(RpcError {
                code: 12,
                message: format!("this version of maloko does not serve the request '{other}' of the Pulumi SDK"),
            }),
        }
    }

    /// Refuses a request with a secret of another stack that cannot be decrypted. Where the program only brings its providers, its
    /// values do not matter.
    fn guard_unreadable(&self, method: &str, request: &[u8]) -> Result<(), RpcError> {
        let carries_values = matches!(
            method,
            "RegisterResource" | "RegisterResourceOutputs" | "ReadResource" | "ExistsResource" | "Invoke" | "Call"
        );
        if !carries_values || self.operation.kind != OperationKind::Update {
            return Ok(());
        }
        let Some(reason) = self.operation.stacks.refusal(request) else { return Ok(()) };
        let whose = match method {
            "RegisterResource" => RegisterResourceRequest::decode(request)
                .map(|resource| format!("{} resource '{}': ", resource.r#type, resource.name))
                .unwrap_or_default(),
            _ => String::new(),
        };
        Err(self.reports.refuse(&RegistrationError::of_run(format!("{whose}{reason}"))))
    }

    /// Decodes a request that carries values; those that are too deep to be decoded end the run.
    fn decode_resource<M: Message + Default>(&self, method: &str, request: &[u8]) -> Result<M, RpcError> {
        M::decode(request).map_err(|error| match too_deep(method, request, &error) {
            Some(refusal) => self.reports.refuse(&refusal),
            None => undecodable(method, &error),
        })
    }

    fn deployment_info(&self) -> DeploymentInfo {
        let operation = &self.operation;
        DeploymentInfo {
            project: operation.project.clone(),
            stack: operation.stack.clone(),
            organization: operation.organization.clone(),
            config: operation.plain_config(),
            config_secret_keys: operation.secret_keys(),
            dry_run: operation.dry_run,
            parallel: operation.calls_at_once(),
            supported_features: FEATURES.iter().map(|(_, number)| *number).collect(),
        }
    }

    fn log_request(&self, request: &LogRequest) {
        let severity = match request.severity {
            0 => Severity::Debug,
            2 => Severity::Warning,
            3 => Severity::Error,
            _ => Severity::Info,
        };
        self.reports.log(&request.urn, severity, &request.message, request.ephemeral);
    }

    /// Takes note of a package that is made of a parameter, or of another version or place.
    fn register_package(&self, request: RegisterPackageRequest) -> RegisterPackageResponse {
        let base = (request.name.as_str(), request.version.as_str());
        let checksums = hex_checksums(&request.checksums);
        let extension = request.extension.map(|Parameterization { name, version, value }| {
            Extension::new(ExtensionParameter { name, version, value })
        });
        let made = match request.parameterization {
            None => package(base.0, base.1, &request.download_url, checksums),
            Some(made) => PackageRequest {
                parameter: Some(PackageParameter { plugin: request.name, version: request.version, value: made.value }),
                ..package(&made.name, &made.version, &request.download_url, checksums)
            },
        };
        RegisterPackageResponse { r#ref: self.providers.plugins.add_package((made, extension)) }
    }
}

fn decode<M: Message + Default>(method: &str, request: &[u8]) -> Result<M, RpcError> {
    M::decode(request).map_err(|error| undecodable(method, &error))
}

fn undecodable(method: &str, error: &DecodeError) -> RpcError {
    RpcError::invalid(format!("the request '{method}' cannot be decoded: {}", why_unreadable(error)))
}
