//! Provider objects in another tool's form, for a state that `pulumi` is to go on with.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;

use crate::provider::{ObjectId, ProviderError, SerializedProvider, StoredProvider};
use crate::resource_state::ResourceState;
use crate::state::Crypter;
use crate::state::Snapshot;
use crate::value::{SECRET_SIGNATURE, SIGNATURE_KEY};

use crate::driver::answers::NotSerialized;
use crate::driver::calls::no_provider::is_foreign;
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::ProviderKind;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::Serialize;
use crate::driver::stop::Stop;

/// Puts the SDK's own form in the place of references to provider objects.
pub(crate) struct Serialization {
    crypter: Option<Crypter>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
}

impl Serialization {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            crypter: doors.crypter.clone(),
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
        }
    }

    /// Puts the SDK's own serialised form in the place of each reference to a provider object: for a run of kind
    /// [`Load`](crate::operation::OperationKind::Load) whose program has ended. Code that another tool stored is
    /// replaced where the program has a live object for it, and left as it is otherwise.
    ///
    /// The result lists the resources that keep their reference. Nothing of the engine's own state changes.
    pub(crate) async fn serialize_providers(&self, snapshot: &mut Snapshot) -> Vec<NotSerialized> {
        self.stop.idle().await;
        let mut known: HashMap<ObjectId, Result<SerializedProvider, ProviderError>> = HashMap::new();
        let mut missing = Vec::new();
        for resource in &mut snapshot.resources {
            if resource.stored_provider == StoredProvider::Absent {
                continue;
            }
            match self.serialized(resource, &mut known).await {
                Ok(Some(serialized)) => Arc::make_mut(resource).stored_provider = stored(&serialized),
                Ok(None) => {}
                Err(error) => missing.push(NotSerialized { urn: resource.urn.clone(), reason: error.message.into() }),
            }
        }
        missing
    }

    async fn serialized(
        &self,
        resource: &ResourceState,
        known: &mut HashMap<ObjectId, Result<SerializedProvider, ProviderError>>,
    ) -> Result<Option<SerializedProvider>, ProviderError> {
        let resolved = match self.providers.resolve(resource).await {
            Ok(resolved) => resolved,
            // It is in the other tool's form already.
            Err(_) if is_foreign(resource, self.crypter.as_ref()) => return Ok(None),
            Err(error) => return Err(error),
        };
        let ProviderKind::Live { object, .. } = resolved.server else { return Ok(None) };
        if let Some(known) = known.get(&object) {
            return known.clone().map(Some);
        }
        let serialized = self.exchange.ask(Serialize(object)).await;
        known.insert(object, serialized.clone());
        serialized.map(Some)
    }
}

/// As a resource keeps another tool's code. What is secret is encrypted when the resource is written.
fn stored(serialized: &SerializedProvider) -> StoredProvider {
    let text = json!(serialized.text);
    StoredProvider::Foreign(Arc::new(if serialized.secret {
        json!({ SIGNATURE_KEY: SECRET_SIGNATURE, "plaintext": text.to_string() })
    } else {
        text
    }))
}
