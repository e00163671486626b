//! What runs leave to libraries: a record, of which a page is made when somebody asks for it.

use std::sync::Arc;

use maloko_core::Operation;
use maloko_core::state::Snapshot;
use maloko_kit::PageRecorder;

use super::past::{Past, unpack};
use super::recorder::{Beginning, Recorder};
use super::render;
use super::shown::Shower;

/// The page (HTML) of what was recorded of a run ([`crate::OperationEnd::page`], [`maloko_kit::Report::page`]); `None` where that
/// cannot be read.
#[must_use]
pub fn page_of_record(record: &str) -> Option<String> {
    render(&Past::default().complete(unpack(record)?, &Shower::new(Arc::default()))).ok()
}

/// Begins to note what an operation of a test does, from the state with which it begins.
#[must_use]
pub fn record_for_page(operation: &Operation, base: &Snapshot) -> Arc<dyn PageRecorder> {
    let beginning = Beginning::of(operation, operation.dry_run, jiff::Timestamp::now());
    Arc::new(Recorder::new(beginning, Arc::clone(&operation.redactor), base))
}

impl PageRecorder for Recorder {
    fn record(&self) -> Option<String> {
        Recorder::record(self)
    }
}
