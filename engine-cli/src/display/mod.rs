//! What the user sees of an operation: events as JSON, plain lines or a live tree.

mod delta;
mod diff;
mod drift;
mod failures;
mod json;
mod json_text;
mod nodes;
mod order;
mod paint;
mod path;
mod plain;
mod policies;
mod reasons;
mod redact;
mod screen;
mod summary;
mod table;
mod tree;
mod values;
mod words;
mod worker;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails with the error")]
mod tests;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use maloko_core::event::{Event, EventSink};
use maloko_core::operation::OperationKind;
use maloko_core::policy::{PackId, PolicyViolation};

pub use maloko_core::redaction::Redactor;

pub(crate) use delta::{Kind, Leaf};
pub(crate) use diff::{leaves_of, step_line};
pub(crate) use order::in_order;
pub(crate) use reasons::{CauseKind, Reasons, ReplacementCause};
pub(crate) use redact::{SecretDisplay, Visible};

/// After so long a call that goes on is mentioned in plain lines, unless `MALOKO_PROGRESS_SECONDS` says otherwise.
pub(crate) const MENTION_AFTER: Duration = Duration::from_secs(20);

/// The shapes in which an operation is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayMode {
    /// Engine events as JSON, one per line (`up|refresh|destroy --json`).
    JsonEvents,
    /// The same with the steps of default providers, which no display shows (`--event-log`, listeners of a library).
    EventLog,
    /// Messages alone, in the same shape (listeners of a library that want no more).
    MessageLog,
    /// One JSON document at the end (`preview --json`).
    PreviewJson,
    /// One line of JSON at the end: the result, and what was done (`--output json`).
    SummaryJson,
    /// The same where it does not succeed, and nothing else: of the preview, after which the operation has a line of its own.
    FailureJson,
    /// One line per event, for logs and pipes.
    Plain,
    /// A tree that is redrawn in place, on a terminal that can move its cursor.
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
    /// Show each rewriting of a policy, not only their number.
    pub show_policy_remediations: bool,
    /// Do not show progress notes.
    pub suppress_progress: bool,
    /// Show messages that are for debugging.
    pub debug: bool,
    /// Use colours (the caller has already looked at the terminal, `--color` and `NO_COLOR`).
    pub color: bool,
    /// The plain texts of secrets, which no message may show. The caller teaches it those of the configuration; the
    /// display adds those that it meets in resources.
    pub redactor: Arc<Redactor>,
    /// A call that takes this long is mentioned in plain lines while it goes on, and again whenever the time has doubled.
    pub mention_after: Duration,
    /// Show the tracebacks of errors, and not only where they were raised.
    pub show_tracebacks: bool,
    /// The project's directory: files below it are named as seen from there.
    pub directory: PathBuf,
    /// The size that a tree takes where no terminal says it: rows and columns.
    pub fallback_size: (usize, usize),
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
            show_policy_remediations: false,
            suppress_progress: false,
            debug: false,
            color: false,
            redactor: Arc::default(),
            mention_after: MENTION_AFTER,
            show_tracebacks: false,
            directory: PathBuf::new(),
            fallback_size: (24, 80),
        }
    }
}

/// A watcher that shows an operation.
pub trait Display: EventSink {
    /// Writes out what is still held back and stops drawing; after it returns nothing more is written. Called once
    /// the operation is over, also when it ended with an error, and safe to call twice.
    fn close(&self);

    /// Takes the live view away, and shows nothing until [`Display::go_on`]; what happens meanwhile is shown then.
    fn stand_back(&self);

    /// Ends what [`Display::stand_back`] began.
    fn go_on(&self);
}

/// Opens a display that writes to `out` (never to file descriptors 1 and 2, which are captured while the operation
/// runs). It draws on a thread of its own: open it after any fork. When `out` fails (a closed pipe, a full disk) it
/// stops to show anything; the operation goes on.
#[must_use]
pub fn open(mode: DisplayMode, options: DisplayOptions, out: Box<dyn Write + Send>) -> Arc<dyn Display> {
    Arc::new(worker::Worker::start(renderer(mode, options, SystemTime::now()), out))
}

/// What draws in a mode; `opened` is the wall clock's time from which events count theirs.
fn renderer(mode: DisplayMode, options: DisplayOptions, opened: SystemTime) -> Box<dyn worker::Renderer> {
    let redactor = redact::SecretDisplay::new(options.show_secrets, Arc::clone(&options.redactor));
    match mode {
        DisplayMode::JsonEvents | DisplayMode::EventLog | DisplayMode::MessageLog => {
            let scope = match mode {
                DisplayMode::EventLog => json::Scope::All,
                DisplayMode::MessageLog => json::Scope::Messages,
                _ => json::Scope::Shown,
            };
            Box::new(json::JsonLines::new(redactor, options.is_preview, scope, opened))
        }
        DisplayMode::PreviewJson => Box::new(json::preview::PreviewDocument::new(redactor, options.show_sames)),
        DisplayMode::SummaryJson | DisplayMode::FailureJson => {
            let always = mode == DisplayMode::SummaryJson;
            Box::new(json::summary::SummaryLine::new(redactor, options.show_sames, options.diff, always))
        }
        DisplayMode::Tree => {
            let probe = screen::controlling_terminal(options.fallback_size);
            Box::new(tree::Tree::new(options, redactor, probe))
        }
        DisplayMode::Plain => Box::new(plain::Plain::new(options, redactor)),
    }
}

/// What policy packs found outside of an operation, as lines.
pub(crate) fn policy_lines(
    found: &[PolicyViolation],
    packs: &[Arc<PackId>],
    color: bool,
    redactor: &Arc<Redactor>,
) -> Vec<String> {
    let mut policies = policies::Policies::default();
    policies.all_of(packs);
    for violation in found {
        policies.note(Event::PolicyViolation(violation.clone()));
    }
    policies.lines(paint::Paint::new(color), &redact::SecretDisplay::new(false, Arc::clone(redactor)), false)
}
