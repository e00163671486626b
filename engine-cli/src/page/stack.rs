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

/// The class of the live object that serves a row, where it can be read.
fn provider_class(row: &ResourceState, crypter: Option<&Crypter>) -> String {
    let ciphertext = match &row.stored_provider {
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
    snapshot.rows.iter().for_each(|row| shower.secrets().learn_row(row));
    // Of two rows of one name the other one waits for its deletion.
    let living = snapshot.rows.iter().enumerate().filter(|(_, row)| !row.delete);
    let places: Places<'_> = living.map(|(place, row)| (&row.urn, place)).collect();
    let root = snapshot.rows.iter().find(|row| row.urn.is_root_stack());
    let outputs = root.and_then(|row| row.outputs.as_deref());
    let resource = |row: &Arc<ResourceState>| Resource {
        provider_class: provider_class(row, crypter),
        ..shower.resource(row, false, &places, Detail::Whole)
    };
    PageData {
        format: FORMAT,
        maloko: env!("CARGO_PKG_VERSION").to_owned(),
        project: stack.project().to_owned(),
        stack: stack.stack().to_owned(),
        resources: snapshot.rows.iter().map(resource).collect(),
        outputs: outputs.map(|outputs| shower.properties(outputs)).unwrap_or_default(),
        unresolved_creates: shower.unresolved_creates(&snapshot.all_unresolved_creates()),
        ..PageData::default()
    }
}
