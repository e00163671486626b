//! What those are told who watch a live page: what is new since they were last told.

use serde::Serialize;

use super::data;
use super::recorder::{ChangedIndices, Recorder};
use super::resources::Places;
use super::run_data::{activity, changes, diagnostic, milliseconds, step};
use super::shown::Detail;

/// See `More` in `page/src/data.ts`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct More {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<(usize, data::Resource)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<data::Properties>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<(usize, data::Step)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    activities: Vec<(usize, data::Activity)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<(usize, data::Diagnostic)>,
    run: RunSoFar,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunSoFar {
    outcome: String,
    duration: f64,
    changes: std::collections::BTreeMap<String, u64>,
    /// Of the resources that are known by now, where some are new.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<data::PlannedStep>>,
    /// Known when the run is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    critical_path: Option<Vec<data::PathItem>>,
}

impl ChangedIndices {
    /// `diagnostics`: how many there are by now.
    fn is_nothing(&self, diagnostics: usize) -> bool {
        self.resources.is_empty()
            && self.steps.is_empty()
            && self.activities.is_empty()
            && !self.outputs
            && !self.over
            && self.diagnostics == diagnostics
    }
}

impl Recorder {
    /// Begins to note what changes.
    pub(super) fn note_changes(&self) {
        let mut recording = self.recording();
        let diagnostics = recording.diagnostics.len();
        recording.changed = Some(ChangedIndices { diagnostics, ..ChangedIndices::default() });
    }

    /// What is new since this was last asked; `None` where nothing is. Not `wanted`: forgets it.
    pub(super) fn more(&self, wanted: bool) -> Option<More> {
        let mut recording = self.recording();
        let diagnostics = recording.diagnostics.len();
        let mut changed = recording.changed.replace(ChangedIndices { diagnostics, ..ChangedIndices::default() })?;
        if !wanted || changed.is_nothing(diagnostics) {
            return None;
        }
        for indices in [&mut changed.resources, &mut changed.steps, &mut changed.activities] {
            indices.sort_unstable();
            indices.dedup();
        }
        let shower = &self.shower;
        for place in &changed.resources {
            shower.secrets().learn_resource(&recording.resources[*place].resource);
        }
        let places: Places<'_> =
            recording.resources.iter().enumerate().map(|(place, known)| (&known.resource.urn, place)).collect();
        let resource = |place: usize| {
            let known = &recording.resources[place];
            (place, shower.resource(&known.resource, known.gone, &places, Detail::Whole))
        };
        let outputs = recording.outputs.as_deref().filter(|_| changed.outputs);
        let more = More {
            resources: changed.resources.into_iter().map(resource).collect(),
            outputs: outputs.map(|outputs| shower.properties(outputs)),
            steps: changed
                .steps
                .into_iter()
                .filter_map(|index| Some((index, step(shower, &recording.steps[index], &places, Detail::Whole)?)))
                .collect(),
            activities: changed
                .activities
                .into_iter()
                .map(|index| (index, activity(shower, &recording.activities[index], &places)))
                .collect(),
            diagnostics: recording
                .diagnostics
                .iter()
                .enumerate()
                .skip(changed.diagnostics)
                .map(|(index, said)| (index, diagnostic(shower, said, &places)))
                .collect(),
            run: RunSoFar {
                outcome: recording.outcome().to_owned(),
                duration: milliseconds(recording.took.unwrap_or_else(|| self.started.elapsed())),
                changes: changes(&recording),
                plan: changed.has_new_resources.then(|| self.plan(&places)),
                critical_path: None,
            },
        };
        let is_over = recording.summary.is_some();
        drop(places);
        drop(recording);
        if !is_over {
            return Some(more);
        }
        let path = self.outline().run.map(|run| run.critical_path);
        Some(More { run: RunSoFar { critical_path: path, ..more.run }, ..more })
    }
}
