//! Values and texts as Python reads them.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    let mut made = String::from("\"");
    for read in text.chars() {
        match read {
            '"' => made.push_str("\\\""),
            '\\' => made.push_str("\\\\"),
            '\n' => made.push_str("\\n"),
            '\r' => made.push_str("\\r"),
            '\t' => made.push_str("\\t"),
            read if read.is_control() || matches!(read, '\u{2028}' | '\u{2029}') => {
                let _ = write!(made, "\\u{:04x}", u32::from(read));
            }
            read => made.push(read),
        }
    }
    made + "\""
}

/// A constant, a default or the value of a member.
pub(super) fn value(value: &Json) -> String {
    match value {
        Json::String(found) => text(found),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

/// A whole number without a point, where a schema writes `1.0`.
pub(super) fn integer(value: &Json) -> Json {
    #[expect(clippy::cast_possible_truncation, reason = "the schema's reader lets whole numbers through only")]
    match value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15) {
        Some(number) => Json::from(number as i64),
        None => value.clone(),
    }
}

/// The width that a line of a table should keep to.
const WIDTH: usize = 140;

/// `{"name": value}`, in one line where there is room.
pub(super) fn table<'a>(entries: impl IntoIterator<Item = (&'a str, String)>, indent: usize) -> String {
    let entries: Vec<String> = entries.into_iter().map(|(name, value)| format!("{}: {value}", text(name))).collect();
    wrapped('{', &entries, '}', indent)
}

/// `("a", "b")`.
pub(super) fn tuple(texts: &[String], indent: usize) -> String {
    let entries: Vec<String> = texts.iter().map(|found| text(found)).collect();
    match &entries[..] {
        [only] => format!("({only},)"),
        _ => wrapped('(', &entries, ')', indent),
    }
}

/// Entries between brackets.
pub(super) fn wrapped(open: char, entries: &[String], close: char, indent: usize) -> String {
    let length: usize = entries.iter().map(|entry| entry.len() + 2).sum();
    if length + indent + 24 < WIDTH && !entries.iter().any(|entry| entry.contains('\n')) {
        return format!("{open}{}{close}", entries.join(", "));
    }
    let space = " ".repeat(indent + 4);
    let lines: Vec<String> = entries.iter().map(|entry| format!("{space}{entry},\n")).collect();
    format!("{open}\n{}{}{close}", lines.concat(), " ".repeat(indent))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{integer, text, value};

    #[test]
    fn texts_are_quoted_so_that_none_ends_its_line() {
        assert_eq!(text("a \"b\" \\ \n\u{7}\u{2028}"), r#""a \"b\" \\ \n\u0007\u2028""#);
    }

    #[test]
    fn values_are_those_of_python() {
        assert_eq!(value(&json!(true)), "True");
        assert_eq!(value(&json!(null)), "None");
        assert_eq!(value(&json!(1.5)), "1.5");
        assert_eq!(value(&integer(&json!(8.0))), "8");
        assert_eq!(value(&integer(&json!(0.5))), "0.5");
    }
}
