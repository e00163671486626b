//! What a recorder has noted, in the words of the page.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use maloko_core::activity::ActivityKind;
use maloko_core::event::{Diagnostic, Op};
use maloko_core::urn::Urn;

use super::critical_path::critical_path;
use super::data::{self, PageData, PlannedStep, Run};
use super::past::{self, MANY};
use super::recorder::{NotedActivity, NotedEnd, NotedResource, NotedStep, Recorder, Recording};
use super::resources::Places;
use super::shown::{Detail, Shower};
use super::slowest::{self, LONG_RUN};
use crate::display::CauseKind;

/// The format of the data: one more whenever a page could not read it any more.
pub(super) const FORMAT: u32 = 1;

impl Recorder {
    /// All that a page shows of the run so far, but for the past of the stack.
    pub(crate) fn data(&self) -> PageData {
        self.data_with(Detail::Whole)
    }

    /// The same without any property.
    pub(super) fn outline(&self) -> PageData {
        self.data_with(Detail::Outline)
    }

    /// What the history keeps of the run, if it is not too much.
    pub(crate) fn record(&self) -> Option<String> {
        let changed = self.recording().steps.iter().filter(|noted| noted.step.op != Op::Same).count();
        // Of more not even the outline's properties would fit.
        past::record(if changed > MANY { self.outline() } else { self.data() })
    }

    fn data_with(&self, detail: Detail) -> PageData {
        // Put into words without holding up the run.
        let noted = self.noted();
        if detail == Detail::Whole {
            self.learn(&noted);
        }
        let places: Places<'_> =
            noted.resources.iter().enumerate().map(|(place, known)| (&known.resource.urn, place)).collect();
        let shower = &self.shower;
        let resources: Vec<_> =
            noted.resources.iter().map(|known| shower.resource(&known.resource, known.gone, &places, detail)).collect();
        let duration = milliseconds(noted.took.unwrap_or_else(|| self.started.elapsed()));
        let activities: Vec<_> = noted.activities.iter().map(|it| activity(shower, it, &places)).collect();
        let run = Run {
            kind: self.beginning.kind.to_owned(),
            dry_run: self.beginning.dry_run,
            version: None,
            outcome: noted.outcome.to_owned(),
            began: self.beginning.at.to_string(),
            duration,
            message: shower.message(&self.beginning.message),
            changes: noted.changes,
            steps: noted.steps.iter().filter_map(|it| step(shower, it, &places, detail)).collect(),
            diagnostics: noted.diagnostics.iter().map(|it| diagnostic(shower, it, &places)).collect(),
            critical_path: critical_path(&resources, &activities, duration),
            activities,
            plan: self.plan(&places),
        };
        PageData {
            format: FORMAT,
            maloko: env!("CARGO_PKG_VERSION").to_owned(),
            project: self.beginning.project.clone(),
            stack: self.beginning.stack.clone(),
            secrets_provider: self.secrets_provider.clone(),
            outputs: noted.outputs.as_deref().map(|outputs| shower.properties(outputs)).unwrap_or_default(),
            unresolved_creates: shower.unresolved_creates(&noted.unresolved_creates),
            resources,
            run: Some(run),
            ..PageData::default()
        }
    }

    /// The slowest calls and the critical path of a long run, in a line each.
    pub(crate) fn slowest(&self) -> Vec<String> {
        let duration = milliseconds(self.recording().took.unwrap_or_default());
        if duration < LONG_RUN {
            return Vec::new();
        }
        let data = self.outline();
        data.run.map(|run| slowest::lines(&data.resources, &run)).unwrap_or_default()
    }

    /// Teaches what hides secrets those of the resources: the engine knows only of what it has met.
    fn learn(&self, noted: &RecordingCopy) {
        let secrets = self.shower.secrets();
        noted.resources.iter().for_each(|known| secrets.learn_resource(&known.resource));
        for noted in &noted.steps {
            noted.step.old.iter().chain(&noted.step.new).for_each(|resource| secrets.learn_resource(resource));
        }
        noted.outputs.iter().for_each(|outputs| secrets.learn(outputs));
    }

    /// What was planned, of the resources that are known by now.
    pub(super) fn plan(&self, places: &Places<'_>) -> Vec<PlannedStep> {
        let plan = self.beginning.plan.iter();
        plan.filter_map(|(urn, op)| {
            Some(PlannedStep { resource: *places.get(&Urn::unchecked(urn.as_str()))?, op: op.clone() })
        })
        .collect()
    }

