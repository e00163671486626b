//! Requests whose values are nested more deeply than the messages that carry them may be.

use std::collections::BTreeMap;

use prost::Message;

use crate::plan::RegistrationError;
use crate::urn::Urn;
use crate::wire::WireValue;

/// The parts of `RegisterResourceRequest` that can be read however deep its values are.
#[derive(Clone, PartialEq, Message)]
struct Registration {
    #[prost(string, tag = "1")]
    r#type: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(bytes = "vec", tag = "5")]
    object: Vec<u8>,
}

/// Those of `ReadResourceRequest`.
#[derive(Clone, PartialEq, Message)]
struct Reading {
    #[prost(string, tag = "2")]
    r#type: String,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(bytes = "vec", tag = "5")]
    properties: Vec<u8>,
}

/// Those of `RegisterResourceOutputsRequest`.
#[derive(Clone, PartialEq, Message)]
struct Outputs {
    #[prost(string, tag = "1")]
    urn: String,
    #[prost(bytes = "vec", tag = "2")]
    outputs: Vec<u8>,
}

/// `google.protobuf.Struct` with values as they came.
#[derive(Clone, PartialEq, Message)]
struct Members {
    #[prost(btree_map = "string, bytes", tag = "1")]
    fields: BTreeMap<String, Vec<u8>>,
}

/// A list's value around what came.
#[derive(Clone, PartialEq, Message)]
struct List {
    #[prost(message, optional, tag = "6")]
    items: Option<Items>,
}

#[derive(Clone, PartialEq, Message)]
struct Items {
    #[prost(bytes = "vec", tag = "1")]
    item: Vec<u8>,
}

/// The value as the only item of so many lists, each of which is two messages.
fn in_lists(value: Vec<u8>, lists: usize) -> Vec<u8> {
    (0..lists).fold(value, |item, _| List { items: Some(Items { item }) }.encode_to_vec())
}

/// The refusal of a request that cannot be decoded because a value in it is too deep; `None` when that is not why.
pub(in crate::driver) fn too_deep(method: &str, request: &[u8]) -> Option<RegistrationError> {
    let (urn, what, properties) = match method {
        "RegisterResource" => {
            let Registration { r#type, name, object } = Message::decode(request).ok()?;
            (None, format!("{type} resource '{name}'"), object)
        }
        "ReadResource" => {
            let Reading { r#type, name, properties } = Message::decode(request).ok()?;
            (None, format!("{type} resource '{name}'"), properties)
        }
        "RegisterResourceOutputs" => {
            let Outputs { urn, outputs } = Message::decode(request).ok()?;
            let urn = Urn::unchecked(&urn);
            let what =
                if urn.is_root_stack() { "outputs of the stack".to_owned() } else { format!("outputs of '{urn}'") };
            (Some(urn), what, outputs)
        }
        _ => return None,
    };
    let Members { fields } = Message::decode(&properties[..]).ok()?;
    // In its request a value stands three messages deeper than by itself.
    let property = (0..=2).find_map(|lists| {
        fields.iter().find(|(_, value)| WireValue::decode(&in_lists((*value).clone(), lists)[..]).is_err())
    });
    let (property, _) = property?;
    Some(RegistrationError {
        urn,
        messages: vec![format!(
            "{what}: property '{property}' is nested too deeply: values may hold about 30 levels of objects, or 45 of lists; \
             make it flatter, or pass it as a text (JSON)"
        ).into()],
    })
}
