//! What watches one run for OpenTelemetry.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use maloko_core::activity::{Activity, ActivityEnd, ActivityKind, ActivityWatcher};
use maloko_core::event::{Event, EventSink, Outcome, Summary};
use maloko_core::provider::TraceContext;
use maloko_core::redaction::Redactor;
use maloko_core::state::LockWait;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Context, InstrumentationScope, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;

use crate::cannot_export::CannotExport;
use crate::exporters::Exporters;
use crate::measures::{EndedActivity, Measures};
use crate::settings::Settings;
use crate::spans::Spans;
use crate::words;

/// So long the end of a run waits for the collector.
const LAST_FLUSH: Duration = Duration::from_secs(3);

/// What a run is, as its span says it.
#[derive(Clone, Debug)]
pub struct RunDescription {
    /// The command: `up`.
    pub verb: String,
    /// What the engine does: `update`, `refresh`, `destroy`, `import`.
    pub kind: &'static str,
    /// Is nothing done, but shown what would be?
    pub preview: bool,
    /// The project's name.
    pub project: String,
    /// The stack's short name.
    pub stack: String,
    /// What the stack's lock took; `None` where none is needed. The operation began with it.
    pub lock_wait: Option<LockWait>,
}

/// Watches one run. Made before it begins, and ended when it is over.
pub struct Telemetry {
    exporters: Exporters,
    spans: Option<Mutex<Spans>>,
    measures: Option<Measures>,
    /// When the activities that are measured began.
    began: Mutex<HashMap<u64, (Activity, Instant)>>,
    /// What the run counted.
    changes: Mutex<Option<Summary>>,
    run: RunDescription,
    redactor: Arc<Redactor>,
}

impl Telemetry {
    /// One that exports what the settings say; its spans begin with the operation's, which begins now.
    pub fn begin(settings: &Settings, run: RunDescription, redactor: Arc<Redactor>) -> Result<Arc<Self>, CannotExport> {
        let exporters = Exporters::new(settings)?;
        let scope = || InstrumentationScope::builder("maloko").with_version(env!("CARGO_PKG_VERSION")).build();
        let spans = exporters.traces.as_ref().map(|traces| {
            let (tracer, name) = (traces.tracer_with_scope(scope()), format!("maloko {}", run.verb));
            let failures = Arc::clone(&exporters.failures);
            Mutex::new(Spans::new(tracer, name, &caller(settings), run.lock_wait, Arc::clone(&redactor), failures))
        });
        let of_run =
            vec![KeyValue::new(words::PROJECT, run.project.clone()), KeyValue::new(words::STACK, run.stack.clone())];
        let measures =
            exporters.metrics.as_ref().map(|metrics| Measures::new(&metrics.meter_with_scope(scope()), of_run));
        if let (Some(measures), Some(LockWait { took, .. })) = (&measures, run.lock_wait) {
            measures.lock_taken(took);
        }
        let (began, changes) = (Mutex::default(), Mutex::default());
        Ok(Arc::new(Self { exporters, spans, measures, began, changes, run, redactor }))
    }

    /// The run is over. Waits some seconds at most until the collector has what is left of it; gives what the user should
    /// know. Blocks.
    #[must_use]
    pub fn end(&self, outcome: Outcome) -> Option<String> {
        if let Some(spans) = &self.spans {
            let counted = lock(&self.changes).take().map(|summary| summary.changes).unwrap_or_default();
            lock(spans).operation_ended(outcome, self.of_operation(counted));
        }
        self.exporters.end(LAST_FLUSH)
    }

    fn of_operation(&self, changes: BTreeMap<&'static str, u64>) -> Vec<KeyValue> {
        let RunDescription { kind, preview, project, stack, .. } = &self.run;
        let mut attributes = vec![
            KeyValue::new(words::PROJECT, project.clone()),
            KeyValue::new(words::STACK, stack.clone()),
            KeyValue::new(words::KIND, *kind),
            KeyValue::new(words::PREVIEW, *preview),
        ];
        let count = |(op, number): (&str, u64)| {
            KeyValue::new(format!("maloko.changes.{op}"), i64::try_from(number).unwrap_or(i64::MAX))
        };
        attributes.extend(changes.into_iter().map(count));
        attributes
    }

    fn measure(&self, activity: Activity, took: Duration, end: ActivityEnd<'_>) {
        let Some(measures) = &self.measures else { return };
        let Activity { kind, name, urn, .. } = activity;
        // What is measured by name has few of them: methods, and what is waited for.
        let by_name = matches!(kind, ActivityKind::Call | ActivityKind::Permit | ActivityKind::Dependency);
        let name = if by_name { name.into_owned() } else { String::new() };
        let of_type = urn.map(|urn| words::redacted(urn.own_type(), &self.redactor));
        measures.record(EndedActivity { kind, name, of_type, took, end });
    }
}

impl EventSink for Telemetry {
    fn emit(&self, event: Event) {
        if let Event::Summary(summary) = event {
            *lock(&self.changes) = Some(summary);
            return;
        }
        let Some(spans) = &self.spans else { return };
        match event {
            Event::StepStarted(step) if !step.internal => lock(spans).step_began(&step),
            Event::StepDone(step) if !step.internal => lock(spans).step_ended(&step, false),
            Event::StepFailed(step) if !step.internal => lock(spans).step_ended(&step, true),
            _ => {}
        }
    }
}

impl ActivityWatcher for Telemetry {
    fn began(&self, number: u64, activity: &Activity) -> Option<TraceContext> {
        if self.measures.is_some() {
            lock(&self.began).insert(number, (activity.clone(), Instant::now()));
        }
        self.spans.as_ref().map(|spans| lock(spans).activity_began(number, activity))
    }

    fn ended(&self, number: u64, end: ActivityEnd<'_>) {
        if let Some(spans) = &self.spans {
            lock(spans).activity_ended(number, end);
        }
        let begun = lock(&self.began).remove(&number);
        if let Some((activity, begun)) = begun {
            self.measure(activity, begun.elapsed(), end);
        }
    }
}

/// The context of the one who calls, as `TRACEPARENT` and `TRACESTATE` say it.
fn caller(settings: &Settings) -> Context {
    let mut carrier = HashMap::new();
    let mut put = |name: &str, value: &Option<String>| {
        carrier.extend(value.iter().map(|value| (name.to_owned(), value.clone())));
    };
    put("traceparent", &settings.trace_parent);
    put("tracestate", &settings.trace_state);
    TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier)
}

// A panic while one of the short locks is held leaves nothing half done that matters.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
