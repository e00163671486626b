//! The program of an example: it registers resources of the plugin's type, and nothing else.

use futures::future::join_all;
use maloko_core::urn::STACK_TYPE;
use maloko_core::wire::{Accepts, RegisterResourceRequest, RegisterResourceResponse, encode_properties};
use maloko_core::{Engine, PropertyMap};
use prost::Message;

/// See the module's text.
#[derive(Clone, Default)]
pub(crate) struct Program {
    /// Their type token.
    pub(crate) kind: String,
    /// The version of the package that they ask for; empty for any.
    pub(crate) version: String,
    /// By name.
    pub(crate) resources: Vec<(String, PropertyMap)>,
    /// The id of an object that is taken over; empty for none.
    pub(crate) import: String,
    /// Are they registered at once?
    pub(crate) together: bool,
}

impl Program {
    /// Runs against an engine. A registration that fails ends the program: the engine has its error.
    pub(crate) async fn run(&self, engine: &Engine) {
        let operation = engine.operation();
        let stack = RegisterResourceRequest {
            r#type: STACK_TYPE.to_owned(),
            name: format!("{}-{}", operation.project, operation.stack),
            ..RegisterResourceRequest::default()
        };
        let Some(stack) = register(engine, &stack).await else { return };
        let requests = self.resources.iter().map(|(name, inputs)| self.request(name, inputs, &stack.urn));
        if self.together {
            let requests: Vec<_> = requests.collect();
            join_all(requests.iter().map(|request| register(engine, request))).await;
            return;
        }
        for request in requests {
            if register(engine, &request).await.is_none() {
                return;
            }
        }
    }

    fn request(&self, name: &str, inputs: &PropertyMap, stack: &str) -> RegisterResourceRequest {
        RegisterResourceRequest {
            r#type: self.kind.clone(),
            name: name.to_owned(),
            parent: stack.to_owned(),
            custom: true,
            object: Some(encode_properties(inputs, Accepts { secrets: true, resources: true })),
            accept_secrets: true,
            accept_resources: true,
            supports_partial_values: true,
            version: self.version.clone(),
            import_id: self.import.clone(),
            ..RegisterResourceRequest::default()
        }
    }
}

async fn register(engine: &Engine, request: &RegisterResourceRequest) -> Option<RegisterResourceResponse> {
    let answer = engine.rpc("RegisterResource", &request.encode_to_vec()).await.ok()?;
    RegisterResourceResponse::decode(&answer[..]).ok()
}
