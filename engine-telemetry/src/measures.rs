//! The metrics: how many calls, how long they and the waits took.

use std::time::Duration;

use maloko_core::activity::{ActivityEnd, ActivityKind};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

use crate::words;

/// Bounds of the histograms in seconds: from a provider that answers from memory to one that makes a database.
const BOUNDS: [f64; 15] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0];

pub(crate) struct Measures {
    calls: Counter<u64>,
    call_durations: Histogram<f64>,
    lock_waits: Histogram<f64>,
    permit_waits: Histogram<f64>,
    dependency_waits: Histogram<f64>,
    journal_flushes: Histogram<f64>,
    callbacks: Histogram<f64>,
    plugin_requests: Histogram<f64>,
    /// Project and stack.
    of_run: Vec<KeyValue>,
}

/// What is measured of an activity that is over.
pub(crate) struct EndedActivity<'a> {
    pub(crate) kind: ActivityKind,
    /// Of a call: its method. Of a wait: what for.
    pub(crate) name: String,
    /// The type of the resource.
    pub(crate) of_type: Option<String>,
    pub(crate) took: Duration,
    pub(crate) end: ActivityEnd<'a>,
}

impl Measures {
    pub(crate) fn new(meter: &Meter, of_run: Vec<KeyValue>) -> Self {
        let durations = |name: &'static str, what: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(what);
            histogram.with_boundaries(BOUNDS.to_vec()).build()
        };
        let calls = meter.u64_counter("maloko.provider.calls").with_unit("{call}");
        Self {
            calls: calls.with_description("Calls of provider methods").build(),
            call_durations: durations("maloko.provider.call.duration", "What calls of provider methods took"),
            lock_waits: durations("maloko.lock.wait.duration", "How long the operation waited for the stack's lock"),
            permit_waits: durations("maloko.permit.wait.duration", "How long calls waited for their turn"),
            dependency_waits: durations(
                "maloko.dependency.wait.duration",
                "How long resources waited for what has to be done before",
            ),
            journal_flushes: durations(
                "maloko.journal.flush.duration",
                "What making a record of the journal durable took",
            ),
            callbacks: durations("maloko.callback.duration", "What hooks, transforms and alias functions took"),
            plugin_requests: durations("maloko.plugin.request.duration", "What starting and asking plugins took"),
            of_run,
        }
    }

    /// The operation got the stack's lock.
    pub(crate) fn lock_taken(&self, took: Duration) {
        self.lock_waits.record(took.as_secs_f64(), &self.of_run);
    }

    pub(crate) fn record(&self, activity: EndedActivity<'_>) {
        let EndedActivity { kind, name, of_type, took, end } = activity;
        let mut attributes = self.of_run.clone();
        let histogram = match kind {
            ActivityKind::Disk => return self.journal_flushes.record(took.as_secs_f64(), &attributes),
            ActivityKind::Permit | ActivityKind::Dependency => {
                let waits = if kind == ActivityKind::Permit { &self.permit_waits } else { &self.dependency_waits };
                attributes.push(KeyValue::new(words::WAIT, name));
                return waits.record(took.as_secs_f64(), &attributes);
            }
            ActivityKind::Call => {
                attributes.push(KeyValue::new(words::METHOD, name));
                attributes.extend(of_type.map(|of_type| KeyValue::new(words::TYPE, of_type)));
                &self.call_durations
            }
            ActivityKind::Callback => &self.callbacks,
            ActivityKind::Plugin => &self.plugin_requests,
        };
        attributes.push(KeyValue::new(words::OUTCOME, words::ended(end)));
        if let ActivityEnd::Failed(error) = end {
            attributes.push(KeyValue::new(words::ERROR, words::error_type(&error.kind)));
        }
        histogram.record(took.as_secs_f64(), &attributes);
        if kind == ActivityKind::Call {
            self.calls.add(1, &attributes);
        }
    }
}