    /// A copy of what was noted, which shares the resources.
    fn noted(&self) -> RecordingCopy {
        let recording = self.recording();
        RecordingCopy {
            resources: recording.resources.iter().map(NotedResource::clone).collect(),
            steps: recording.steps.iter().map(NotedStep::clone).collect(),
            activities: recording.activities.iter().map(NotedActivity::clone).collect(),
            diagnostics: recording.diagnostics.clone(),
            outputs: recording.outputs.clone(),
            unresolved_creates: recording.unresolved_creates.clone(),
            outcome: recording.outcome(),
            changes: changes(&recording),
            took: recording.took,
        }
    }
}

struct RecordingCopy {
    resources: Vec<NotedResource>,
    steps: Vec<NotedStep>,
    activities: Vec<NotedActivity>,
    diagnostics: Vec<(Diagnostic, Duration)>,
    outputs: Option<Arc<maloko_core::value::PropertyMap>>,
    unresolved_creates: Vec<Arc<maloko_core::state::UnresolvedCreate>>,
    outcome: &'static str,
    changes: BTreeMap<String, u64>,
    took: Option<Duration>,
}

/// Counts by operation: of a run that goes on, of the steps that are done.
pub(super) fn changes(recording: &Recording) -> BTreeMap<String, u64> {
    if let Some(summary) = &recording.summary {
        return summary.changes.iter().map(|(op, number)| ((*op).to_owned(), *number)).collect();
    }
    let mut changes = BTreeMap::new();
    let done = recording.steps.iter().filter(|noted| noted.ended.is_some() && !noted.failed);
    for op in done.filter_map(|noted| noted.step.counted()) {
        *changes.entry(op.name().to_owned()).or_default() += 1;
    }
    changes
}

/// Milliseconds to two places.
pub(super) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

pub(super) fn step(shower: &Shower, noted: &NotedStep, places: &Places<'_>, detail: Detail) -> Option<data::Step> {
    let step = &noted.step;
    let because = noted.why.cause.as_ref().and_then(|cause| {
        let (kind, property) = match &cause.kind {
            CauseKind::Property(property) => ("property", Some(shower.text(property))),
            CauseKind::ReplaceWith => ("replaceWith", None),
            CauseKind::DeletedWith => ("deletedWith", None),
        };
        Some(data::Cause { resource: *places.get(&cause.urn)?, kind: kind.to_owned(), property })
    });
    let status = match (noted.ended, noted.failed) {
        (None, _) => "running",
        (Some(_), false) => "done",
        (Some(_), true) => "failed",
    };
    Some(data::Step {
        resource: *places.get(&step.urn)?,
        op: step.precise_op().name().to_owned(),
        status: status.to_owned(),
        began: milliseconds(noted.began),
        ended: noted.ended.map(milliseconds),
        keys: noted.why.keys.iter().map(|key| shower.text(key)).collect(),
        changes: if step.op == Op::Same || detail == Detail::Outline { Vec::new() } else { shower.changes(step) },
        because,
        note: step.note.to_owned(),
    })
}

pub(super) fn activity(shower: &Shower, noted: &NotedActivity, places: &Places<'_>) -> data::Activity {
    let activity = &noted.activity;
    let kind = match activity.kind {
        ActivityKind::Call => "call",
        ActivityKind::Permit => "permit",
        ActivityKind::Disk => "disk",
        ActivityKind::Dependency => "dependency",
        ActivityKind::Callback => "hook",
        ActivityKind::Plugin => "plugin",
    };
    let (outcome, error, traceback) = match &noted.end {
        NotedEnd::Open => (None, "", ""),
        NotedEnd::Done => (Some("ok"), "", ""),
        NotedEnd::GivenUp => (Some("unknown"), "", ""),
        NotedEnd::Failed { unknown, message, traceback } => {
            (Some(if *unknown { "unknown" } else { "failed" }), message.as_str(), traceback.as_str())
        }
    };
    data::Activity {
        kind: kind.to_owned(),
        name: shower.text(&activity.name),
        resource: activity.urn.as_ref().and_then(|urn| places.get(urn).copied()),
        began: milliseconds(noted.began),
        duration: noted.took.map(milliseconds),
        attempt: (activity.attempt > 1).then_some(activity.attempt),
        outcome: outcome.map(str::to_owned),
        error: shower.message(error),
        traceback: shower.message(traceback),
    }
}

pub(super) fn diagnostic(
    shower: &Shower,
    (said, at): &(Diagnostic, Duration),
    places: &Places<'_>,
) -> data::Diagnostic {
    data::Diagnostic {
        resource: said.urn.as_ref().and_then(|urn| places.get(urn).copied()),
        severity: said.severity.name().to_owned(),
        message: shower.message(said.message.trim_end()),
        at: milliseconds(*at),
    }
}
