//! Resources from JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use crate::provider::{Extension, ProviderReference, StoredProvider};
use crate::resource_state::{HookMoment, Hooks, ResourceState};
use crate::urn::Urn;
use crate::value::{PROVIDER_KEY, PropertyDependencies, PropertyMap, SECRET_SIGNATURE, SIGNATURE_KEY};

use super::decode_value::StateValue;
use super::encode_resource::WHOLE_EXTENSION;

/// A resource as it stands in a state or a journal.
pub(crate) struct StoredResource(pub(crate) ResourceState);

impl<'de> Deserialize<'de> for StoredResource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ResourceVisitor).map(StoredResource)
    }
}

struct ResourceVisitor;

impl<'de> Visitor<'de> for ResourceVisitor {
    type Value = ResourceState;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a resource")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResourceState, A::Error> {
        let mut resource = ResourceState::default();
        let mut output_provider = StoredProvider::Absent;
        while let Some(Key(key)) = map.next_key()? {
            match key.as_ref() {
                "urn" => resource.urn = map.next_value::<UrnText>()?.0,
                "custom" => resource.custom = map.next_value()?,
                "delete" => resource.delete = map.next_value()?,
                "id" => resource.id = map.next_value()?,
                "type" => resource.kind = map.next_value()?,
                "inputs" => {
                    let bag = map.next_value::<Option<Properties>>()?.unwrap_or_default();
                    resource.inputs = Arc::new(bag.map);
                    resource.stored_provider = bag.provider;
                }
                "outputs" => {
                    if let Some(bag) = map.next_value::<Option<Properties>>()? {
                        resource.outputs = Some(Arc::new(bag.map));
                        output_provider = bag.provider;
                    }
                }
                "parent" => resource.parent = optional_urn(&mut map)?,
                "protect" => resource.protect = map.next_value()?,
                "taint" => resource.taint = map.next_value()?,
                "external" => resource.external = map.next_value()?,
                "dependencies" => resource.dependencies = urns(&mut map)?,
                "initErrors" => resource.init_errors = list(&mut map)?,
                "provider" => resource.provider = map.next_value()?,
                "propertyDependencies" => resource.property_dependencies = map.next_value()?,
                "pendingReplacement" => resource.pending_replacement = map.next_value()?,
                "additionalSecretOutputs" => resource.additional_secret_outputs = list(&mut map)?,
                "customTimeouts" => resource.custom_timeouts = map.next_value::<Option<_>>()?.unwrap_or_default(),
                "importID" => resource.import_id = map.next_value()?,
                "retainOnDelete" => resource.retain_on_delete = map.next_value()?,
                "deletedWith" => resource.deleted_with = optional_urn(&mut map)?,
                "replaceWith" => resource.replace_with = urns(&mut map)?,
                "created" => resource.created = map.next_value()?,
                "modified" => resource.modified = map.next_value()?,
                "sourcePosition" => resource.source_position = map.next_value()?,
                "stackTrace" => {
                    let frames: Vec<Frame> = list(&mut map)?;
                    resource.stack_trace = frames.into_iter().map(|frame| frame.source_position).collect();
                }
                "ignoreChanges" => resource.ignore_changes = list(&mut map)?,
                "hideDiff" => resource.hide_diff = list(&mut map)?,
                "replaceOnChanges" => resource.replace_on_changes = list(&mut map)?,
                "replacementTrigger" => {
                    resource.replacement_trigger = map.next_value::<Option<StateValue>>()?.map(|it| it.0);
                }
                "refreshBeforeUpdate" => resource.refresh_before_update = map.next_value()?,
                "viewOf" => resource.view_of = optional_urn(&mut map)?,
                "extensionRef" => {
                    let reference: String = map.next_value()?;
                    if !reference.is_empty() && resource.extension.is_none() {
                        resource.extension = Some(Extension::referred_to(reference));
                    }
                }
                WHOLE_EXTENSION => resource.extension = Some(Extension::new(map.next_value()?)),
                "resourceHooks" => {
                    let json: serde_json::Value = map.next_value()?;
                    match hooks(&json) {
                        Some(hooks) => resource.hooks = hooks,
                        // Moments of a newer version: kept as they are.
                        None => drop(resource.unknown_members.insert("resourceHooks".to_owned(), json)),
                    }
                }
                other => {
                    let other = other.to_owned();
                    resource.unknown_members.insert(other, map.next_value()?);
                }
            }
        }
        if resource.stored_provider == StoredProvider::Absent {
            resource.stored_provider = output_provider;
        }
        Ok(resource)
    }
}

