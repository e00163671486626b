//! The page of a stack without a run.

use std::sync::Arc;

use maloko_core::provider::{ProviderReference, StoredProvider};
use maloko_core::redaction::Redactor;
use maloko_core::resource_state::ResourceState;
use maloko_core::state::{Crypter, Snapshot, StackName};

use super::data::{PageData, Resource};
use super::resources::Places;
use super::run_data::FORMAT;
use super::shown::{Detail, Shower};

/// The class of the live object that serves a resource, where it can be read.
fn provider_class(resource: &ResourceState, crypter: Option<&Crypter>) -> String {
    let ciphertext = match &resource.stored_provider {
        StoredProvider::Sealed(ciphertext) => ciphertext,
        StoredProvider::Reference(reference) => return reference.place(),
        StoredProvider::Absent | StoredProvider::Foreign(_) | StoredProvider::Code(_) => return String::new(),
    };
    let text = crypter.and_then(|crypter| crypter.decrypt(ciphertext).ok());
    // The reference is a text of its own within the secret.
    let text = text.and_then(|text| serde_json::from_str::<String>(&text).ok());
    let reference = text.and_then(|text| serde_json::from_str::<ProviderReference>(&text).ok());
    reference.map(|reference| reference.place()).unwrap_or_default()
}

/// All that a page shows of a state. Values that are sealed stay so.
pub(crate) fn of_stack(
    stack: &StackName,
    snapshot: &Snapshot,
    redactor: Arc<Redactor>,
    crypter: Option<&Crypter>,
) -> PageData {
    let shower = Shower::new(redactor);
    snapshot.resources.iter().for_each(|state| shower.secrets().learn_resource(state));
    // Of two resources of one name the other one waits for its deletion.
    let living = snapshot.resources.iter().enumerate().filter(|(_, state)| !state.delete);
    let places: Places<'_> = living.map(|(place, state)| (&state.urn, place)).collect();
    let root = snapshot.resources.iter().find(|state| state.urn.is_root_stack());
    let outputs = root.and_then(|state| state.outputs.as_deref());
    let resource = |state: &Arc<ResourceState>| Resource {
        provider_class: provider_class(state, crypter),
        ..shower.resource(state, false, &places, Detail::Whole)
    };
    PageData {
        format: FORMAT,
        maloko: env!("CARGO_PKG_VERSION").to_owned(),
        project: stack.project().to_owned(),
        stack: stack.stack().to_owned(),
        secrets_provider: snapshot.shown_key(),
        resources: snapshot.resources.iter().map(resource).collect(),
        outputs: outputs.map(|outputs| shower.properties(outputs)).unwrap_or_default(),
        unresolved_creates: shower.unresolved_creates(&snapshot.all_unresolved_creates()),
        ..PageData::default()
    }
}
