//! What the status of a failed call means to a run.

use prost::Message;
use tonic::{Code, Status};

use maloko_core::provider::{ProviderError, ProviderErrorKind};
use maloko_core::wire::provider as wire;

use crate::answers::properties_in;

/// The error of a plugin that cannot be started or used; the call has not been made.
pub(crate) fn no_provider(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::NoProvider, message)
}

/// The error of a failed call; `may_have_acted`: before it failed, it may have done something outside.
pub(crate) fn provider_error(
    status: &Status,
    may_have_acted: bool,
    last_words: impl FnOnce() -> String,
) -> ProviderError {
    if let Some(failed) = detail::<wire::ErrorResourceInitFailed>(status, "pulumirpc.ErrorResourceInitFailed") {
        return not_initialized(status, failed);
    }
    if let Some(missing) = detail::<wire::ConfigureErrorMissingKeys>(status, "pulumirpc.ConfigureErrorMissingKeys") {
        let keys = missing.missing_keys.iter().map(|key| {
            format!(
                "missing required configuration key '{}': {}; set it with `maloko config set {} VALUE`",
                key.name, key.description, key.name
            )
        });
        return ProviderError::new(ProviderErrorKind::Raised, keys.collect::<Vec<_>>().join("\n"));
    }
    if let Some(refused) = detail::<wire::InputPropertiesError>(status, "pulumirpc.InputPropertiesError") {
        let reasons =
            refused.errors.iter().map(|error| format!("property '{}': {}", error.property_path, error.reason));
        let reasons: Vec<String> = std::iter::once(status.message().to_owned()).chain(reasons).collect();
        return ProviderError::new(ProviderErrorKind::Raised, reasons.join("\n"));
    }
    match status.code() {
        // The connection broke: what the plugin did until then is not known.
        Code::Unavailable | Code::Unknown if is_lost(status) => {
            let kind = if may_have_acted { ProviderErrorKind::Died } else { ProviderErrorKind::Raised };
            ProviderError::new(
                kind,
                format!("the plugin's process has ended in the middle of the call{}", last_words()),
            )
        }
        // An answer that came and cannot be read, or is larger than what is read.
        Code::Unavailable | Code::DataLoss | Code::OutOfRange if may_have_acted => {
            ProviderError::new(ProviderErrorKind::Died, status.message())
        }
        _ => ProviderError::new(ProviderErrorKind::Raised, status.message()),
    }
}

/// Did the connection break, and no plugin answer?
fn is_lost(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
}

fn not_initialized(status: &Status, failed: wire::ErrorResourceInitFailed) -> ProviderError {
    let wire::ErrorResourceInitFailed { id, properties, reasons, inputs, refresh_before_update: read_first } = failed;
    // What cannot be read is not known.
    let inputs = inputs.and_then(|inputs| properties_in(Some(inputs), false).ok()).map(Box::new);
    let message = if reasons.is_empty() {
        status.message().to_owned()
    } else {
        format!("{} error{} occurred: {}", reasons.len(), if reasons.len() == 1 { "" } else { "s" }, reasons.join("; "))
    };
    match properties_in(properties, false) {
        Ok(properties) => ProviderError::new(
            ProviderErrorKind::NotInitialized { id, properties, reasons, inputs, read_first },
            message,
        ),
        Err(reason) => {
            let kind = ProviderErrorKind::UnusableOutputs { id, properties: maloko_core::PropertyMap::new() };
            ProviderError::new(kind, format!("{message}; its outputs cannot be kept: {reason}"))
        }
    }
}

/// A detail of a status, by the name of its type.
fn detail<T: Message + Default>(status: &Status, name: &str) -> Option<T> {
    if status.details().is_empty() {
        return None;
    }
    let all = wire::Status::decode(status.details()).ok()?;
    let found = all.details.iter().find(|detail| detail.type_url.rsplit('/').next() == Some(name))?;
    T::decode(&found.value[..]).ok()
}
