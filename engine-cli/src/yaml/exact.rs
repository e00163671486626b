//! YAML values without a loss: a whole number for which there is no type is kept as the text of its digits.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use serde_norway::value::{Tag, TaggedValue};
use serde_norway::{Mapping, Value};

/// A value of a YAML text.
pub(crate) struct Exact(pub(crate) Value);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor).map(Self)
    }
}

struct ExactVisitor;

impl<'de> Visitor<'de> for ExactVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any YAML value")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_i64<E>(self, whole: i64) -> Result<Value, E> {
        Ok(whole.into())
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Value, E> {
        Ok(whole.into())
    }

    fn visit_i128<E>(self, whole: i128) -> Result<Value, E> {
        Ok(whole.to_string().into())
    }

    fn visit_u128<E>(self, whole: u128) -> Result<Value, E> {
        Ok(whole.to_string().into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(Exact(item)) = items.next_element()? {
            read.push(item);
        }
        Ok(Value::Sequence(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut read = Mapping::new();
        while let Some(Exact(key)) = members.next_key()? {
            if read.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate entry with key {}", shown(&key))));
            }
            let Exact(value) = members.next_value()?;
            read.insert(key, value);
        }
        Ok(Value::Mapping(read))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        use serde::de::VariantAccess;
        let (tag, contents) = data.variant::<String>()?;
        if tag.is_empty() {
            return Err(A::Error::custom("empty YAML tag is not allowed"));
        }
        let Exact(value) = contents.newtype_variant()?;
        Ok(Value::Tagged(Box::new(TaggedValue { tag: Tag::new(tag), value })))
    }
}

fn shown(key: &Value) -> String {
    match key {
        Value::String(text) => format!("{text:?}"),
        other => serde_norway::to_string(other).unwrap_or_default().trim_end().to_owned(),
    }
}
