//! Resources as a state migration of the program gets and returns them: a JSON array in the checkpoint's format, with
//! what is secret readable inside its envelope.

use crate::error::Result;
use crate::resource_state::ResourceState;

use super::Crypter;
use super::format::{Encoder, SecretText, StoredResource};

/// The resources as JSON.
///
/// # Errors
/// Secrets that cannot be decrypted, and values that are nested too deeply.
pub fn resources_to_json(resources: &[&ResourceState], crypter: Option<&Crypter>) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(vec![b'['], crypter, SecretText::Plain).with_extensions_apart();
    for (index, resource) in resources.iter().enumerate() {
        if index > 0 {
            encoder.out().push(b',');
        }
        encoder.resource_state(resource)?;
    }
    encoder.out().push(b']');
    Ok(encoder.into_bytes())
}

/// The resources in such JSON; the error says where it is wrong.
pub fn resources_from_json(json: &[u8]) -> std::result::Result<Vec<ResourceState>, String> {
    let resources: Vec<StoredResource> = serde_json::from_slice(json)
        .map_err(|error| format!("what it returned is not a list of resources: {error}"))?;
    Ok(resources.into_iter().map(|resource| resource.0).collect())
}
