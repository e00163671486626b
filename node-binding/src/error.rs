//! Errors on their way from JavaScript to the engine and back.
//!
//! The error object itself never leaves JavaScript: the engine carries its number, by which the package finds it
//! again and throws the very same object; and what it says, for a process that does not have the object.

use std::sync::Arc;

use maloko_cli::ErrorText;
use maloko_core::provider::{HostError, ProviderError, ProviderErrorKind};

use crate::transfer::CallFailure;

/// An error object that the JavaScript side keeps.
struct ThrownError {
    number: u32,
    text: ErrorText,
}

/// The error object of a number (0: none). `message` is as people read it, with its class.
pub(crate) fn host_error(number: u32, message: &str, traceback: &str) -> Option<HostError> {
    let is_class = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let (kind, message) = message.split_once(": ").filter(|(kind, _)| is_class(kind)).unwrap_or(("Error", message));
    let text = ErrorText { kind: kind.to_owned(), message: message.to_owned(), traceback: traceback.to_owned() };
    (number != 0).then(|| Arc::new(ThrownError { number, text }) as HostError)
}

/// What an error object says; `None` for one that is not ours.
pub(crate) fn error_text(error: &HostError) -> Option<ErrorText> {
    error.downcast_ref::<ThrownError>().map(|thrown| thrown.text.clone())
}

/// The number of an error object, 0 for none or for one that is not ours.
pub(crate) fn error_number(error: Option<&HostError>) -> u32 {
    error.and_then(|error| error.downcast_ref::<ThrownError>()).map_or(0, |thrown| thrown.number)
}

/// The error of a failed call.
pub(crate) fn provider_error(description: &str, error: u32) -> ProviderError {
    let failure = match serde_json::from_str::<CallFailure>(description) {
        Ok(failure) => failure,
        Err(fault) => return bad_answer(&fault),
    };
    let transience = match &failure {
        CallFailure::Raised { transience, .. } | CallFailure::NotInitialized { transience, .. } => *transience,
        _ => None,
    };
    let (kind, message, traceback) = match failure {
        CallFailure::Raised { message, traceback, .. } => (ProviderErrorKind::Raised, message, traceback),
        CallFailure::BadReturn { message } => (ProviderErrorKind::BadReturn, message, String::new()),
        CallFailure::Unreadable { message, returned, id } => {
            (ProviderErrorKind::Unreadable { returned, id }, message, String::new())
        }
        CallFailure::UnusableOutputs { message, id, properties } => {
            (ProviderErrorKind::UnusableOutputs { id, properties: properties.0 }, message, String::new())
        }
        CallFailure::NotInitialized { message, traceback, id, properties, reasons, .. } => (
            ProviderErrorKind::NotInitialized {
                id,
                properties: properties.0,
                reasons,
                inputs: None,
                read_first: false,
            },
            message,
            traceback,
        ),
        CallFailure::NoProvider { message, traceback } => (ProviderErrorKind::NoProvider, message, traceback),
        CallFailure::Interrupted { message, traceback } => (ProviderErrorKind::Interrupted, message, traceback),
    };
    let source = host_error(error, &message, &traceback);
    ProviderError {
        kind,
        message: message.into(),
        traceback,
        source,
        transience: transience.map(|it| Box::new(it.into())),
    }
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
