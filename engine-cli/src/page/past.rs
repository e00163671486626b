//! What a page tells of a stack's past, from its history.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use maloko_core::event::Op;
use maloko_core::state::{HistoryEntry, StackName};

use super::data::{Activity, HistoryItem, PageData, PastOperation, Step};
use super::shown::Shower;
use crate::failure::{Failure, Result};
use crate::history::numbers;
use crate::workplace::Workplace;

/// How many past operations a page lists.
const TOLD: usize = 30;
/// The record of a run in the history takes at most so many bytes.
const MAX_BYTES: usize = 512 * 1024;
/// A record that says more than fits in [`MAX_BYTES`] is no longer read than this (bytes, unpacked).
const MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024;
/// Of more activities only those are kept that say something: the long ones, the failed ones, those on the critical path.
const ACTIVITIES: usize = 4_000;
/// Of a run that changes more resources the outline alone is kept.
pub(super) const MANY: usize = 2_000;
/// What operations of the past changed is told property by property up to so many bytes, the newest first.
const CHANGES: usize = 512 * 1024;
/// Such an activity is long (milliseconds).
const LONG: f64 = 5.0;

/// See the module's text.
#[derive(Default)]
pub(crate) struct Past {
    items: Vec<HistoryItem>,
    /// By URN, newest first.
    operations: HashMap<String, Vec<PastOperation>>,
    /// How many bytes the properties take by now.
    changes: usize,
}

impl Past {
    /// The past of a stack, as far as it can be read.
    pub(crate) async fn of(workplace: &Workplace<'_>, stack: &StackName) -> Self {
        let Ok(stored) = workplace.backend.history(stack, 0).await else { return Self::default() };
        let entries: Vec<_> = stored.iter().filter_map(|entry| HistoryEntry::decode(entry).ok()).collect();
        let mut past = Self::default();
        for (version, entry) in numbers(&entries).into_iter().zip(&entries).take(TOLD) {
            past.take(version, entry);
        }
        past
    }

    fn take(&mut self, version: u64, entry: &HistoryEntry) {
        let item = item(version, entry);
        if let Some(PageData { resources, run: Some(run), .. }) = run_of(entry) {
            for step in run.steps.into_iter().filter(|step| step.op != "same") {
                if let Some(resource) = resources.get(step.resource) {
                    self.take_step(version, &item.began, &resource.urn, step);
                }
            }
        }
        self.items.push(item);
    }

    /// The steps of one replacement are one operation.
    fn take_step(&mut self, version: u64, at: &str, urn: &str, step: Step) {
        let size = serde_json::to_vec(&step.changes).map_or(usize::MAX, |text| text.len());
        let operations = self.operations.entry(urn.to_owned()).or_default();
        if operations.last().is_none_or(|last| last.version != version) {
            operations.push(PastOperation {
                version,
                at: at.to_owned(),
                op: step.op.clone(),
                ..PastOperation::default()
            });
        }
        let Some(operation) = operations.last_mut() else { return };
        if step.op == Op::Replace.name() {
            operation.op = step.op;
        }
        operation.failed |= step.status == "failed";
        if operation.keys.is_empty() {
            operation.keys = step.keys;
        }
        if operation.changes.is_empty() && self.changes.saturating_add(size) <= CHANGES {
            self.changes += size;
            operation.changes = step.changes;
        }
    }

    /// The page with what it tells of the past, without what is known to be secret by now.
    pub(crate) fn complete(&self, mut data: PageData, shower: &Shower) -> PageData {
        data.written = Timestamp::now().to_string();
        data.history.clone_from(&self.items);
        for resource in &mut data.resources {
            if let Some(operations) = self.operations.get(&resource.urn) {
                resource.operations = operations.iter().map(|operation| shower.past_operation(operation)).collect();
            }
        }
        data
    }
}

/// An entry of the history, but for its configuration.
fn item(version: u64, entry: &HistoryEntry) -> HistoryItem {
    #[expect(clippy::cast_precision_loss, reason = "seconds of an operation")]
    let duration = entry.end_time.saturating_sub(entry.start_time).max(0) as f64 * 1000.0;
    HistoryItem {
        version,
        kind: entry.kind.clone(),
        result: entry.result.clone(),
        message: entry.message.clone(),
        began: Timestamp::from_second(entry.start_time).map(|time| time.to_string()).unwrap_or_default(),
        duration,
        changes: entry.resource_changes.clone(),
        environment: entry.environment.clone(),
    }
}

