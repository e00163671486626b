//! The first differences that a look at a stack has found, for who looks at many and reads no output.

use std::sync::{Mutex, PoisonError};

use maloko_core::event::{Event, EventSink};

use crate::display::{Redactor, step_line};

/// So many are kept: an engine that distributes stacks keeps them with the end of each.
const KEPT: usize = 5;

/// See the module's text.
#[derive(Default)]
pub(in crate::operation) struct Differences(Mutex<Vec<String>>);

impl Differences {
    /// Each in one line, without secrets.
    pub(in crate::operation) fn lines(&self, redactor: &Redactor) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|text| redactor.message(text).into_owned()).collect()
    }
}

impl EventSink for Differences {
    fn emit(&self, event: Event) {
        let Event::StepDone(step) = event else { return };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.extend(step_line(&step));
        }
    }
}

#[cfg(test)]
#[path = "differences_tests.rs"]
mod tests;
