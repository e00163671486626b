//! The methods of the resource monitor and the engine service, by name (semantics 12.1).

use prost::Message;

use crate::event::{Event, Severity};
use crate::operation::OperationKind;
use crate::urn::Urn;
use crate::wire::{
    Accepts, DeploymentInfo, InvokeResponse, LogRequest, ReadResourceRequest, RegisterResourceOutputsRequest,
    RegisterResourceRequest, ResourceInvokeRequest, RootResource, SupportsFeatureRequest, SupportsFeatureResponse,
    encode_properties,
};

use super::register::registered_outputs;
use super::{Engine, RpcError, plain_config};

/// Features of the monitor, by id and by number of the public enumeration.
const FEATURES: [(&str, i32); 6] = [
    ("secrets", 0),
    ("resourceReferences", 1),
    ("outputValues", 2),
    ("aliasSpecs", 3),
    ("deletedWith", 5),
    ("replaceWith", 6),
];

impl Engine {
    /// Answers a request of the program: a method of the resource monitor or the engine service (semantics 12.1) by
    /// its name, with and for protobuf bytes. Takes as long as the step that it asks for. Afterwards, when the run has
    /// failed or was cancelled, every call ends with code 14.
    pub async fn rpc(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, RpcError> {
        let _flight = self.stop.enter();
        match method {
            "RegisterResource" => {
                self.go_on()?;
                let request: RegisterResourceRequest = decode(method, request)?;
                self.register_resource(request).await.map(|response| response.encode_to_vec())
            }
            "RegisterResourceOutputs" => {
                self.go_on()?;
                self.begin_with_refresh().await?;
                self.register_outputs(decode(method, request)?).await.map(|()| Vec::new())
            }
            "ReadResource" => {
                self.go_on()?;
                let request: ReadResourceRequest = decode(method, request)?;
                self.begin_with_refresh().await?;
                self.read_resource(request).await.map(|response| response.encode_to_vec())
            }
            "Invoke" => self.invoke(decode(method, request)?).map(|response| response.encode_to_vec()),
            "SignalAndWaitForShutdown" => {
                self.wind_up().await;
                Ok(Vec::new())
            }
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
                let urn = self.book().root.as_ref().map(Urn::to_string).unwrap_or_default();
                Ok(RootResource { urn }.encode_to_vec())
            }
            "SetRootResource" | "RequirePulumiVersion" | "StartDebugging" => Ok(Vec::new()),
            other => Err(RpcError {
                code: 12,
                message: format!("this version of maloko does not serve the request '{other}' of the Pulumi SDK"),
            }),
        }
    }

    fn deployment_info(&self) -> DeploymentInfo {
        let operation = &self.operation;
        DeploymentInfo {
            project: operation.project.clone(),
            stack: operation.stack.clone(),
            organization: operation.organization.clone(),
            config: plain_config(operation),
            config_secret_keys: operation.config.iter().filter(|(_, v)| v.secret).map(|(k, _)| k.clone()).collect(),
            dry_run: operation.dry_run,
            parallel: i32::try_from(operation.parallel).unwrap_or(i32::MAX),
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
        self.log(&request.urn, severity, &request.message, request.ephemeral);
    }

    /// Outputs of a component, or of the stack (those are kept until the end of the run).
    async fn register_outputs(&self, request: RegisterResourceOutputsRequest) -> Result<(), RpcError> {
        if self.operation.kind != OperationKind::Update {
            return Ok(());
        }
        let urn = Urn::unchecked(&request.urn);
        let refused = |reason: String| RpcError::invalid(format!("outputs of '{urn}': {reason}"));
        let mut outputs = registered_outputs(request.outputs).map_err(refused)?;
        self.providers.complete_assets(&mut outputs).await.map_err(refused)?;
        let mut book = self.book();
        if book.root.as_ref() == Some(&urn) {
            book.stack_outputs = Some(outputs);
            return Ok(());
        }
        if book.failed.contains(&urn) {
            return Ok(());
        }
        let Some((number, row)) = book.row(&urn).map(|(number, row)| (number, row.clone())) else {
            return Err(RpcError::invalid(format!(
                "outputs were registered for '{urn}', which is not a resource of this run"
            )));
        };
        let changed = *row.outputs_or_empty() != outputs;
        let row = std::sync::Arc::new(crate::row::Row { outputs: Some(outputs.into()), ..(*row).clone() });
        let metadata = book.open.remove(&urn);
        if changed {
            let change = book.set(number, row.clone());
            drop(book);
            if !self.operation.dry_run {
                drop(self.session.append(&[change]));
            }
        } else {
            drop(book);
        }
        if let Some(mut metadata) = metadata {
            metadata.new = Some(row);
            self.events.emit(Event::StepDone(metadata));
        }
        Ok(())
    }

    /// The functions that the engine itself serves.
    fn invoke(&self, request: ResourceInvokeRequest) -> Result<InvokeResponse, RpcError> {
        if request.tok != "pulumi:pulumi:getResource" {
            let package = request.tok.split(':').next().unwrap_or_default();
            return Err(RpcError {
                code: 12,
                message: format!(
                    "the function '{}' belongs to the package '{package}', which is not a dynamic one: maloko does not host \
                     native plugins",
                    request.tok
                ),
            });
        }
        let mut args = registered_outputs(request.args).map_err(RpcError::invalid)?;
        let urn = match args.remove("urn") {
            Some(crate::Value::String(text)) => Urn::unchecked(&text),
            _ => return Err(RpcError::invalid("getResource needs the argument 'urn'")),
        };
        let book = self.book();
        let row = book.row(&urn).map(|(_, row)| row.clone());
        drop(book);
        let Some(row) = row else {
            return Err(RpcError {
                code: 5,
                message: format!("getResource: no resource '{urn}' was registered in this run"),
            });
        };
        let answer = crate::PropertyMap::from([
            ("urn".to_owned(), crate::Value::String(urn.to_string())),
            ("id".to_owned(), crate::Value::String(row.id.clone())),
            ("provider".to_owned(), crate::Value::String(row.provider.clone())),
            ("state".to_owned(), crate::Value::Object((*row.outputs_or_empty()).clone())),
        ]);
        let accepts = Accepts { secrets: true, resources: request.accept_resources };
        Ok(InvokeResponse { r#return: Some(encode_properties(&answer, accepts)) })
    }
}

fn decode<M: Message + Default>(method: &str, request: &[u8]) -> Result<M, RpcError> {
    M::decode(request).map_err(|error| RpcError::invalid(format!("the request '{method}' cannot be decoded: {error}")))
}
