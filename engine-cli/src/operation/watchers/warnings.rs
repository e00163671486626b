//! The first warnings of a run, for who drives many runs and reads none of them.

use std::sync::{Mutex, PoisonError};

use maloko_core::event::{Event, EventSink, Severity};

use crate::display::Redactor;

/// So many are kept, each up to so many characters: an engine that distributes stacks keeps them with the end of each.
const KEPT: usize = 3;
const MAX_LENGTH: usize = 400;
/// What stands for the rest of a longer one.
const MORE: &str = " ...";

/// See the module's text.
#[derive(Default)]
pub(in crate::operation) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Each in one line, without secrets: those are taken out before anything is cut.
    pub(in crate::operation) fn lines(&self, redactor: &Redactor) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|text| shortened(&redactor.message(text))).collect()
    }
}

/// A text in a line, cut between two words where it is too long.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_LENGTH {
        return line;
    }
    let most: String = line.chars().take(MAX_LENGTH - MORE.len()).collect();
    let words = most.rsplit_once(' ').map_or(most.as_str(), |(words, _)| words);
    format!("{words}{MORE}")
}

impl EventSink for Warnings {
    fn emit(&self, event: Event) {
        let Event::Diagnostic(diagnostic) = event else { return };
        if diagnostic.severity != Severity::Warning || diagnostic.ephemeral || diagnostic.still_waiting {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            let name = diagnostic.urn.as_ref().map(|urn| format!("{}: ", urn.name())).unwrap_or_default();
            kept.push(format!("{name}{}", diagnostic.message));
        }
    }
}

#[cfg(test)]
mod tests {
    use maloko_core::event::{Diagnostic, Event, EventSink, Severity, Speaker};
    use maloko_core::urn::Urn;

    use super::{Redactor, Warnings, shortened};

    fn said(severity: Severity, message: &str) -> Event {
        let urn = Some(Urn::new("dev", "p", "", "a:b:C", "room"));
        let (ephemeral, still_waiting) = (false, false);
        Event::Diagnostic(Diagnostic {
            urn,
            severity,
            message: message.into(),
            ephemeral,
            still_waiting,
            speaker: Speaker::Engine,
        })
    }

    #[test]
    fn the_first_warnings_are_kept_in_a_line_each() {
        let warnings = Warnings::default();
        warnings.emit(said(Severity::Error, "no warning"));
        warnings.emit(said(Severity::Warning, "one object\n  too many"));
        for _ in 0..5 {
            warnings.emit(said(Severity::Warning, &"long ".repeat(200)));
        }
        let redactor = Redactor::new();
        redactor.learn("one object");
        let lines = warnings.lines(&redactor);
        assert_eq!((lines[0].as_str(), lines.len()), ("room: [secret] too many", 3));
        assert_eq!(shortened(&"ä".repeat(500)).chars().count(), 400);
        assert!(lines[1].ends_with(" long ...") && lines[1].len() <= 400, "{}", lines[1]);
    }
}
