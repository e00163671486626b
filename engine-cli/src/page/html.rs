//! The page's file: the front end with its data.

use serde::Serialize;

use crate::failure::{Failure, Result};

/// The front end, which `make page` builds from `page/`; committed, so that a build in Rust needs no Node.
const TEMPLATE: &str = include_str!("page.html");
/// Where the data stands in it.
const PLACE: &str = "@@MALOKO_DATA@@";

/// A page with this data.
pub(crate) fn render(data: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string(data)
        .map_err(|error| Failure::new(format!("what the page shows cannot be written as JSON: {error}")))?;
    Ok(fill(TEMPLATE, &json))
}

/// Puts JSON into the element that holds it. Whatever texts are in it, none ends the element or begins another.
fn fill(template: &str, json: &str) -> String {
    let (before, after) = template.split_once(PLACE).unwrap_or((template, ""));
    let mut page = String::with_capacity(template.len() + json.len() + json.len() / 8);
    page.push_str(before);
    for character in json.chars() {
        match character {
            '<' => page.push_str("\\u003c"),
            '>' => page.push_str("\\u003e"),
            '&' => page.push_str("\\u0026"),
            '\u{2028}' => page.push_str("\\u2028"),
            '\u{2029}' => page.push_str("\\u2029"),
            other => page.push(other),
        }
    }
    page.push_str(after);
    page
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
