//! An operation as one line of JSON (semantics 14.5).

use std::io::{self, Write};
use std::time::Duration;

use maloko_core::event::{Event, Op, StepMetadata, Summary};
use serde::Serialize;

use super::json::outcome_name;
use super::worker::Renderer;

/// Notes what is done, and writes it down when it is over.
pub(super) struct SummaryLine {
    show_sames: bool,
    resources: Vec<Resource>,
    summary: Option<Summary>,
}

impl SummaryLine {
    /// With `show_sames` unchanged resources are listed too.
    #[must_use]
    pub(super) fn new(show_sames: bool) -> Self {
        Self { show_sames, resources: Vec::new(), summary: None }
    }
}

impl Renderer for SummaryLine {
    fn event(&mut self, _at: Duration, event: Event, _out: &mut dyn Write) -> io::Result<()> {
        match event {
            Event::StepStarted(step) if !step.internal && (step.op != Op::Same || self.show_sames) => {
                self.resources.push(Resource::new(&step));
            }
            Event::Summary(summary) => self.summary = Some(summary),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, now: Duration, out: &mut dyn Write) -> io::Result<()> {
        let Some(summary) = self.summary.take() else { return Ok(()) };
        let duration = Duration::try_from_secs_f64(summary.duration_seconds).unwrap_or(now);
        let line = Line {
            result: outcome_name(summary.outcome),
            duration: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            summary: summary.changes,
            resources: std::mem::take(&mut self.resources),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")
    }
}

#[derive(Serialize)]
struct Line {
    /// `succeeded`, `failed` or `canceled`.
    result: &'static str,
    /// In nanoseconds.
    duration: u64,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    summary: std::collections::BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<Resource>,
}

#[derive(Serialize)]
struct Resource {
    urn: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
}

impl Resource {
    fn new(step: &StepMetadata) -> Self {
        let row = step.new.as_deref().or(step.old.as_deref());
        Self {
            urn: step.urn.to_string(),
            kind: step.urn.own_type().to_owned(),
            name: step.urn.name().to_owned(),
            op: step.op.name(),
            parent: row.and_then(|row| row.parent.as_ref()).map(ToString::to_string),
        }
    }
}
