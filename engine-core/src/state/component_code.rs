//! Which dynamic resources of a state a component's plugin made: their `__provider` is code, and they are below a component
//! of a package that has a provider resource. All others are the program's, and their code, where there is any, another
//! tool's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::error::Result;
use crate::provider::{ProviderReference, SerializedProvider, StoredProvider};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::value::{SECRET_SIGNATURE, SIGNATURE_KEY};

use super::Snapshot;
use super::secrets::Crypter;

impl Snapshot {
    /// Tells code of components' plugins apart from what else stands in `__provider`. Where there is none, the key is not
    /// needed.
    pub(super) fn recognise_code(&mut self, crypter: &Crypter) -> Result<()> {
        let providers = self.rows.iter().filter(|row| row.served_by() == ServedBy::ItsPlugin);
        let packages: HashSet<String> =
            providers.filter_map(|row| row.urn.provider_package().map(str::to_owned)).collect();
        let may_be_code = |row: &ResourceState| {
            row.served_by() == ServedBy::LiveObject && row.urn.packages_above().any(|above| packages.contains(above))
        };
        if packages.is_empty() || !self.all_rows().any(may_be_code) {
            return Ok(());
        }
        let crypter = &self.own_crypter(crypter)?;
        // Many resources have the same code, which may be long.
        let mut known: HashMap<SerializedProvider, Arc<SerializedProvider>> = HashMap::new();
        self.each_row(&mut |row| {
            if may_be_code(row)
                && let Some(code) = code_of(row, crypter)?
            {
                let shared = known.entry(code.clone()).or_insert_with(|| Arc::new(code));
                Arc::make_mut(row).stored_provider = StoredProvider::Code(Arc::clone(shared));
            }
            Ok(())
        })
    }
}

/// The code in a row; `None` where it holds one of our references, or what is no code.
fn code_of(row: &ResourceState, crypter: &Crypter) -> Result<Option<SerializedProvider>> {
    let (text, secret) = match &row.stored_provider {
        StoredProvider::Sealed(ciphertext) => (crypter.decrypt(ciphertext)?.to_string(), true),
        StoredProvider::Foreign(json) => {
            let member = |name| json.get(name).and_then(serde_json::Value::as_str);
            match member("plaintext").filter(|_| member(SIGNATURE_KEY) == Some(SECRET_SIGNATURE)) {
                Some(text) => (text.to_owned(), true),
                None => (json.to_string(), false),
            }
        }
        StoredProvider::Absent | StoredProvider::Reference(_) | StoredProvider::Code(_) => return Ok(None),
    };
    let text = serde_json::from_str::<String>(&text).ok();
    let code = text.filter(|text| serde_json::from_str::<ProviderReference>(text).is_err());
    Ok(code.map(|text| SerializedProvider { text, secret }))
}

#[cfg(test)]
#[path = "component_code_tests.rs"]
mod tests;
