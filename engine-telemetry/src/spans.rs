//! The spans of one run that are open, and what is below what.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use maloko_core::activity::{Activity, ActivityEnd, ActivityKind};
use maloko_core::event::{Op, Outcome, StepMetadata};
use maloko_core::provider::TraceContext;
use maloko_core::redaction::Redactor;
use maloko_core::state::LockWait;
use maloko_core::urn::Urn;
use opentelemetry::trace::{Span as _, SpanContext, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use crate::failures::Failures;
use crate::words;

/// Spans below the one of the operation. Attributes are set when a span ends: the run may learn meanwhile what is secret.
pub(crate) struct Spans {
    tracer: SdkTracer,
    redactor: Arc<Redactor>,
    failures: Arc<Failures>,
    operation: Option<Span>,
    root: SpanContext,
    /// The steps of each resource, in the order in which they began.
    steps: BTreeMap<Urn, Vec<(Op, Span)>>,
    activities: BTreeMap<u64, (Activity, Span)>,
}

impl Spans {
    /// The operation begins, below what the caller says; where it needed the stack's lock, it has begun with asking for that.
    pub(crate) fn new(
        tracer: SdkTracer,
        name: String,
        caller: &Context,
        lock_wait: Option<LockWait>,
        redactor: Arc<Redactor>,
        failures: Arc<Failures>,
    ) -> Self {
        let mut operation = tracer.span_builder(name).with_kind(SpanKind::Internal);
        operation.start_time = lock_wait.map(|wait| wait.began);
        let operation = operation.start_with_context(&tracer, caller);
        let root = operation.span_context().clone();
        let (steps, activities) = (BTreeMap::new(), BTreeMap::new());
        let spans = Self { tracer, redactor, failures, operation: Some(operation), root, steps, activities };
        if let Some(wait) = lock_wait {
            spans.lock_taken(wait);
        }
        spans
    }

    fn lock_taken(&self, LockWait { began, took }: LockWait) {
        let mut span = self.below_since("wait for the lock", &self.root, Some(began));
        span.set_attribute(KeyValue::new(words::WAIT, "the lock"));
        span.set_attribute(KeyValue::new(words::OUTCOME, words::ended(ActivityEnd::Done)));
        self.end_at(span, began + took);
    }

    pub(crate) fn step_began(&mut self, step: &StepMetadata) {
        let span = self.below(words::step_name(step.op, &step.urn), &self.root);
        self.steps.entry(step.urn.clone()).or_default().push((step.op, span));
    }

    pub(crate) fn step_ended(&mut self, step: &StepMetadata, failed: bool) {
        let Some(open) = self.steps.get_mut(&step.urn) else { return };
        let Some(at) = open.iter().position(|(op, _)| *op == step.op) else { return };
        let (op, span) = open.remove(at);
        if open.is_empty() {
            self.steps.remove(&step.urn);
        }
        self.end_step(op, &step.urn, span, if failed { "failed" } else { "done" });
    }

    fn end_step(&self, op: Op, urn: &Urn, mut span: Span, outcome: &'static str) {
        span.set_attributes(words::of_resource(urn, &self.redactor));
        span.set_attribute(KeyValue::new(words::OP, op.name()));
        span.set_attribute(KeyValue::new(words::OUTCOME, outcome));
        if outcome == "failed" {
            span.set_status(Status::error(""));
        }
        self.end(span);
    }

    /// An activity begins; gives where in the trace what is done in it belongs.
    pub(crate) fn activity_began(&mut self, number: u64, activity: &Activity) -> TraceContext {
        let step = activity.urn.as_ref().and_then(|urn| self.steps.get(urn)).and_then(|steps| steps.last());
        let parent = step.map_or(&self.root, |(_, step)| step.span_context());
        let span = self.below(words::activity_name(activity), parent);
        let context = span.span_context();
        let parent = format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8());
        let state = Some(context.trace_state().header()).filter(|state| !state.is_empty()).map(Arc::from);
        self.activities.insert(number, (activity.clone(), span));
        TraceContext { parent: parent.into(), state }
    }

    pub(crate) fn activity_ended(&mut self, number: u64, end: ActivityEnd<'_>) {
        if let Some((activity, span)) = self.activities.remove(&number) {
            self.end_activity(&activity, span, end);
        }
    }

    fn end_activity(&self, activity: &Activity, mut span: Span, end: ActivityEnd<'_>) {
        if let Some(urn) = &activity.urn {
            span.set_attributes(words::of_resource(urn, &self.redactor));
        }
        match activity.kind {
            ActivityKind::Call => {
                span.set_attribute(KeyValue::new(words::METHOD, activity.name.clone()));
                span.set_attribute(KeyValue::new(words::ATTEMPT, i64::from(activity.attempt)));
            }
            ActivityKind::Permit | ActivityKind::Disk | ActivityKind::Dependency => {
                span.set_attribute(KeyValue::new(words::WAIT, activity.name.clone()));
            }
            ActivityKind::Callback | ActivityKind::Plugin => {}
        }
        span.set_attribute(KeyValue::new(words::OUTCOME, words::ended(end)));
        match end {
            ActivityEnd::Done => {}
            ActivityEnd::Failed(error) => {
                let kind = words::error_type(&error.kind);
                let message = words::redacted(&error.message.to_string(), &self.redactor);
                span.set_attribute(KeyValue::new(words::ERROR, kind));
                let said =
                    vec![KeyValue::new("exception.type", kind), KeyValue::new("exception.message", message.clone())];
                span.add_event("exception", said);
                span.set_status(Status::error(message));
            }
            ActivityEnd::GivenUp => span.set_status(Status::error("nobody waits for it any more")),
        }
        self.end(span);
    }

    /// The operation is over, and so is all that is still open.
    pub(crate) fn operation_ended(&mut self, outcome: Outcome, attributes: Vec<KeyValue>) {
        for (activity, span) in std::mem::take(&mut self.activities).into_values() {
            self.end_activity(&activity, span, ActivityEnd::GivenUp);
        }
        for (urn, steps) in std::mem::take(&mut self.steps) {
            for (op, span) in steps {
                self.end_step(op, &urn, span, "given_up");
            }
        }
        let Some(mut operation) = self.operation.take() else { return };
        operation.set_attributes(attributes);
        operation.set_attribute(KeyValue::new(words::OUTCOME, outcome.name()));
        if outcome != Outcome::Succeeded {
            operation.set_status(Status::error(""));
        }
        self.end(operation);
    }

    fn below(&self, name: impl Into<Cow<'static, str>>, parent: &SpanContext) -> Span {
        self.below_since(name, parent, None)
    }

    /// A span that began then, or begins now.
    fn below_since(&self, name: impl Into<Cow<'static, str>>, parent: &SpanContext, since: Option<SystemTime>) -> Span {
        // A context of its own: what the thread is doing otherwise has nothing to do with it.
        let parent = Context::new().with_remote_span_context(parent.clone());
        let mut span = self.tracer.span_builder(name).with_kind(SpanKind::Internal);
        span.start_time = since;
        span.start_with_context(&self.tracer, &parent)
    }

    fn end(&self, span: Span) {
        self.end_at(span, SystemTime::now());
    }

    fn end_at(&self, mut span: Span, at: SystemTime) {
        if span.span_context().is_sampled() {
            self.failures.span_ended();
        }
        span.end_with_timestamp(at);
    }
}
