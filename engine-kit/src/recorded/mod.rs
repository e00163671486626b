//! What tests keep in files, and what they read of exported stacks: the forms of these files, and what is said of one that is
//! none.

mod baseline;
mod exported;
mod logged_call;

use std::fs;
use std::path::Path;

use maloko_core::value::{SECRET_SIGNATURE, SIGNATURE_KEY};
use serde_json::Value as Json;

pub(crate) use baseline::{former_resources, restored, save};
pub(crate) use exported::inputs;
pub(crate) use logged_call::{CallOrFile, CallOutcome, LoggedCall};

fn is_secret(value: &Json) -> bool {
    signature(value) == Some(SECRET_SIGNATURE)
}

fn signature(value: &Json) -> Option<&str> {
    value.get(SIGNATURE_KEY).and_then(Json::as_str)
}

/// The JSON of a file; or why it cannot be read.
fn read(file: &Path) -> Result<Json, String> {
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod tests;
