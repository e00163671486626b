//! Rows as a state migration of the program gets and returns them: a JSON array in the checkpoint's format, with what
//! is secret readable inside its envelope.

use crate::error::Result;
use crate::resource_state::ResourceState;

use super::Crypter;
use super::format::{Encoder, SecretText, StoredResource};

/// The rows as JSON.
///
/// # Errors
/// Secrets that cannot be decrypted, and values that are nested too deeply.
pub fn rows_to_json(rows: &[&ResourceState], crypter: Option<&Crypter>) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(vec![b'['], crypter, SecretText::Plain);
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            encoder.out().push(b',');
        }
        encoder.row(row)?;
    }
    encoder.out().push(b']');
    Ok(encoder.into_bytes())
}

/// The rows in such JSON; the error says where it is wrong.
pub fn rows_from_json(json: &[u8]) -> std::result::Result<Vec<ResourceState>, String> {
    let rows: Vec<StoredResource> = serde_json::from_slice(json)
        .map_err(|error| format!("what it returned is not a list of resources: {error}"))?;
    Ok(rows.into_iter().map(|row| row.0).collect())
}