/// What the entry of a run keeps of its page: without the properties of resources that it did not change. `None` where that is
/// still too much.
pub(super) fn record(mut data: PageData) -> Option<String> {
    let Some(run) = &mut data.run else { return None };
    // What was left alone as planned says nothing.
    let changes: HashSet<usize> = run.plan.iter().filter(|it| it.op != "same").map(|it| it.resource).collect();
    run.steps.retain(|step| step.op != "same" || changes.contains(&step.resource));
    thin_out(run);
    let mut touched = vec![false; data.resources.len()];
    for step in run.steps.iter().filter(|step| step.op != "same") {
        if let Some(touched) = touched.get_mut(step.resource) {
            *touched = true;
        }
    }
    for (resource, _) in data.resources.iter_mut().zip(&touched).filter(|(_, touched)| !**touched) {
        resource.inputs.clear();
        resource.outputs.clear();
    }
    // What takes most is left out first; of many steps all of it at once.
    let shortenings: &[fn(&mut PageData)] = if touched.iter().filter(|touched| **touched).count() > MANY {
        &[drop_changes]
    } else {
        &[keep_all, drop_properties, drop_changes]
    };
    shortenings.iter().find_map(|shorten| {
        shorten(&mut data);
        pack(&data).filter(|text| text.len() <= MAX_BYTES)
    })
}

fn keep_all(_: &mut PageData) {}

fn drop_properties(data: &mut PageData) {
    for resource in &mut data.resources {
        resource.inputs.clear();
        resource.outputs.clear();
    }
}

fn drop_changes(data: &mut PageData) {
    if let Some(run) = &mut data.run {
        run.steps.iter_mut().for_each(|step| step.changes.clear());
        run.activities.retain(|activity| activity.outcome.as_deref() != Some("ok"));
        run.critical_path.iter_mut().for_each(|item| item.activity = None);
        run.diagnostics.truncate(200);
    }
}

/// Leaves out the many short activities of a large run.
fn thin_out(run: &mut super::data::Run) {
    if run.activities.len() <= ACTIVITIES {
        return;
    }
    let mut kept = vec![false; run.activities.len()];
    for item in &run.critical_path {
        if let Some(kept) = item.activity.and_then(|index| kept.get_mut(index)) {
            *kept = true;
        }
    }
    let says_something = |activity: &Activity| {
        activity.duration.is_none_or(|duration| duration >= LONG) || activity.outcome.as_deref() != Some("ok")
    };
    let mut places = Vec::with_capacity(kept.len());
    let mut next = 0;
    for (index, activity) in run.activities.iter().enumerate() {
        let keeps = kept[index] || (next < ACTIVITIES && says_something(activity));
        kept[index] = keeps;
        places.push(keeps.then_some(next));
        next += usize::from(keeps);
    }
    let mut index = 0;
    run.activities.retain(|_| {
        index += 1;
        kept[index - 1]
    });
    for item in &mut run.critical_path {
        item.activity = item.activity.and_then(|index| places[index]);
    }
}

fn pack(data: &PageData) -> Option<String> {
    // As a whole: packed piece by piece it takes many times as long.
    let text = serde_json::to_vec(data).ok()?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&text).ok()?;
    Some(STANDARD.encode(packed.finish().ok()?))
}

/// The page of a run of the past; `None` where its entry holds none, or none that can be read.
pub(crate) fn run_of(entry: &HistoryEntry) -> Option<PageData> {
    unpack(entry.run.as_ref()?)
}

/// What was recorded of a run; `None` where it cannot be read.
pub(crate) fn unpack(record: &str) -> Option<PageData> {
    let packed = STANDARD.decode(record).ok()?;
    let mut text = Vec::new();
    GzDecoder::new(&packed[..]).take(MAX_UNPACKED_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// One entry of a stack's history, by its number; the newest where none is named.
pub(crate) async fn entry(
    workplace: &Workplace<'_>,
    stack: &StackName,
    version: Option<u64>,
) -> Result<(u64, HistoryEntry)> {
    let stored = workplace.backend.history(stack, 0).await?;
    let entries = stored.iter().map(HistoryEntry::decode).collect::<maloko_core::Result<Vec<_>>>()?;
    let mut numbered: Vec<_> = numbers(&entries).into_iter().zip(entries).collect();
    let (Some(newest), Some(oldest)) = (numbered.first().map(|it| it.0), numbered.last().map(|it| it.0)) else {
        return Err(Failure::configuration(format!("the stack '{}' has no history yet", workplace.shown(stack))));
    };
    let wanted = version.unwrap_or(newest);
    match numbered.iter().position(|(number, _)| *number == wanted) {
        Some(index) => Ok(numbered.swap_remove(index)),
        None => Err(Failure::configuration(format!(
            "the history of the stack '{}' has no version {wanted}: it has {oldest} to {newest}",
            workplace.shown(stack)
        ))),
    }
}

#[cfg(test)]
#[path = "past_tests.rs"]
mod tests;
