//! An operation as one line of JSON (docs/rules 14.5).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use maloko_core::event::{Diagnostic, Event, Op, Outcome, Severity, StepMetadata, Summary};
use maloko_core::urn::Urn;
use maloko_core::value::PropertyMap;
use serde::{Serialize, Serializer};

use crate::display::delta::{Kind, Leaf};
use crate::display::diff::{changed_properties, leaves_of};
use crate::display::drift;
use crate::display::json::preview::Kinds;
use crate::display::json::value::{DisplayedValue, Properties, SecretForm, Writing};
use crate::display::json::{outcome_name, write_harmless};
use crate::display::order::in_order;
use crate::display::reasons::{Reasons, state_changes};
use crate::display::redact::SecretDisplay;
use crate::display::words::{reason, result};
use crate::display::worker::Renderer;

/// Notes what is done, and writes it down when it is over.
pub(in crate::display) struct SummaryLine {
    redactor: SecretDisplay,
    show_sames: bool,
    diff: bool,
    always: bool,
    steps: Vec<SummaryStep>,
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
    outputs: Option<Arc<PropertyMap>>,
    reasons: Reasons,
    summary: Option<Summary>,
}

/// A step, and whether it failed.
struct SummaryStep {
    step: StepMetadata,
    failed: bool,
}

impl SummaryLine {
    /// With `show_sames` unchanged resources are listed too, with `diff` the values that change; without `always` what
    /// succeeds writes nothing.
    #[must_use]
    pub(in crate::display) fn new(redactor: SecretDisplay, show_sames: bool, diff: bool, always: bool) -> Self {
        Self {
            redactor,
            show_sames,
            diff,
            always,
            steps: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            outputs: None,
            reasons: Reasons::default(),
            summary: None,
        }
    }

    fn begun(&mut self, step: &StepMetadata) -> Option<&mut SummaryStep> {
        self.steps.iter_mut().rfind(|begun| begun.step.op == step.op && begun.step.urn == step.urn)
    }

    /// What is listed: of a preview in the order of its text, else as it began. A replacement is one entry with its steps.
    fn listed(&self, is_preview: bool) -> Vec<Entry<'_>> {
        let is_unchanged = |begun: &SummaryStep| result(&begun.step) == Op::Same && !begun.failed;
        let mut listed: Vec<Entry> = Vec::new();
        let mut replacements: HashMap<&Urn, usize> = HashMap::new();
        for begun in self.steps.iter().filter(|begun| self.show_sames || !is_unchanged(begun)) {
            let is_part = is_part_of_replacement(begun.step.op);
            let place = replacements.get(&begun.step.urn).copied().filter(|_| is_part);
            if let Some(entry) = place.and_then(|place| listed.get_mut(place)) {
                entry.add(begun);
                continue;
            }
            if is_part {
                replacements.insert(&begun.step.urn, listed.len());
            }
            listed.push(Entry { shown: begun, failed: begun.failed, steps: vec![begun.step.precise_op().name()] });
        }
        if is_preview {
            let places = in_order(listed.iter().map(|entry| (&entry.shown.step.urn, parent(&entry.shown.step))));
            let places: HashMap<&Urn, usize> = places.iter().zip(0..).collect();
            listed.sort_by_key(|entry| places.get(&entry.shown.step.urn).copied().unwrap_or(usize::MAX));
        }
        listed
    }
}

/// One or more steps of a resource, told as one.
struct Entry<'a> {
    /// The step that says most.
    shown: &'a SummaryStep,
    failed: bool,
    /// What is done, one after the other.
    steps: Vec<&'static str>,
}

impl<'a> Entry<'a> {
    fn add(&mut self, begun: &'a SummaryStep) {
        self.failed |= begun.failed;
        self.steps.push(begun.step.precise_op().name());
        if begun.step.op == Op::Replace {
            self.shown = begun;
        }
    }
}

fn is_part_of_replacement(op: Op) -> bool {
    matches!(
        op,
        Op::Replace
            | Op::CreateReplacement
            | Op::ReadReplacement
            | Op::ImportReplacement
            | Op::DeleteReplaced
            | Op::DiscardReplaced
    )
}

fn parent(step: &StepMetadata) -> Option<&Urn> {
    step.new.as_deref().or(step.old.as_deref())?.parent.as_ref()
}

