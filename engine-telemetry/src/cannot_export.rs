//! Why nothing can be exported.

use std::error::Error;
use std::fmt;

/// An exporter that cannot be made of what the settings say.
#[derive(Debug)]
pub struct CannotExport(pub(crate) String);

impl fmt::Display for CannotExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenTelemetry: {}", self.0)
    }
}

impl Error for CannotExport {}
