//! Which values are secret after a provider that knows no secrets has answered (docs/rules 2.7).

use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::value::{PropertyMap, Value};

/// What a provider is shown: no secret wrappers, resources as their ids.
#[must_use]
pub fn for_provider(properties: &PropertyMap) -> PropertyMap {
    properties.iter().map(|(key, value)| (key.clone(), lowered(value))).collect()
}

/// Properties as those are shown them who serve the resource: live objects see no secrets and no references.
pub(super) fn shown_to(by: Option<ServedBy>, properties: &PropertyMap) -> PropertyMap {
    if by == Some(ServedBy::LiveObject) { for_provider(properties) } else { properties.clone() }
}

fn lowered(value: &Value) -> Value {
    match value {
        Value::Secret(inner) => lowered(inner),
        Value::Output(output) => output.value.as_ref().map_or(Value::Unknown, lowered),
        Value::Array(items) => Value::Array(items.iter().map(lowered).collect()),
        Value::Object(members) => Value::Object(for_provider(members)),
        Value::Resource(reference) => match &reference.id {
            Some(id) if id.is_empty() => Value::Unknown,
            Some(id) => Value::String(id.clone()),
            None => Value::String(reference.urn.to_string()),
        },
        Value::Archive(archive) => archive.with_members(for_provider).into(),
        other => other.clone(),
    }
}

/// Marks what a provider returned as secret where the value that it was given was: at the same place in lists of the
/// same length and in objects; as a whole where the shapes differ.
pub fn copy_secrets(given: &PropertyMap, returned: &mut PropertyMap) {
    for (key, value) in returned {
        if let Some(given) = given.get(key) {
            copy_secret(given, value);
        }
    }
}

fn copy_secret(given: &Value, returned: &mut Value) {
    if returned.is_secret() || !given.contains_secret() {
        return;
    }
    match (given, &mut *returned) {
        (Value::Object(given), Value::Object(returned))
            if given.iter().all(|(key, value)| returned.contains_key(key) || !value.contains_secret()) =>
        {
            copy_secrets(given, returned);
        }
        (Value::Array(given), Value::Array(returned)) if given.len() == returned.len() => {
            given.iter().zip(returned).for_each(|(given, returned)| copy_secret(given, returned));
        }
        _ => *returned = Value::secret(std::mem::replace(returned, Value::Null)),
    }
}

/// Would [`copy_secrets`] mark anything?
fn wants_secrets(given: &PropertyMap, returned: &PropertyMap) -> bool {
    given.iter().any(|(key, given)| returned.get(key).is_some_and(|returned| wants_secret(given, returned)))
}

fn wants_secret(given: &Value, returned: &Value) -> bool {
    if returned.is_secret() || !given.contains_secret() {
        return false;
    }
    match (given, returned) {
        (Value::Object(given), Value::Object(returned)) => {
            given.iter().any(|(key, value)| value.contains_secret() && !returned.contains_key(key))
                || wants_secrets(given, returned)
        }
        (Value::Array(given), Value::Array(returned)) if given.len() == returned.len() => {
            given.iter().zip(returned).any(|(given, returned)| wants_secret(given, returned))
        }
        _ => true,
    }
}

/// Has the resource outputs that [`mark_outputs`] would mark?
#[must_use]
pub fn needs_marks(resource: &ResourceState) -> bool {
    let Some(outputs) = &resource.outputs else { return false };
    listed_outputs(resource, outputs).next().is_some()
        || marks_by_inputs(resource) && wants_secrets(&resource.inputs, outputs)
}

/// A plugin says itself what is secret.
fn marks_by_inputs(resource: &ResourceState) -> bool {
    !resource.served_by().is_plugin()
}

/// Outputs that the program listed as secret and that are not marked so yet.
fn listed_outputs<'a>(resource: &'a ResourceState, outputs: &'a PropertyMap) -> impl Iterator<Item = &'a String> {
    let listed = resource.additional_secret_outputs.iter();
    listed.filter(|key| outputs.get(*key).is_some_and(|value| !value.is_secret()))
}

/// Marks the outputs of a resource that are secret whatever the provider said: those that the program listed, and by path those
/// whose inputs are secret.
pub fn mark_outputs(resource: &mut ResourceState) {
    if !needs_marks(resource) {
        return;
    }
    let outputs = resource.outputs_or_empty();
    let mut marked = (*outputs).clone();
    for key in listed_outputs(resource, &outputs) {
        if let Some(value) = marked.get_mut(key) {
            *value = Value::secret(std::mem::replace(value, Value::Null));
        }
    }
    if marks_by_inputs(resource) {
        copy_secrets(&resource.inputs, &mut marked);
    }
    resource.outputs = Some(marked.into());
}
