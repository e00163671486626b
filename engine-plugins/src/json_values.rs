//! JSON as `google.protobuf.Value`, and back.

use maloko_core::wire::{Kind, ListValue, NullValue, Struct, WireValue};
use serde_json::{Map, Number, Value};

/// A value of JSON on the wire.
pub(crate) fn wire_value(value: &Value) -> WireValue {
    let kind = match value {
        Value::Null => Kind::Null(NullValue::Null as i32),
        Value::Bool(flag) => Kind::Bool(*flag),
        Value::Number(number) => Kind::Number(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::String(text.clone()),
        Value::Array(items) => Kind::List(ListValue { values: items.iter().map(wire_value).collect() }),
        Value::Object(members) => Kind::Struct(wire_struct(members)),
    };
    WireValue { kind: Some(kind) }
}

/// An object of JSON on the wire.
pub(crate) fn wire_struct(members: &Map<String, Value>) -> Struct {
    Struct { fields: members.iter().map(|(name, value)| (name.clone(), wire_value(value))).collect() }
}

/// A value on the wire as JSON. Whole numbers are written without a fraction.
pub(crate) fn json_value(value: &WireValue) -> Value {
    match &value.kind {
        None | Some(Kind::Null(_)) => Value::Null,
        Some(Kind::Bool(flag)) => Value::Bool(*flag),
        Some(Kind::Number(number)) => json_number(*number),
        Some(Kind::String(text)) => Value::String(text.clone()),
        Some(Kind::List(list)) => list.values.iter().map(json_value).collect(),
        Some(Kind::Struct(object)) => Value::Object(json_object(object)),
    }
}

/// An object on the wire as JSON.
pub(crate) fn json_object(object: &Struct) -> Map<String, Value> {
    object.fields.iter().map(|(name, value)| (name.clone(), json_value(value))).collect()
}

fn json_number(number: f64) -> Value {
    // Beyond that a double is no longer every whole number.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= WHOLE {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}
