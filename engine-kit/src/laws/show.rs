//! Values as sentences have them: the same in every language.

use serde_json::Value as Json;

/// The largest whole number that a float has exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A value as JSON on one line, with sorted members, and with whole numbers as such: `1.0` and `1` are one number.
pub(crate) fn show(value: &Json) -> String {
    match value {
        Json::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < EXACT => format!("{float:.0}"),
            _ => number.to_string(),
        },
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(show).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let members: Vec<String> =
                members.iter().map(|(key, item)| format!("{}: {}", Json::from(key.as_str()), show(item))).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// What stands at a path: [`show`], or `nothing`.
pub(crate) fn show_maybe(value: Option<&Json>) -> String {
    value.map_or_else(|| "nothing".to_owned(), show)
}
