//! Errors on their way from JavaScript to the engine and back.
//!
//! The error object itself never leaves JavaScript: the engine carries its number, by which the package finds it
//! again and throws the very same object.

use std::sync::Arc;

use maloko_core::provider::{HostError, ProviderError, ProviderErrorKind};
use serde::Deserialize;

use crate::convert::Properties;

/// Number of an error object that the JavaScript side keeps; 0 stands for none.
pub(crate) struct ErrorNumber(pub(crate) u32);

/// The error object of a number.
pub(crate) fn host_error(number: u32) -> Option<HostError> {
    (number != 0).then(|| Arc::new(ErrorNumber(number)) as HostError)
}

/// The number of an error object, 0 for none or for one that is not ours.
pub(crate) fn error_number(error: Option<&HostError>) -> u32 {
    error.and_then(|error| error.downcast_ref::<ErrorNumber>()).map_or(0, |number| number.0)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Raised,
    BadReturn,
    Unreadable,
    UnusableOutputs,
    NotInitialized,
    NoProvider,
    Interrupted,
}

/// A failed call as the package describes it.
#[derive(Deserialize)]
struct Failure {
    kind: Kind,
    message: String,
    #[serde(default)]
    traceback: String,
    #[serde(default)]
    returned: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    properties: Properties,
    #[serde(default)]
    reasons: Vec<String>,
}

/// The error of a failed call.
pub(crate) fn provider_error(description: &str, error: u32) -> ProviderError {
    let failure = match serde_json::from_str::<Failure>(description) {
        Ok(failure) => failure,
        Err(fault) => return bad_answer(&fault),
    };
    let kind = match failure.kind {
        Kind::Raised => ProviderErrorKind::Raised,
        Kind::BadReturn => ProviderErrorKind::BadReturn,
        Kind::Unreadable => ProviderErrorKind::Unreadable { returned: failure.returned, id: failure.id },
        Kind::UnusableOutputs => {
            ProviderErrorKind::UnusableOutputs { id: failure.id, properties: failure.properties.0 }
        }
        Kind::NoProvider => ProviderErrorKind::NoProvider,
        Kind::Interrupted => ProviderErrorKind::Interrupted,
        Kind::NotInitialized => ProviderErrorKind::NotInitialized {
            id: failure.id,
            properties: failure.properties.0,
            reasons: failure.reasons,
        },
    };
    ProviderError { kind, message: failure.message.into(), traceback: failure.traceback, source: host_error(error) }
}

/// The error of an answer that cannot be read.
pub(crate) fn bad_answer(fault: &serde_json::Error) -> ProviderError {
    ProviderError::new(ProviderErrorKind::BadReturn, format!("the provider's answer could not be read: {fault}"))
}

/// The error of a call whose JavaScript thread ended before it answered: what the call has done is not known.
pub(crate) fn thread_ended() -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::Interrupted,
        "the JavaScript thread that runs the provider ended before the call was answered",
    )
}
