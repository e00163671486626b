//! The functions of the built-in package.

use std::sync::Arc;

use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use super::{OtherStacks, stack_reference};

/// Gives the state of a resource of this run.
pub const GET_RESOURCE: &str = "pulumi:pulumi:getResource";
/// Gives the outputs of another stack.
pub const READ_STACK_OUTPUTS: &str = "pulumi:pulumi:readStackOutputs";
/// Gives the outputs of the resources of another stack.
pub const READ_STACK_RESOURCE_OUTPUTS: &str = "pulumi:pulumi:readStackResourceOutputs";

/// The resource of this run that a function is to give the state of.
pub(crate) fn resource_wanted(token: &str, arguments: &PropertyMap) -> Option<Urn> {
    match arguments.get("urn").map(Value::plain) {
        Some(Value::String(urn)) if token == GET_RESOURCE => Some(Urn::unchecked(&urn)),
        _ => None,
    }
}

/// Calls a function. `find` gives the state of a resource that this run has registered or read. `None`: there is no
/// such function; the error is for the program's author.
pub async fn call(
    token: &str,
    arguments: &PropertyMap,
    find: impl FnOnce(&Urn) -> Option<Arc<ResourceState>>,
    stacks: &OtherStacks,
) -> Option<Result<PropertyMap, String>> {
    let text = |key: &str| match arguments.get(key).map(Value::plain) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("{token} needs the argument '{key}', a text")),
    };
    Some(match token {
        GET_RESOURCE => text("urn").and_then(|urn| get_resource(&Urn::unchecked(&urn), find)),
        READ_STACK_OUTPUTS => match text("name") {
            Ok(name) => stack_reference::outputs(&name, stacks).await.map_err(|error| error.message.to_string()),
            Err(reason) => Err(reason),
        },
        READ_STACK_RESOURCE_OUTPUTS => match text("stackName") {
            Ok(name) => resource_outputs(name, stacks).await,
            Err(reason) => Err(reason),
        },
        _ => return None,
    })
}

fn get_resource(urn: &Urn, find: impl FnOnce(&Urn) -> Option<Arc<ResourceState>>) -> Result<PropertyMap, String> {
    let resource = find(urn).ok_or_else(|| format!("getResource: no resource '{urn}' was registered in this run"))?;
    Ok(PropertyMap::from([
        ("urn".to_owned(), Value::String(urn.to_string())),
        ("id".to_owned(), Value::String(resource.id.clone())),
        ("provider".to_owned(), Value::String(resource.provider.clone())),
        ("state".to_owned(), Value::Object((*resource.outputs_or_empty()).clone())),
    ]))
}

async fn resource_outputs(name: String, stacks: &OtherStacks) -> Result<PropertyMap, String> {
    let stack = stacks.read(&name).await.map_err(|error| error.message.to_string())?;
    let states = stack.resources.iter().filter(|state| !state.delete);
    let resources = states.map(|state| {
        let resource = PropertyMap::from([
            ("type".to_owned(), Value::String(state.kind.clone())),
            ("outputs".to_owned(), Value::Object((*state.outputs_or_empty()).clone())),
        ]);
        (state.urn.to_string(), Value::Object(resource))
    });
    Ok(PropertyMap::from([
        ("outputs".to_owned(), Value::Object(resources.collect())),
        ("name".to_owned(), Value::String(name)),
    ]))
}
