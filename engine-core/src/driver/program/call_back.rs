//! The call of a function of the program.

use prost::Message;

use crate::provider::{ProviderError, ProviderErrorKind};
use crate::wire::{Callback, why_unreadable};

use crate::driver::outside_calls::CallBack;
use crate::driver::program::Functions;

impl Functions {
    /// Calls a function of the program, or of a plugin, with a message and takes its answer. `label` is how errors name it.
    pub(crate) async fn call_back<M: Message + Default>(
        &self,
        label: &str,
        function: &Callback,
        request: &impl Message,
    ) -> Result<M, ProviderError> {
        let named = |message: &str| format!("{label} failed: {message}");
        let answer = self
            .exchange
            .ask(CallBack { label: label.to_owned(), function: function.clone(), request: request.encode_to_vec() })
            .await;
        let bytes = answer.map_err(|error| ProviderError {
            kind: match error.kind {
                ProviderErrorKind::Cancelled => ProviderErrorKind::Cancelled,
                _ => ProviderErrorKind::Hook,
            },
            message: named(&error.message).into(),
            ..error
        })?;
        M::decode(&bytes[..]).map_err(|error| {
            let message = named(&format!("its answer cannot be decoded: {}", why_unreadable(&error)));
            ProviderError::new(ProviderErrorKind::Hook, message)
        })
    }
}
