//! The texts that people see of runs, without colours: made once for both languages.

mod past;
mod progress;
mod results;
mod runs;
mod stacks;
mod words;

use serde::de::DeserializeOwned;

use crate::fault::{Fault, Result};

pub use stacks::text as text_of_stacks;
pub use words::Counts;

/// The text of a kind (`progress`, `results`, `stacks`, `runs`, `past`) for a document (JSON). No line is wider than so many columns; 0
/// for any width.
pub fn text(kind: &str, document: &str, columns: usize) -> Result<String> {
    match kind {
        "progress" => Ok(progress::text(&read(kind, document)?, columns)),
        "results" => Ok(results::text(&read(kind, document)?, columns)),
        "stacks" => Ok(stacks::text(&read(kind, document)?, columns)),
        "past" => Ok(past::text(&read(kind, document)?, columns)),
        "runs" => Ok(runs::text(&read(kind, document)?, columns)),
        other => Err(Fault::new(format!("there is no text of a fleet named '{other}'"))),
    }
}

fn read<T: DeserializeOwned>(kind: &str, document: &str) -> Result<T> {
    serde_json::from_str(document)
        .map_err(|error| Fault::new(format!("what the text '{kind}' is made of cannot be read: {error}")))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
