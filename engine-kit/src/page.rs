//! What notes a run of a test for its page, beside the kit's own notes. It is made by whoever can make pages.

use std::sync::Arc;

use maloko_core::Operation;
use maloko_core::activity::ActivityWatcher;
use maloko_core::event::{Event, EventSink};
use maloko_core::state::Snapshot;

use crate::step_log::StepLog;

/// Notes what a run does.
pub trait PageRecorder: EventSink + ActivityWatcher {
    /// What was noted, packed and without secrets; `None` where it is too much.
    fn record(&self) -> Option<String>;
}

/// Makes the one for an operation, from the state with which it begins.
pub type RecordForPage = fn(&Operation, &Snapshot) -> Arc<dyn PageRecorder>;

/// The kit's own notes and those for the page.
pub(crate) struct Watched {
    pub(crate) step_log: Arc<StepLog>,
    pub(crate) page: Arc<dyn PageRecorder>,
}

impl EventSink for Watched {
    fn emit(&self, event: Event) {
        self.page.emit(event.clone());
        self.step_log.emit(event);
    }
}
