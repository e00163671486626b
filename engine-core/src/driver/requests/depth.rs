//! Requests whose values are nested more deeply than a state can hold.

use prost::{DecodeError, Message};

use crate::plan::RegistrationError;
use crate::urn::Urn;
use crate::wire::{self, MAKE_FLATTER};

/// The parts of `RegisterResourceRequest` that name the resource, however deep its values are.
#[derive(Clone, PartialEq, Message)]
struct Registration {
    #[prost(string, tag = "1")]
    r#type: String,
    #[prost(string, tag = "2")]
    name: String,
}

/// Those of `ReadResourceRequest`.
#[derive(Clone, PartialEq, Message)]
struct Reading {
    #[prost(string, tag = "2")]
    r#type: String,
    #[prost(string, tag = "3")]
    name: String,
}

/// Those of `RegisterResourceOutputsRequest`.
#[derive(Clone, PartialEq, Message)]
struct Outputs {
    #[prost(string, tag = "1")]
    urn: String,
}

/// The refusal of a request that cannot be decoded because a value in it is too deep; `None` when that is not why, or nobody is to
/// be named.
pub(super) fn too_deep(method: &str, request: &[u8], error: &DecodeError) -> Option<RegistrationError> {
    let place = wire::too_deep(error)?;
    let (urn, what) = match method {
        "RegisterResource" => {
            let Registration { r#type, name } = Message::decode(request).ok()?;
            (None, format!("{type} resource '{name}'"))
        }
        "ReadResource" => {
            let Reading { r#type, name } = Message::decode(request).ok()?;
            (None, format!("{type} resource '{name}'"))
        }
        "RegisterResourceOutputs" => {
            let Outputs { urn } = Message::decode(request).ok()?;
            let urn = Urn::unchecked(&urn);
            let what =
                if urn.is_root_stack() { "outputs of the stack".to_owned() } else { format!("outputs of '{urn}'") };
            (Some(urn), what)
        }
        _ => return None,
    };
    Some(RegistrationError { urn, ..RegistrationError::of_run(format!("{what}: {place}; {MAKE_FLATTER}")) })
}
