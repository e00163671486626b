//! Pages that are made for the package itself.

use napi_derive::napi;

/// The page (HTML) of a fleet's run, from its document (JSON). Throws for what is none.
#[napi]
pub fn fleet_page(document: String) -> napi::Result<String> {
    maloko_cli::page_of_fleet(&document).map_err(|error| napi::Error::from_reason(error.to_string()))
}
