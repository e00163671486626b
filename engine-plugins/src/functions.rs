//! The functions that plugins register, such as the hooks of a component's children, and the connections to them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use maloko_core::provider::{ProviderError, ProviderErrorKind};
use maloko_core::wire::provider as wire;

use maloko_rpc::{Client, lock};

/// See the module's text.
#[derive(Default)]
pub(crate) struct PluginFunctions(Mutex<BTreeMap<String, Client>>);

impl PluginFunctions {
    /// Calls a function with the bytes of its message, and gives those of its answer.
    pub(crate) async fn call(&self, target: &str, token: String, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        let failed = |message: String| ProviderError::new(ProviderErrorKind::Hook, message);
        let known = lock(&self.0).get(target).cloned();
        let client = match known {
            Some(client) => client,
            None => {
                let client = Client::connect_to(target).await.map_err(failed)?;
                lock(&self.0).insert(target.to_owned(), client.clone());
                client
            }
        };
        let asked = wire::CallbackInvokeRequest { token, request };
        let answer = client.call_of::<_, wire::CallbackInvokeResponse>("Callbacks", "Invoke", &asked).await;
        answer.map(|answer| answer.response).map_err(|status| failed(status.message().to_owned()))
    }
}
