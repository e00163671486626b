//! What is encrypted in a state: whether there is anything, decrypting it, and bringing it under another key.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::error::{Error, Result};
use crate::provider::StoredProvider;
use crate::resource_state::ResourceState;
use crate::state::format::secret_from_json;
use crate::state::secrets::Crypter;
use crate::state::unresolved_create::UnresolvedCreate;
use crate::value::{PropertyMap, SECRET_SIGNATURE, SIGNATURE_KEY, Value};

use super::Snapshot;

impl Snapshot {
    /// Decrypts every sealed value, each distinct ciphertext once, with the snapshot's own
    /// key. `__provider` stays sealed, unless it is the code of a dynamic resource that a component's plugin made. Without
    /// sealed values the key is not needed.
    pub fn unseal(&mut self, crypter: &Crypter) -> Result<()> {
        self.recognise_code(crypter)?;
        if !self.has_sealed_values() {
            return Ok(());
        }
        let crypter = self.own_crypter(crypter)?;
        self.unseal_returned(&crypter)?;
        self.each_resource(&mut |resource| unseal_resource(resource, &crypter))
    }

    /// Like [`Snapshot::unseal`], and `__provider` too, so that everything can be written under another key.
    pub fn unseal_all(&mut self, crypter: &Crypter) -> Result<()> {
        let crypter = &self.own_crypter(crypter)?;
        self.unseal_returned(crypter)?;
        self.each_resource(&mut |resource| {
            unseal_resource(resource, crypter)?;
            if let StoredProvider::Sealed(ciphertext) = &resource.stored_provider {
                let text = crypter.decrypt(ciphertext)?;
                let secret = json!({ SIGNATURE_KEY: SECRET_SIGNATURE, "plaintext": &*text });
                Arc::make_mut(resource).stored_provider = StoredProvider::Foreign(Arc::new(secret));
            }
            unseal_unknown_members(resource, crypter)
        })
    }

    /// Is any value still sealed (`__provider` aside)?
    #[must_use]
    pub fn has_sealed_values(&self) -> bool {
        let sealed = |resource: &ResourceState| {
            is_sealed(&resource.inputs)
                || resource.outputs.as_ref().is_some_and(|outputs| is_sealed(outputs))
                || resource.replacement_trigger.as_ref().is_some_and(holds_sealed)
        };
        let returned = |unresolved: &Arc<UnresolvedCreate>| holds_sealed(&unresolved.returned);
        self.all_resources().any(sealed) || self.unresolved_creates.iter().any(returned)
    }

    /// Is anything still encrypted, `__provider` included?
    #[must_use]
    pub fn has_ciphertexts(&self) -> bool {
        let sealed = |resource: &ResourceState| matches!(resource.stored_provider, StoredProvider::Sealed(_));
        self.has_sealed_values() || self.all_resources().any(sealed)
    }

    /// Sees to it that everything is encrypted under the crypter's key; says whether it was not.
    pub(in crate::state) fn bring_under(&mut self, crypter: &Crypter) -> Result<bool> {
        let Some(record) = self.key_record()?.filter(|record| record != crypter.record()) else { return Ok(false) };
        // The same key by another URL opens everything as it is, and the URL of the settings counts.
        if !record.is_same_key(crypter.record()) {
            self.unseal_all(crypter)?;
        }
        self.secrets_provider = Some(crypter.secrets_provider());
        Ok(true)
    }

    fn unseal_returned(&mut self, crypter: &Crypter) -> Result<()> {
        let sealed = self.unresolved_creates.iter_mut().filter(|unresolved| holds_sealed(&unresolved.returned));
        sealed.into_iter().try_for_each(|unresolved| unseal_value(&mut Arc::make_mut(unresolved).returned, crypter))
    }
}

/// Decrypts what is sealed in a resource's inputs and outputs.
pub(in crate::state) fn unseal_resource(resource: &mut Arc<ResourceState>, crypter: &Crypter) -> Result<()> {
    if is_sealed(&resource.inputs) {
        let inputs = &mut Arc::make_mut(resource).inputs;
        unseal_map(Arc::make_mut(inputs), crypter)?;
    }
    if resource.outputs.as_ref().is_some_and(|outputs| is_sealed(outputs))
        && let Some(outputs) = &mut Arc::make_mut(resource).outputs
    {
        unseal_map(Arc::make_mut(outputs), crypter)?;
    }
    if resource.replacement_trigger.as_ref().is_some_and(holds_sealed)
        && let Some(trigger) = &mut Arc::make_mut(resource).replacement_trigger
    {
        unseal_value(trigger, crypter)?;
    }
    Ok(())
}

fn is_sealed(map: &PropertyMap) -> bool {
    map.values().any(holds_sealed)
}

fn holds_sealed(value: &Value) -> bool {
    value.any(&|v| matches!(v, Value::Sealed(_)))
}

pub(crate) fn unseal_map(map: &mut PropertyMap, crypter: &Crypter) -> Result<()> {
    map.values_mut().try_for_each(|value| unseal_value(value, crypter))
}

fn unseal_value(value: &mut Value, crypter: &Crypter) -> Result<()> {
    match value {
        Value::Sealed(ciphertext) => {
            let text = crypter.decrypt(ciphertext)?;
            let mut open = secret_from_json(&text).map_err(|error| {
                Error::Secrets(format!("a secret was decrypted, but it is not the JSON of a value ({error})").into())
            })?;
            // A secret inside a secret is sealed again within the text.
            unseal_value(&mut open, crypter)?;
            *value = open;
            Ok(())
        }
        Value::Secret(inner) => unseal_value(inner, crypter),
        Value::Array(items) => items.iter_mut().try_for_each(|item| unseal_value(item, crypter)),
        Value::Object(members) => unseal_map(members, crypter),
        Value::Archive(archive) => archive.members_mut().map_or(Ok(()), |members| unseal_map(members, crypter)),
        _ => Ok(()),
    }
}

/// Members that we do not know may hold secrets too.
fn unseal_unknown_members(resource: &mut Arc<ResourceState>, crypter: &Crypter) -> Result<()> {
    if resource.unknown_members.is_empty() {
        return Ok(());
    }
    Arc::make_mut(resource).unknown_members.values_mut().try_for_each(|member| unseal_json(member, crypter))
}

fn unseal_json(json: &mut Json, crypter: &Crypter) -> Result<()> {
    match json {
        Json::Array(items) => items.iter_mut().try_for_each(|item| unseal_json(item, crypter)),
        Json::Object(members) => {
            let is_secret = members.get(SIGNATURE_KEY).and_then(Json::as_str) == Some(SECRET_SIGNATURE);
            if is_secret && let Some(ciphertext) = members.get("ciphertext").and_then(Json::as_str) {
                let text = crypter.decrypt(ciphertext)?;
                members.shift_remove("ciphertext");
                members.insert("plaintext".into(), Json::String(text.to_string()));
                return Ok(());
            }
            members.values_mut().try_for_each(|member| unseal_json(member, crypter))
        }
        _ => Ok(()),
    }
}