impl Renderer for SummaryLine {
    fn event(&mut self, _at: Duration, event: Event, _out: &mut dyn Write) -> io::Result<()> {
        if let Event::StepStarted(step) | Event::StepDone(step) = &event {
            step.old.iter().chain(&step.new).for_each(|resource| self.redactor.learn_resource(resource));
        }
        match event {
            Event::StepStarted(step) if !step.internal => {
                self.reasons.note(&step);
                self.steps.push(SummaryStep { step, failed: false });
            }
            // What a refresh found is known when it is done.
            Event::StepDone(step) if step.op == Op::Refresh => {
                if let Some(begun) = self.begun(&step) {
                    begun.step = step;
                }
            }
            Event::StepFailed(step) => {
                if let Some(begun) = self.begun(&step) {
                    begun.failed = true;
                }
            }
            Event::Diagnostic(said) if said.severity == Severity::Error && !said.ephemeral => self.errors.push(said),
            Event::Diagnostic(said) if said.severity == Severity::Warning && !said.ephemeral => {
                self.warnings.push(said);
            }
            Event::StackOutputs { new, .. } => {
                self.redactor.learn(&new);
                self.outputs = Some(new).filter(|outputs| !outputs.is_empty());
            }
            Event::Summary(summary) => self.summary = Some(summary),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, now: Duration, out: &mut dyn Write) -> io::Result<()> {
        let Some(summary) = self.summary.take() else { return Ok(()) };
        if !self.always && summary.outcome == Outcome::Succeeded {
            return Ok(());
        }
        let duration = Duration::try_from_secs_f64(summary.duration_seconds).unwrap_or(now);
        let writing = Writing { redactor: &self.redactor, secrets: SecretForm::Words };
        let line = Line {
            result: outcome_name(summary.outcome),
            duration: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            summary: summary.changes,
            resources: self
                .listed(summary.is_preview)
                .into_iter()
                .map(|entry| Resource::new(entry, &self.reasons, self.diff.then_some(writing)))
                .collect(),
            outputs: self.outputs.as_ref().map(|outputs| Properties(writing, outputs)),
            warnings: self.warnings.iter().map(|said| SummaryDiagnostic::new(said, &self.redactor)).collect(),
            errors: self.errors.iter().map(|said| SummaryDiagnostic::new(said, &self.redactor)).collect(),
        };
        let mut json = serde_json::to_vec(&line)?;
        json.push(b'\n');
        write_harmless(&json, out)
    }
}

#[derive(Serialize)]
struct Line<'a> {
    /// `succeeded`, `failed` or `canceled`.
    result: &'static str,
    /// In nanoseconds.
    duration: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    summary: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<Resource<'a>>,
    /// The stack's outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<Properties<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<SummaryDiagnostic<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<SummaryDiagnostic<'a>>,
}

/// A warning or an error: of a resource, or of the run as a whole.
#[derive(Serialize)]
struct SummaryDiagnostic<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    urn: Option<&'a str>,
    message: Cow<'a, str>,
}

impl<'a> SummaryDiagnostic<'a> {
    fn new(said: &'a Diagnostic, redactor: &'a SecretDisplay) -> Self {
        Self { urn: said.urn.as_ref().map(Urn::as_str), message: redactor.message(said.message.trim_end()) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource<'a> {
    urn: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    name: &'a str,
    op: &'static str,
    /// Did the step fail? Left out where it did not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    /// Of a replacement: what is done, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<&'static str>,
    /// What a refresh found: `changed` or `gone`.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diff_reasons: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    replace_reasons: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    detailed_diff: Option<Kinds<'a>>,
    /// The resource whose replacement leads to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    because_of: Option<Urn>,
    /// What the text says beside properties.
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'static str,
    /// What becomes another one in the state, without the object being touched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    in_state: Vec<String>,
    #[serde(skip_serializing_if = "Differences::is_empty")]
    diff: Differences<'a>,
}

impl<'a> Resource<'a> {
    /// `values`: how those that change are written, where they are wanted.
    fn new(entry: Entry<'a>, reasons: &Reasons, values: Option<Writing<'a>>) -> Self {
        let step = &entry.shown.step;
        Self {
            urn: step.urn.as_str(),
            kind: step.urn.own_type(),
            name: step.urn.name(),
            op: step.precise_op().name(),
            failed: entry.failed,
            steps: if entry.steps.len() > 1 { entry.steps } else { Vec::new() },
            found: if step.op == Op::Refresh { drift::word(result(step)) } else { None },
            parent: parent(step).map(Urn::as_str),
            diff_reasons: changed_properties(step),
            replace_reasons: &step.keys,
            detailed_diff: step.detailed_diff.as_ref().map(Kinds),
            because_of: reasons.cause(step).map(|cause| cause.urn),
            reason: reason(step),
            in_state: state_changes(step),
            diff: Differences::of(step, values),
        }
    }
}

/// By path what changes, as far down as it can be said.
struct Differences<'a>(Vec<(String, Difference<'a>)>);

impl<'a> Differences<'a> {
    fn of(step: &'a StepMetadata, values: Option<Writing<'a>>) -> Self {
        let Some(writing) = values else { return Self(Vec::new()) };
        let leaves = leaves_of(step, writing.redactor);
        Self(leaves.into_iter().map(|leaf| difference(leaf, writing)).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Differences<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(path, difference)| (path, difference)))
    }
}

#[derive(Serialize)]
struct Difference<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<DisplayedValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<DisplayedValue<'a>>,
}

fn difference<'a>(leaf: Leaf<'a>, writing: Writing<'a>) -> (String, Difference<'a>) {
    let kind = match (leaf.kind, leaf.replace) {
        (Kind::Add, false) => "add",
        (Kind::Add, true) => "add-replace",
        (Kind::Delete, false) => "delete",
        (Kind::Delete, true) => "delete-replace",
        (Kind::Update | Kind::Same, false) => "update",
        (Kind::Update | Kind::Same, true) => "update-replace",
    };
    let shown = |value| DisplayedValue(writing, value);
    (leaf.path, Difference { kind, old: leaf.old.map(shown), new: leaf.new.map(shown) })
}
