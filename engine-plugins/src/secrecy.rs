//! Which values are secret in the answer of a plugin that knows no secrets: those whose counterparts were.

use maloko_core::PropertyMap;
use maloko_core::value::Value;

/// Marks in `returned` what is secret in `given`, key by key. Objects are compared member by member; anything else that
/// holds a secret makes the whole value one, as in the reference engine.
pub(crate) fn mark_like(given: &PropertyMap, returned: &mut PropertyMap) {
    for (key, value) in returned {
        if let Some(given) = given.get(key) {
            mark(given, value);
        }
    }
}

fn mark(given: &Value, returned: &mut Value) {
    if returned.is_secret() || !given.contains_secret() {
        return;
    }
    if let (Value::Object(given), Value::Object(returned)) = (given, &mut *returned) {
        mark_like(given, returned);
        return;
    }
    *returned = Value::secret(std::mem::replace(returned, Value::Null));
}

#[cfg(test)]
#[path = "secrecy_tests.rs"]
mod tests;
