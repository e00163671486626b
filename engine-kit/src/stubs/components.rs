//! Components of packages in tests: they have no children, and their inputs come back as outputs.

use std::collections::BTreeMap;

use maloko_core::plugin::{PluginAnswer, PluginClient};
use maloko_core::provider::{ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_core::wire::provider::ConstructRequest;
use maloko_core::wire::{
    Accepts, RegisterResourceOutputsRequest, RegisterResourceRequest, RegisterResourceResponse, encode_properties,
};
use maloko_core::{PropertyMap, Value};
use prost::Message;

/// Registers a component as its plugin would; gives its URN.
pub(super) async fn registered(
    engine: &dyn PluginClient,
    request: &ConstructRequest,
    inputs: &PropertyMap,
) -> Result<Urn, ProviderError> {
    let asked = RegisterResourceRequest {
        r#type: request.r#type.clone(),
        name: request.name.clone(),
        parent: request.parent.clone(),
        object: Some(wire(inputs)),
        protect: request.protect,
        dependencies: request.dependencies.clone(),
        property_dependencies: request.input_dependencies.clone(),
        providers: request.providers.clone(),
        aliases: request.aliases.clone(),
        accept_secrets: true,
        accept_resources: true,
        ..RegisterResourceRequest::default()
    };
    let answer = asks(engine, "RegisterResource", &asked).await?;
    let answer = RegisterResourceResponse::decode(&answer[..]).map_err(|error| failed(&error.to_string()))?;
    Ok(Urn::unchecked(&answer.urn))
}

/// Ends the registration, and answers for the plugin.
pub(super) async fn made(
    engine: &dyn PluginClient,
    urn: Urn,
    outputs: PropertyMap,
) -> Result<PluginAnswer, ProviderError> {
    let told = RegisterResourceOutputsRequest { urn: urn.to_string(), outputs: Some(wire(&outputs)) };
    asks(engine, "RegisterResourceOutputs", &told).await?;
    Ok(PluginAnswer::Constructed { urn, outputs, dependencies: BTreeMap::new() })
}

fn wire(properties: &PropertyMap) -> maloko_core::wire::Struct {
    encode_properties(properties, Accepts { secrets: true, resources: true })
}

async fn asks(engine: &dyn PluginClient, method: &str, request: &impl Message) -> Result<Vec<u8>, ProviderError> {
    engine.answer(method, &request.encode_to_vec()).await.map_err(|(_, message)| failed(&message))
}

fn failed(message: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Raised, message.to_owned())
}

/// Properties with the values of outputs in their places.
pub(super) fn settled(properties: &PropertyMap) -> PropertyMap {
    properties.iter().map(|(key, value)| (key.clone(), settle(value))).collect()
}

fn settle(value: &Value) -> Value {
    match value {
        Value::Output(output) => {
            let inner = output.value.as_ref().map_or(Value::Unknown, settle);
            if output.secret { Value::secret(inner) } else { inner }
        }
        Value::Secret(inner) => Value::secret(settle(inner)),
        Value::Array(items) => Value::Array(items.iter().map(settle).collect()),
        Value::Object(members) => Value::Object(settled(members)),
        other => other.clone(),
    }
}
