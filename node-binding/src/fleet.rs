//! What a fleet file means, for `maloko/fleet`: plans and texts are made by `maloko-fleet`, once for both languages.

use maloko_fleet::Fault;
use napi_derive::napi;

fn refused(fault: &Fault) -> napi::Error {
    napi::Error::from_reason(fault.to_string())
}

/// The plan (JSON) of a run that a request (JSON) asks for. `source` is the path of a fleet file, or a document (JSON) that code
/// has made. Throws with the place of what is wrong.
#[napi]
pub fn fleet_plan(source: String, request: String) -> napi::Result<String> {
    maloko_fleet::plan(&source, &request).map_err(|fault| refused(&fault))
}

/// The name of a fleet and its server, as JSON: `{"name", "engine"}`. `source` as for `fleetPlan`. Throws with the place of what is
/// wrong.
#[napi]
pub fn fleet_place(source: String) -> napi::Result<String> {
    maloko_fleet::place_json(&source).map_err(|fault| refused(&fault))
}

/// The text that people see of a document (JSON) of a kind: `progress`, `results`, `stacks`, `runs` or `past`. No line is wider than so
/// many columns; 0 for any width. Throws for what cannot be read.
#[napi]
pub fn fleet_text(kind: String, document: String, columns: u32) -> napi::Result<String> {
    maloko_fleet::text(&kind, &document, columns as usize).map_err(|fault| refused(&fault))
}
