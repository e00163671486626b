//! Properties on their way to a plugin and back.

use std::collections::BTreeMap;

use maloko_core::PropertyMap;
use maloko_core::assets;
use maloko_core::provider::{ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_core::value::{RESOURCE_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXTS, Value, refuse_bytes};
use maloko_core::wire::{
    Accepts, Kind, PropertyDependencies, Struct, WireValue, decode_properties, encode_outputs, encode_properties, lower,
};

/// How properties are written for one plugin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Features {
    /// It understands secrets.
    pub(crate) secrets: bool,
    /// It understands references to resources.
    pub(crate) resources: bool,
    /// It answers `Create` and `Update` in previews.
    pub(crate) preview: bool,
    /// It takes proposals for names.
    pub(crate) autonaming: bool,
    /// It understands output values, in what it makes a component from and in the arguments of methods.
    pub(crate) outputs: bool,
    /// It understands bytes that are no UTF-8.
    pub(crate) bytes: bool,
}

impl Features {
    /// Properties whole.
    pub(crate) fn whole(self, properties: &PropertyMap) -> Result<Struct, ProviderError> {
        self.guard_bytes(properties)?;
        let mut encoded = encode_properties(properties, Accepts { secrets: self.secrets, resources: self.resources });
        if self.resources && properties.values().any(|value| value.any(&|value| matches!(value, Value::Resource(_)))) {
            encoded.fields.values_mut().for_each(name_resources);
        }
        Ok(encoded)
    }

    /// Properties for those who make components: with output values, where it understands them.
    pub(crate) fn with_outputs(
        self,
        properties: &PropertyMap,
        dependencies: &BTreeMap<String, PropertyDependencies>,
    ) -> Result<Struct, ProviderError> {
        if !self.outputs {
            return self.whole(properties);
        }
        self.guard_bytes(properties)?;
        let urns = |key: &str| dependencies.get(key).map_or(&[][..], |dependencies| &dependencies.urns);
        let mut encoded = encode_outputs(properties, urns);
        encoded.fields.values_mut().for_each(name_resources);
        Ok(encoded)
    }

    /// Properties with the hashes of assets alone, as for what is only compared or removed.
    pub(crate) fn elided(self, properties: &PropertyMap) -> Result<Struct, ProviderError> {
        if assets::any_in(properties) { self.whole(&assets::elide(properties)) } else { self.whole(properties) }
    }

    fn guard_bytes(self, properties: &PropertyMap) -> Result<(), ProviderError> {
        if self.bytes {
            return Ok(());
        }
        refuse_bytes(properties)
            .map_err(|reason| ProviderError::new(ProviderErrorKind::Raised, format!("the plugin {reason}")))
    }
}

/// Says of each reference to a resource what that is called, as the reference engine does.
fn name_resources(value: &mut WireValue) {
    match &mut value.kind {
        Some(Kind::List(list)) => list.values.iter_mut().for_each(name_resources),
        Some(Kind::Struct(object)) => {
            let text = |key: &str| match object.fields.get(key).and_then(|value| value.kind.as_ref()) {
                Some(Kind::String(text)) => text.clone(),
                _ => String::new(),
            };
            if text(SIGNATURE_KEY) == RESOURCE_SIGNATURE {
                let urn = Urn::unchecked(&text("urn"));
                // An id that is not known yet is empty here.
                if UNKNOWN_TEXTS.contains(&text("id").as_str()) {
                    object.fields.insert("id".to_owned(), wire_text(""));
                }
                object.fields.insert("name".to_owned(), wire_text(urn.name()));
                object.fields.insert("type".to_owned(), wire_text(urn.own_type()));
                return;
            }
            object.fields.values_mut().for_each(name_resources);
        }
        _ => {}
    }
}

fn wire_text(text: &str) -> WireValue {
    WireValue { kind: Some(Kind::String(text.to_owned())) }
}

/// A plain value as JSON, whole numbers without a fraction; `None` for what JSON has not.
pub(crate) fn compact_json(value: &Value) -> Option<serde_json::Value> {
    Some(match value {
        Value::Bool(value) => (*value).into(),
        #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small")]
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => (*number as i64).into(),
        Value::Number(number) => serde_json::Number::from_f64(*number)?.into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(compact_json).collect::<Option<Vec<_>>>()?.into(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| Some((key.clone(), compact_json(value)?)));
            serde_json::Value::Object(members.collect::<Option<_>>()?)
        }
        _ => serde_json::Value::Null,
    })
}

/// The properties of an answer. Output values become what they hold. Unknown values are for previews; the error names the
/// property of another one.
pub(crate) fn properties_in(answer: Option<Struct>, may_be_unknown: bool) -> Result<PropertyMap, String> {
    let mut properties = decode_properties(answer.unwrap_or_default())?;
    for (key, value) in &mut properties {
        settle(key, value, may_be_unknown)?;
    }
    Ok(properties)
}

/// Makes a plain value of a property, and says what it depends on.
fn settle(key: &str, value: &mut Value, may_be_unknown: bool) -> Result<Vec<Urn>, String> {
    let mut found = Vec::new();
    lower(value, &mut found);
    if !may_be_unknown && value.contains_unknown() {
        return Err(format!("property '{key}' is unknown, although this is no preview"));
    }
    Ok(found)
}

/// The properties of an answer, and what each one depends on: as the answer says it, and by the output values in it.
pub(crate) fn outputs_in(
    answer: Option<Struct>,
    mut dependencies: BTreeMap<String, PropertyDependencies>,
    may_be_unknown: bool,
) -> Result<(PropertyMap, BTreeMap<String, PropertyDependencies>), String> {
    let mut properties = decode_properties(answer.unwrap_or_default())?;
    for (key, value) in &mut properties {
        let found = settle(key, value, may_be_unknown)?;
        let known = &mut dependencies.entry(key.clone()).or_default().urns;
        for urn in found.iter().map(Urn::to_string) {
            if !known.contains(&urn) {
                known.push(urn);
            }
        }
    }
    Ok((properties, dependencies))
}
