//! What tells OpenTelemetry of a run, where somebody asks for it.

use std::sync::Arc;

use maloko_core::activity::ActivityWatcher;
use maloko_core::event::{EventSink, Outcome};
use maloko_core::operation::OperationKind;
use maloko_core::redaction::Redactor;
use maloko_core::state::{LockWait, StackName};
use maloko_telemetry::{RunDescription, Settings, Telemetry};

use crate::failure::{Failure, Result};
use crate::operation::request::Request;
use crate::workplace::Workplace;

/// What watches the run; none, which costs nothing, unless the environment or `--otel-traces` asks for it.
pub(in crate::operation) fn of(
    workplace: &Workplace<'_>,
    request: &Request,
    stack: &StackName,
    redactor: &Arc<Redactor>,
    lock_wait: Option<LockWait>,
) -> Result<Option<Arc<Telemetry>>> {
    let context = workplace.context;
    let settings = Settings::of(&|name| context.text_variable(name), request.operate.run.otel_traces.as_deref());
    // The command itself has said it before, where this is its preview.
    if request.confirm.preview_pass.is_none() {
        settings.warnings.iter().for_each(|warning| context.console.warn(warning));
    }
    if !settings.are_wanted() || request.kind == OperationKind::Load {
        return Ok(None);
    }
    let run = RunDescription {
        verb: if request.is_dry() { "preview" } else { request.verb }.to_owned(),
        kind: request.kind.name(),
        preview: request.is_dry(),
        project: stack.project().to_owned(),
        stack: stack.stack().to_owned(),
        lock_wait,
    };
    let telemetry = Telemetry::begin(&settings, run, Arc::clone(redactor));
    telemetry.map(Some).map_err(|error| Failure::configuration(error.to_string()))
}

/// The run as those see it who watch events.
pub(in crate::operation) fn sink(telemetry: Option<&Arc<Telemetry>>) -> Option<Arc<dyn EventSink>> {
    telemetry.map(|telemetry| Arc::clone(telemetry) as Arc<dyn EventSink>)
}

/// The run as those see it who watch activities.
pub(in crate::operation) fn watcher(telemetry: Option<&Arc<Telemetry>>) -> Option<Arc<dyn ActivityWatcher>> {
    telemetry.map(|telemetry| Arc::clone(telemetry) as Arc<dyn ActivityWatcher>)
}

/// The run is over: waits some seconds at most for the collector. What that did not take is told and changes nothing.
pub(in crate::operation) async fn end(workplace: &Workplace<'_>, telemetry: Option<&Arc<Telemetry>>, outcome: Outcome) {
    let Some(telemetry) = telemetry.map(Arc::clone) else { return };
    if let Ok(Some(warning)) = tokio::task::spawn_blocking(move || telemetry.end(outcome)).await {
        workplace.context.console.warn(warning);
    }
}
