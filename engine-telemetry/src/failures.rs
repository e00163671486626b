//! What the collector did not take, for the one line that the user reads at the end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What became of the exports of one run.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// The last one that failed, in words.
    last: Mutex<Option<String>>,
    /// Spans that ended.
    ended: AtomicU64,
    /// Spans that the collector took.
    taken: AtomicU64,
}

impl Failures {
    /// A message could not be delivered.
    pub(crate) fn note(&self, what: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// A span ended that is to be exported.
    pub(crate) fn span_ended(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// The collector took so many spans.
    pub(crate) fn spans_taken(&self, number: usize) {
        self.taken.fetch_add(u64::try_from(number).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// What the user is told, if something is missing. `late`: the collector took longer than the run waits for it.
    pub(crate) fn told(&self, late: bool) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ended = self.ended.load(Ordering::Relaxed);
        let missing = ended.saturating_sub(self.taken.load(Ordering::Relaxed));
        let why = match (last, late) {
            (Some(last), _) => last,
            (None, true) => "the collector did not answer in time".to_owned(),
            (None, false) if missing > 0 => "they came faster than they could be sent".to_owned(),
            (None, false) => return None,
        };
        Some(match missing {
            0 => format!("OpenTelemetry: not everything was exported: {why}"),
            _ => format!("OpenTelemetry: {missing} of {ended} spans were not exported: {why}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Failures;

    #[test]
    fn what_is_missing_is_told_with_the_reason() {
        let failures = Failures::default();
        assert_eq!(failures.told(false), None);
        failures.span_ended();
        failures.span_ended();
        failures.spans_taken(1);
        let told = |late| failures.told(late).expect("a span is missing");
        assert!(told(false).starts_with("OpenTelemetry: 1 of 2 spans were not exported: they came faster"));
        assert!(told(true).ends_with("the collector did not answer in time"));
        failures.note("http://localhost:4318/v1/traces answered 503".to_owned());
        assert!(told(true).ends_with("answered 503"));
        failures.spans_taken(1);
        assert!(told(false).starts_with("OpenTelemetry: not everything was exported"));
    }
}
