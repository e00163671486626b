//! An object that is to be taken over, compared with what the program says of it (docs/rules 7.2).

use crate::diff::{diff_properties, reset_ignored};
use crate::property_path::{PropertyPath, Segment};
use crate::update_plan::shown_value;
use crate::value::{PropertyMap, Value};

/// What `read` told of an object that is to be taken over.
#[derive(Debug)]
pub(super) struct FoundObject {
    pub(super) id: String,
    /// `None`: the provider does not tell its inputs from its outputs.
    pub(super) inputs: Option<PropertyMap>,
    pub(super) outputs: PropertyMap,
    /// Is it to be read before its next update?
    pub(super) read_first: bool,
}

impl FoundObject {
    /// The object's inputs, as far as they are comparable with the program's.
    pub(super) fn inputs_like(&self, wanted: &PropertyMap) -> PropertyMap {
        let kept = |(key, value): (&String, &Value)| wanted.contains_key(key).then(|| (key.clone(), value.clone()));
        self.inputs.clone().unwrap_or_else(|| self.outputs.iter().filter_map(kept).collect())
    }

    /// The same of an object that its provider says is different. A `read` may tell the program's own inputs: then what it
    /// returns under their names is what the object has.
    pub(super) fn inputs_as_returned(&self, ours: &PropertyMap, ignored: &[String]) -> PropertyMap {
        let mut theirs = self.inputs_like(ours);
        if self.inputs.is_some() && differences(&theirs, ours, ignored).is_empty() {
            theirs.extend(self.outputs.iter().filter(|(key, _)| ours.contains_key(*key)).map(owned));
        }
        theirs
    }

    /// The properties in which the object is not as the program says. Where the inputs that `read` told of are the same,
    /// those of its outputs are looked at that have the names of inputs.
    pub(super) fn differences(&self, ours: &PropertyMap, ignored: &[String]) -> Vec<Difference> {
        let by_inputs = differences(&self.inputs_like(ours), ours, ignored);
        if !by_inputs.is_empty() || self.inputs.is_none() {
            return by_inputs;
        }
        let told: PropertyMap = ours.iter().filter(|(key, _)| self.outputs.contains_key(*key)).map(owned).collect();
        let theirs = self.outputs.iter().filter(|(key, _)| ours.contains_key(*key)).map(owned).collect();
        differences(&theirs, &told, ignored)
    }
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// A property in which the object is not as the program says.
pub(super) struct Difference {
    /// The input that it belongs to.
    pub(super) property: String,
    /// What each has.
    pub(super) line: String,
}

/// Every property in which the object is not as the program says, as far as both are known.
fn differences(theirs: &PropertyMap, ours: &PropertyMap, ignored: &[String]) -> Vec<Difference> {
    let mut ours = ours.clone();
    reset_ignored(theirs, &mut ours, ignored);
    let paths = diff_properties(theirs, &ours).into_keys();
    paths
        .filter_map(|path| {
            let parsed = path.parse::<PropertyPath>().ok();
            let value = |properties: &PropertyMap| parsed.as_ref().and_then(|path| value_at(properties, path));
            let (wanted, actual) = (value(&ours), value(theirs));
            if matches!(wanted, Some(Value::Unknown)) {
                return None;
            }
            let secret = [&wanted, &actual].into_iter().flatten().any(Value::contains_secret);
            let shown = |value: Option<Value>| match value {
                None => "none".to_owned(),
                Some(_) if secret => "[secret]".to_owned(),
                Some(value) => shown_value(&value),
            };
            let property = match parsed.as_ref().and_then(|path| path.0.first()) {
                Some(Segment::Key(key)) => key.clone(),
                _ => path.clone(),
            };
            let line = format!("{path}: the program has {}, the object has {}", shown(wanted), shown(actual));
            Some(Difference { property, line })
        })
        .collect()
}

/// The value at a path; secret if anything on the way to it is.
fn value_at(properties: &PropertyMap, path: &PropertyPath) -> Option<Value> {
    let (Segment::Key(first), rest) = path.0.split_first()? else { return None };
    let mut value = properties.get(first)?;
    let mut secret = false;
    for segment in rest {
        while let Value::Secret(inner) = value {
            secret = true;
            value = inner;
        }
        value = match (value, segment) {
            (Value::Object(members), Segment::Key(key)) => members.get(key)?,
            (Value::Array(items), Segment::Index(index)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(if secret { Value::secret(value.clone()) } else { value.clone() })
}
