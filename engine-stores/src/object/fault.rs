//! Errors of stores, as the user meets them: what was attempted, where, and what to do. Nothing of a request's address or
//! headers gets into a message, because credentials may stand there.

use std::error::Error as _;
use std::io;

use maloko_core::error::Error;
use maloko_core::message;
use maloko_core::message::Command;
use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};

/// Is it unknown whether the request was carried out? (Otherwise it certainly was not.)
pub(crate) fn is_ambiguous(error: &StoreError) -> bool {
    matches!(error, StoreError::Generic { .. } | StoreError::JoinError { .. })
        && code(error).is_none_or(|code| {
            // These were answered, and say that nothing was done.
            !REFUSALS.iter().any(|(refusal, _)| *refusal == code)
        })
}

/// Was no connection made to the store, for as long as it was tried?
pub(crate) fn is_out_of_reach(error: &StoreError) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.downcast_ref::<HttpError>().is_some_and(|error| error.kind() == HttpErrorKind::Connect) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Does the store answer that it has no conditional writes?
pub(crate) fn is_not_implemented(error: &StoreError) -> bool {
    matches!(error, StoreError::NotImplemented { .. } | StoreError::NotSupported { .. })
        || code(error).is_some_and(|code| code == "NotImplemented")
        || text(error).contains("501 Not Implemented")
}

/// Codes of the services, and what to do about them.
const REFUSALS: &[(&str, &str)] = &[
    ("NoSuchBucket", "there is no such bucket; make it first, or correct its name or the endpoint"),
    ("ContainerNotFound", "there is no such container; make it first, or correct its name or the storage account"),
    (
        "InvalidAccessKeyId",
        "the store does not know the access key; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile, to \
         credentials of this store",
    ),
    (
        "SignatureDoesNotMatch",
        "the secret key does not fit the access key; correct AWS_SECRET_ACCESS_KEY or the profile",
    ),
    ("ExpiredToken", "the credentials have expired; log in again"),
    ("TokenRefreshRequired", "the credentials have expired; log in again"),
    ("RequestTimeTooSkewed", "this machine's clock is wrong, and the store accepts no such requests; correct it"),
    (
        "AuthorizationHeaderMalformed",
        "the bucket is in another region; add `?region=...` to the address, or set AWS_REGION",
    ),
    ("PermanentRedirect", "the bucket is in another region; add `?region=...` to the address, or set AWS_REGION"),
    (
        "AuthenticationFailed",
        "the store does not accept the credentials; correct AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN",
    ),
    (
        "AccessDenied",
        "the credentials may not do this; they need to list, read, write and delete objects below the address",
    ),
    (
        "AuthorizationPermissionMismatch",
        "the credentials may not do this; they need to list, read, write and delete blobs of the container",
    ),
    (
        "AuthorizationFailure",
        "the storage account does not accept the credentials (AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN), or not from this \
         network",
    ),
];

const DENIED: &str =
    "the credentials may not do this; they need to list, read, write and delete objects below the address";
const UNKNOWN_CREDENTIALS: &str = "the store does not accept the credentials; correct them, or log in again";
const UNREACHABLE: &str = "the store cannot be reached; look at the network, the endpoint and the proxy settings, and run \
                           the command again";

/// The error of a command: `what` was attempted, such as `read s3://bucket/x`.
pub(crate) fn failed(what: &str, error: &StoreError) -> Error {
    let root = root_cause(error);
    let text = text(error);
    let (kind, why) = if let Some((code, advice)) = code(error).and_then(|code| known(&code)) {
        (io::ErrorKind::PermissionDenied, format!("{advice} ({code})"))
    } else if text.contains("normally indicates an incorrectly configured region") {
        (io::ErrorKind::InvalidInput, advice_for("PermanentRedirect"))
    } else {
        match error {
            StoreError::NotFound { .. } => (io::ErrorKind::NotFound, detail("it is not there", error)),
            StoreError::PermissionDenied { .. } => (io::ErrorKind::PermissionDenied, detail(DENIED, error)),
            StoreError::Unauthenticated { .. } => (io::ErrorKind::PermissionDenied, detail(UNKNOWN_CREDENTIALS, error)),
            _ if text.contains("169.254.169.254") || text.contains("metadata.google.internal") => (
                io::ErrorKind::PermissionDenied,
                message![
                    "no credentials were found; set those of the store in the environment (",
                    Command::new("help").with("backends"),
                    " names them)"
                ]
                .into(),
            ),
            _ if status(&text).is_some() => (io::ErrorKind::Other, detail("the store answered with an error", error)),
            _ => (io::ErrorKind::NotConnected, format!("{UNREACHABLE} ({root})")),
        }
    };
    Error::Io { context: format!("cannot {what}"), source: io::Error::new(kind, why) }
}

/// The error for settings of which no client can be made, such as a key that is not in base64.
pub(crate) fn unusable(place: &str, error: &StoreError) -> Error {
    Error::Configuration(message![
        format!(
            "{place} cannot be used as it is set up: {}. Correct its credentials in the environment, or its address \
             (see ",
            root_cause(error)
        ),
        Command::new("help").with("backends"),
        ")"
    ])
}

fn known(code: &str) -> Option<(&'static str, &'static str)> {
    REFUSALS.iter().find(|(refusal, _)| *refusal == code).copied()
}

fn advice_for(code: &str) -> String {
    known(code).map(|(_, advice)| advice.to_owned()).unwrap_or_default()
}

/// Adds the service's own code and status, where it gave them.
fn detail(advice: &str, error: &StoreError) -> String {
    let text = text(error);
    let parts: Vec<String> = [status(&text), code(error)].into_iter().flatten().collect();
    if parts.is_empty() { advice.to_owned() } else { format!("{advice} ({})", parts.join(", ")) }
}

fn text(error: &StoreError) -> String {
    let mut all = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        all.push('\n');
        all.push_str(&error.to_string());
        cause = error.source();
    }
    all
}

/// The innermost error: it says why, and knows nothing of addresses.
fn root_cause(error: &StoreError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// The code that the service gave with an error: `<Code>` of S3 and Azure, `"reason"` of Google.
fn code(error: &StoreError) -> Option<String> {
    let text = text(error);
    let between = |before: &str, after: char| {
        let rest = &text[text.find(before)? + before.len()..];
        let code = rest[..rest.find(after)?].trim_matches([' ', ':', '"']);
        (!code.is_empty() && code.len() < 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .then(|| code.to_owned())
    };
    between("<Code>", '<').or_else(|| between("\"reason\":", ','))
}

fn status(text: &str) -> Option<String> {
    let rest = &text[text.find("status code: ")? + "status code: ".len()..];
    let number = rest.get(..3)?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("HTTP {number}"))
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
