//! Whole numbers that a double cannot hold exactly, which is how the SDKs send all numbers.

use crate::event::Severity;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use crate::driver::reports::Reports;

/// From here on, not every whole number has a double of its own.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;
/// What is written with an exponent is a measure, and no number that anybody counts to.
const FIRST_MEASURE: f64 = 1e21;
/// So many paths are named in one message.
const NAMED: usize = 5;

/// Warns of whole numbers that have lost digits on their way here. `what` they are: inputs, outputs.
pub(crate) fn tell_of_inexact_numbers(reports: &Reports, what: &str, urn: &Urn, properties: &PropertyMap) {
    let paths = inexact(properties);
    if !paths.is_empty() {
        let message = format!(
            "whole numbers beyond 2^53 lose their last digits on their way from the program; pass these {what} as \
             texts: {}",
            paths.join(", ")
        );
        reports.diagnose(Some(urn), Severity::Warning, message);
    }
}

/// The paths of whole numbers among properties that may have lost digits on their way here; only the first few.
fn inexact(inputs: &PropertyMap) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in inputs.iter().filter(|(_, value)| holds_inexact(value)) {
        search(value, &mut vec![key.clone()], &mut found);
    }
    found
}

/// There is hardly ever one, and paths cost more than a look.
fn holds_inexact(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_inexact(*number),
        Value::Array(items) => items.iter().any(holds_inexact),
        Value::Object(members) => members.values().any(holds_inexact),
        Value::Secret(inner) => holds_inexact(inner),
        Value::Output(output) => output.value.as_ref().is_some_and(holds_inexact),
        _ => false,
    }
}

fn search(value: &Value, path: &mut Vec<String>, found: &mut Vec<String>) {
    if found.len() >= NAMED {
        return;
    }
    match value {
        Value::Number(number) if is_inexact(*number) => found.push(path.concat()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(format!("[{index}]"));
                search(item, path, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                path.push(format!(".{key}"));
                search(member, path, found);
                path.pop();
            }
        }
        Value::Secret(inner) => search(inner, path, found),
        Value::Output(output) => {
            if let Some(inner) = &output.value {
                search(inner, path, found);
            }
        }
        _ => {}
    }
}

fn is_inexact(number: f64) -> bool {
    (FIRST_INEXACT..FIRST_MEASURE).contains(&number.abs()) && number.fract() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_that_lose_digits_are_found_with_their_paths() {
        let list = Value::Array(vec![1.0.into(), 1e18.into()]);
        let inputs = PropertyMap::from([
            ("fine".to_owned(), 9_007_199_254_740_991.0.into()),
            ("measure".to_owned(), 6.022e23.into()),
            ("deep".to_owned(), Value::Object(PropertyMap::from([("list".to_owned(), list)]))),
        ]);
        assert_eq!(inexact(&inputs), ["deep.list[1]"]);
    }
}
