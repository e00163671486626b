//! Which dynamic resources of a state a component's plugin made: their `__provider` is code, and they are below a component
//! of a package that has a provider resource. All others are the program's, and their code, where there is any, another
//! tool's, save in a run of the process that made it: its inline program.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::error::Result;
use crate::provider::{DYNAMIC_PACKAGES, ProviderReference, SerializedProvider, StoredProvider};
use crate::resource_state::ResourceState;
use crate::state::secrets::Crypter;
use crate::urn::package_of;
use crate::value::{SECRET_SIGNATURE, SIGNATURE_KEY};

use super::Snapshot;

impl Snapshot {
    /// Tells code of components' plugins apart from what else stands in `__provider`. Where there is none, the key is not
    /// needed.
    pub(super) fn recognise_code(&mut self, crypter: &Crypter) -> Result<()> {
        let is_dynamic = |package: &str| DYNAMIC_PACKAGES.contains(&package);
        let served = self.resources.iter().filter_map(|resource| resource.urn.provider_package());
        let packages: HashSet<String> = served.filter(|package| !is_dynamic(package)).map(str::to_owned).collect();
        let may_be_code = |resource: &ResourceState| {
            resource.custom
                && is_dynamic(package_of(&resource.kind))
                && resource.urn.packages_above().any(|above| packages.contains(above))
        };
        if packages.is_empty() {
            return Ok(());
        }
        self.recognise(crypter, may_be_code)
    }

    /// Takes all code of dynamic resources for what it is: the run's program is part of the process that hands it over.
    pub(in crate::state) fn recognise_code_of_caller(&mut self, crypter: &Crypter) -> Result<()> {
        self.recognise(crypter, |resource| resource.custom && DYNAMIC_PACKAGES.contains(&package_of(&resource.kind)))
    }

    fn recognise(&mut self, crypter: &Crypter, may_be_code: impl Fn(&ResourceState) -> bool) -> Result<()> {
        if !self.all_resources().any(&may_be_code) {
            return Ok(());
        }
        let crypter = &self.own_crypter(crypter)?;
        // Many resources have the same code, which may be long.
        let mut known: HashMap<SerializedProvider, Arc<SerializedProvider>> = HashMap::new();
        self.each_resource(&mut |resource| {
            if may_be_code(resource)
                && let Some(code) = code_of(resource, crypter)?
            {
                let shared = known.entry(code.clone()).or_insert_with(|| Arc::new(code));
                Arc::make_mut(resource).stored_provider = StoredProvider::Code(Arc::clone(shared));
            }
            Ok(())
        })
    }
}

/// Takes what is readable in the resource's `__provider` for the code that it was before a migration.
pub(crate) fn recognise_migrated(resource: &mut ResourceState) {
    if let StoredProvider::Foreign(json) = &resource.stored_provider
        && let Some(code) = readable(json)
    {
        resource.stored_provider = StoredProvider::Code(Arc::new(code));
    }
}

/// The code in a resource; `None` where it holds one of our references, or what is no code.
fn code_of(resource: &ResourceState, crypter: &Crypter) -> Result<Option<SerializedProvider>> {
    Ok(match &resource.stored_provider {
        StoredProvider::Sealed(ciphertext) => code(&crypter.decrypt(ciphertext)?, true),
        StoredProvider::Foreign(json) => readable(json),
        StoredProvider::Absent | StoredProvider::Reference(_) | StoredProvider::Code(_) => None,
    })
}

/// The code in JSON that another tool wrote, in plain text or as an export shows secrets.
fn readable(json: &serde_json::Value) -> Option<SerializedProvider> {
    let member = |name| json.get(name).and_then(serde_json::Value::as_str);
    match member("plaintext").filter(|_| member(SIGNATURE_KEY) == Some(SECRET_SIGNATURE)) {
        Some(text) => code(text, true),
        None => code(&json.to_string(), false),
    }
}

fn code(json: &str, secret: bool) -> Option<SerializedProvider> {
    let text: String = serde_json::from_str(json).ok()?;
    let is_ours = serde_json::from_str::<ProviderReference>(&text).is_ok();
    (!is_ours).then_some(SerializedProvider { text, secret })
}

#[cfg(test)]
#[path = "component_code_tests.rs"]
mod tests;
