//! What an operation told, kept for its report, and beside it what its page shows: that is noted by whoever can make pages.

pub(crate) mod policies;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maloko_core::Operation;
use maloko_core::activity::ActivityWatcher;
use maloko_core::event::{Event, EventSink, StepMetadata};
use maloko_core::message::{Code, Wording};
use maloko_core::provider::ProviderHost;
use maloko_core::redaction::Redactor;
use maloko_core::state::Snapshot;
use serde::Serialize;

use crate::fault_points::FaultPoints;
use policies::{Remediation, Violation};

/// A message.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    /// `debug`, `info`, `output`, `warning` or `error`.
    pub severity: &'static str,
    /// The resource; empty for the run as a whole.
    pub urn: String,
    /// The text, without secrets.
    #[serde(rename = "message")]
    pub text: String,
}

/// How far a step came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Begun,
    Done,
    Failed,
}

#[derive(Default)]
struct Pages {
    steps: Vec<(Stage, StepMetadata)>,
    messages: Vec<Message>,
    violations: Vec<Violation>,
    remediations: Vec<Remediation>,
}

/// The words that the language of a host has for code.
#[derive(Clone)]
pub(crate) struct HostWording(pub(crate) Arc<dyn ProviderHost>);

impl Wording for HostWording {
    fn code(&self, code: Code) -> String {
        self.0.code(code)
    }
}

/// Takes notes of a run's events.
pub(crate) struct StepLog {
    pages: Mutex<Pages>,
    redactor: Arc<Redactor>,
    fault_points: Arc<FaultPoints>,
    wording: HostWording,
}

impl StepLog {
    pub(crate) fn new(redactor: Arc<Redactor>, fault_points: Arc<FaultPoints>, wording: HostWording) -> Self {
        Self { pages: Mutex::default(), redactor, fault_points, wording }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn steps(&self) -> Vec<(Stage, StepMetadata)> {
        self.pages().steps.clone()
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.pages().messages.clone()
    }

    /// What policies found, and what they rewrote.
    pub(crate) fn policies(&self) -> (Vec<Violation>, Vec<Remediation>) {
        let pages = self.pages();
        (pages.violations.clone(), pages.remediations.clone())
    }
}

impl EventSink for StepLog {
    fn emit(&self, event: Event) {
        if self.fault_points.is_dead() {
            return;
        }
        let step = match event {
            Event::StepStarted(step) => (Stage::Begun, step),
            Event::StepDone(step) => (Stage::Done, step),
            Event::StepFailed(step) => (Stage::Failed, step),
            Event::Diagnostic(diagnostic) => {
                let severity = diagnostic.severity.name();
                let urn = diagnostic.urn.map(|urn| urn.as_str().to_owned()).unwrap_or_default();
                let text = self.redactor.message(&diagnostic.message.worded(&self.wording)).into_owned();
                self.pages().messages.push(Message { severity, urn, text });
                return;
            }
            Event::PolicyViolation(told) => {
                self.pages().violations.push(Violation::of(&told, &self.redactor));
                return;
            }
            Event::PolicyRemediation(told) => {
                self.pages().remediations.push(Remediation::of(&told, &self.redactor));
                return;
            }
            _ => return,
        };
        if !step.1.internal {
            self.pages().steps.push(step);
        }
    }
}

/// Notes what a run does.
pub trait PageRecorder: EventSink + ActivityWatcher {
    /// What was noted, packed and without secrets; `None` where it is too much.
    fn record(&self) -> Option<String>;
}

/// Makes the one for an operation, from the state with which it begins.
pub type RecordForPage = fn(&Operation, &Snapshot) -> Arc<dyn PageRecorder>;

/// The kit's own notes and those for the page.
pub(crate) struct StepLogWithPage {
    pub(crate) step_log: Arc<StepLog>,
    pub(crate) page: Arc<dyn PageRecorder>,
}

impl EventSink for StepLogWithPage {
    fn emit(&self, event: Event) {
        self.page.emit(event.clone());
        self.step_log.emit(event);
    }
}
