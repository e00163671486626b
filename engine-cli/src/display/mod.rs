//! What the user sees of an operation: events as JSON, plain lines or a live tree.

use std::io::Write;
use std::sync::Arc;

use maloko_core::event::{Event, EventSink};
use maloko_core::operation::OperationKind;

/// The shapes in which an operation is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayMode {
    /// Engine events as JSON, one per line (`up|refresh|destroy --json`).
    JsonEvents,
    /// One JSON document at the end (`preview --json`).
    PreviewJson,
    /// One line per event, for logs and pipes.
    Plain,
    /// A tree that is redrawn in place, on a terminal.
    Tree,
}

/// What is shown, and how.
#[derive(Clone, Debug)]
pub struct DisplayOptions {
    /// The verb.
    pub kind: OperationKind,
    /// Is it a preview?
    pub is_preview: bool,
    /// The project's name, for headings.
    pub project: String,
    /// The stack's short name, for headings.
    pub stack: String,
    /// Show property by property what changes.
    pub diff: bool,
    /// Show unchanged resources too.
    pub show_sames: bool,
    /// Show secrets in plain text.
    pub show_secrets: bool,
    /// Do not show stack outputs.
    pub suppress_outputs: bool,
    /// Do not show progress notes.
    pub suppress_progress: bool,
    /// Use colours (the caller has already looked at the terminal, `--color` and `NO_COLOR`).
    pub color: bool,
}

impl DisplayOptions {
    /// The options of a run on which no flag was given.
    #[must_use]
    pub fn new(kind: OperationKind, is_preview: bool, project: &str, stack: &str) -> Self {
        Self {
            kind,
            is_preview,
            project: project.to_owned(),
            stack: stack.to_owned(),
            diff: false,
            show_sames: false,
            show_secrets: false,
            suppress_outputs: false,
            suppress_progress: false,
            color: false,
        }
    }
}

/// A watcher that shows an operation.
pub trait Display: EventSink {
    /// Writes out what is still held back and stops drawing; after it returns nothing more is written. Called once
    /// the operation is over, also when it ended with an error, and safe to call twice.
    fn close(&self);
}

/// Opens a display that writes to `out` (never to file descriptors 1 and 2, which are captured while the operation
/// runs).
#[must_use]
pub fn open(_mode: DisplayMode, _options: DisplayOptions, out: Box<dyn Write + Send>) -> Arc<dyn Display> {
    Arc::new(Nothing { _out: std::sync::Mutex::new(out) })
}

/// Holds the place until the displays are built.
struct Nothing {
    _out: std::sync::Mutex<Box<dyn Write + Send>>,
}

impl EventSink for Nothing {
    fn emit(&self, _event: Event) {}
}

impl Display for Nothing {
    fn close(&self) {}
}
