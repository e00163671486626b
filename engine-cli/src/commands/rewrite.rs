//! URNs exchanged in every place of a state that can hold one.

use std::sync::Arc;

use maloko_core::state::Snapshot;
use maloko_core::value::PropertyMap;
use maloko_core::{ResourceState, Urn, Value};

/// Gives another URN in place of one.
type Exchange<'a> = &'a dyn Fn(&Urn) -> Urn;

/// Exchanges every URN of every resource, pending operation and unresolved create, also those inside of properties.
pub(crate) fn rewrite_urns(snapshot: &mut Snapshot, exchange: Exchange<'_>) {
    for resource in &mut snapshot.resources {
        rewrite_resource(Arc::make_mut(resource), exchange);
    }
    for pending in &mut snapshot.pending {
        rewrite_resource(Arc::make_mut(&mut pending.resource), exchange);
    }
    for unresolved in &mut snapshot.unresolved_creates {
        rewrite_resource(Arc::make_mut(&mut Arc::make_mut(unresolved).resource), exchange);
    }
}

fn rewrite_resource(resource: &mut ResourceState, exchange: Exchange<'_>) {
    resource.urn = exchange(&resource.urn);
    for urn in resource.references_mut() {
        *urn = exchange(urn);
    }
    if let Some((urn, id)) = resource.provider_parts() {
        resource.provider = format!("{}::{id}", exchange(&urn));
    }
    rewrite_shared(&mut resource.inputs, exchange);
    if let Some(outputs) = &mut resource.outputs {
        rewrite_shared(outputs, exchange);
    }
}

fn rewrite_shared(properties: &mut Arc<PropertyMap>, exchange: Exchange<'_>) {
    let has_urn = |value: &Value| matches!(value, Value::Resource(_) | Value::Output(_));
    if properties.values().any(|value| value.any(&has_urn)) {
        for value in Arc::make_mut(properties).values_mut() {
            rewrite_value(value, exchange);
        }
    }
}

fn rewrite_value(value: &mut Value, exchange: Exchange<'_>) {
    match value {
        Value::Array(items) => {
            for item in items {
                rewrite_value(item, exchange);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                rewrite_value(member, exchange);
            }
        }
        Value::Secret(inner) => rewrite_value(inner, exchange),
        Value::Resource(reference) => reference.urn = exchange(&reference.urn),
        Value::Output(output) => {
            for urn in &mut output.dependencies {
                *urn = exchange(urn);
            }
            if let Some(inner) = &mut output.value {
                rewrite_value(inner, exchange);
            }
        }
        Value::Archive(archive) => {
            for asset in archive.members_mut().into_iter().flat_map(PropertyMap::values_mut) {
                rewrite_value(asset, exchange);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Sealed(_)
        | Value::Unknown
        | Value::Asset(_) => {}
    }
}