fn list<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A) -> Result<Vec<T>, A::Error> {
    // Go writes some empty lists as null.
    Ok(map.next_value::<Option<Vec<T>>>()?.unwrap_or_default())
}

fn urns<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Vec<Urn>, A::Error> {
    Ok(list::<A, UrnText>(map)?.into_iter().map(|urn| urn.0).collect())
}

fn hooks(json: &serde_json::Value) -> Option<Hooks> {
    let read = Option::<BTreeMap<HookMoment, Option<Vec<String>>>>::deserialize(json).ok()?;
    Some(read.unwrap_or_default().into_iter().filter_map(|(moment, names)| Some((moment, names?))).collect())
}

fn optional_urn<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Urn>, A::Error> {
    Ok(map.next_value::<Option<UrnText>>()?.map(|urn| urn.0).filter(|urn| !urn.as_str().is_empty()))
}

impl<'de> Deserialize<'de> for PropertyDependencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DependenciesVisitor;
        impl<'de> Visitor<'de> for DependenciesVisitor {
            type Value = PropertyDependencies;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of lists of URNs")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut read = PropertyDependencies::default();
                let entries = &mut *read;
                while let Some(property) = map.next_key()? {
                    entries.insert(property, urns(&mut map)?);
                }
                Ok(read)
            }

            // Go writes some empty maps as null.
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(PropertyDependencies::default())
            }
        }
        deserializer.deserialize_any(DependenciesVisitor)
    }
}

#[derive(serde::Deserialize)]
struct Frame {
    #[serde(rename = "sourcePosition", default)]
    source_position: String,
}

/// A member's name, borrowed from the input where it has no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member's name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// A URN, made without a copy in between.
struct UrnText(Urn);

impl<'de> Deserialize<'de> for UrnText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UrnVisitor;
        impl Visitor<'_> for UrnVisitor {
            type Value = UrnText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a URN")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(UrnText(Urn::unchecked(text)))
            }
        }
        deserializer.deserialize_str(UrnVisitor)
    }
}

/// Properties with `__provider` taken out.
#[derive(Default)]
struct Properties {
    map: PropertyMap,
    provider: StoredProvider,
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PropertiesVisitor;
        impl<'de> Visitor<'de> for PropertiesVisitor {
            type Value = Properties;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of properties")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Properties, A::Error> {
                let mut bag = Properties::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == PROVIDER_KEY {
                        bag.provider = stored_provider(map.next_value()?);
                    } else if key == SIGNATURE_KEY {
                        return Err(de::Error::custom("a resource's properties as a whole are a special value"));
                    } else {
                        bag.map.insert(key, map.next_value::<StateValue>()?.0);
                    }
                }
                Ok(bag)
            }
        }
        deserializer.deserialize_map(PropertiesVisitor)
    }
}

fn stored_provider(json: serde_json::Value) -> StoredProvider {
    if json.get(SIGNATURE_KEY).and_then(serde_json::Value::as_str) == Some(SECRET_SIGNATURE) {
        let text = |member| json.get(member).and_then(serde_json::Value::as_str);
        if let Some(ciphertext) = text("ciphertext") {
            return StoredProvider::Sealed(ciphertext.into());
        }
        // From an export that shows secrets: our own references are known again, other tools' code is not looked into.
        let ours = text("plaintext")
            .and_then(|json| serde_json::from_str::<String>(json).ok())
            .and_then(|inner| serde_json::from_str::<ProviderReference>(&inner).ok());
        if let Some(reference) = ours {
            return StoredProvider::Reference(Arc::new(reference));
        }
    }
    StoredProvider::Foreign(Arc::new(json))
}
