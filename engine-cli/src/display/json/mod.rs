//! Engine events as JSON, one per line (docs/rules 14.5).

mod policies;
pub(in crate::display) mod preview;
pub(in crate::display) mod summary;
pub(in crate::display) mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use maloko_core::event::{DetailedDiff, Diagnostic, Event, Op, Outcome, Severity, StepMetadata, Summary};
use maloko_core::invisible::harmless_json;
use maloko_core::policy::PolicyQuestion;
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::Urn;
use maloko_core::value::PropertyMap;
use serde::{Serialize, Serializer};

use super::diff::changed_properties;
use super::json::value::{Messages, Properties, SecretForm, Writing};
use super::redact::SecretDisplay;
use super::words::result;
use super::worker::{Renderer, unix_seconds};

/// Which events have a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All that a display shows.
    Shown,
    /// Also the steps that none shows, which are those of default providers.
    All,
    /// Messages alone.
    Messages,
}

/// Writes one line per event.
pub(super) struct JsonLines {
    redactor: SecretDisplay,
    planning: bool,
    scope: Scope,
    opened: SystemTime,
    sequence: u64,
    line: Vec<u8>,
}

impl JsonLines {
    /// `planning`: the operation is a preview; `opened`: the wall clock's time from which the events count theirs.
    #[must_use]
    pub(super) fn new(redactor: SecretDisplay, planning: bool, scope: Scope, opened: SystemTime) -> Self {
        Self { redactor, planning, scope, opened, sequence: 0, line: Vec::new() }
    }
}

impl Renderer for JsonLines {
    fn event(&mut self, at: Duration, event: Event, out: &mut dyn Write) -> io::Result<()> {
        if let Event::StepStarted(step) | Event::StepDone(step) | Event::StepFailed(step) = &event {
            if step.internal && self.scope == Scope::Shown {
                return Ok(());
            }
            step.old.iter().chain(&step.new).for_each(|resource| self.redactor.learn_resource(resource));
        }
        if self.scope == Scope::Messages && !matches!(event, Event::Diagnostic(_)) {
            return Ok(());
        }
        let writing = Writing { redactor: &self.redactor, secrets: SecretForm::Signature };
        let Some(body) = body_of(&event, self.planning, writing) else { return Ok(()) };
        let line = Line { sequence: self.sequence, timestamp: unix_seconds(self.opened, at), body };
        self.sequence += 1;
        self.line.clear();
        serde_json::to_writer(&mut self.line, &line)?;
        self.line.push(b'\n');
        write_harmless(&self.line, out)
    }
}

/// Writes JSON so that a terminal obeys nothing in it.
fn write_harmless(json: &[u8], out: &mut dyn Write) -> io::Result<()> {
    match std::str::from_utf8(json).map(harmless_json) {
        Ok(harmless) => out.write_all(harmless.as_bytes()),
        Err(_) => out.write_all(json),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    sequence: u64,
    timestamp: u64,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::enum_variant_names, reason = "the names of the members of a line")]
enum Body<'a> {
    PreludeEvent {
        config: &'a BTreeMap<String, String>,
    },
    ResourcePreEvent {
        metadata: Metadata<'a>,
        #[serde(skip_serializing_if = "is_false")]
        planning: bool,
    },
    ResOutputsEvent {
        metadata: Metadata<'a>,
        #[serde(skip_serializing_if = "is_false")]
        planning: bool,
    },
    ResOpFailedEvent {
        metadata: Metadata<'a>,
        status: u8,
        steps: u8,
    },
    DiagnosticEvent(DiagnosticEvent<'a>),
    PolicyLoadEvent {},
    PolicyEvent(policies::Violation<'a>),
    PolicyRemediationEvent(policies::Remediation<'a>),
    PolicyRemediateSummaryEvent(policies::PackSummary<'a>),
    PolicyAnalyzeSummaryEvent(policies::PackSummary<'a>),
    PolicyAnalyzeStackSummaryEvent(policies::PackSummary<'a>),
    SummaryEvent(Totals<'a>),
    CancelEvent {},
}

fn body_of<'a>(event: &'a Event, planning: bool, writing: Writing<'a>) -> Option<Body<'a>> {
    Some(match event {
        Event::Prelude(config) => Body::PreludeEvent { config },
        Event::StepStarted(step) => Body::ResourcePreEvent { metadata: Metadata::new(step, writing), planning },
        Event::StepDone(step) => Body::ResOutputsEvent { metadata: Metadata::new(step, writing), planning },
        Event::StepFailed(step) => {
            Body::ResOpFailedEvent { metadata: Metadata::new(step, writing), status: 0, steps: 1 }
        }
        // They stand in the outputs event of the root stack.
        Event::StackOutputs { .. } => return None,
        Event::Diagnostic(diagnostic) => Body::DiagnosticEvent(DiagnosticEvent::new(diagnostic, writing.redactor)),
        Event::PolicyLoad => Body::PolicyLoadEvent {},
        Event::PolicyViolation(violation) => Body::PolicyEvent(policies::Violation::new(violation, writing)),
        Event::PolicyRemediation(it) => Body::PolicyRemediationEvent(policies::Remediation::new(it, writing)),
        Event::PolicySummary(summary) => {
            let answered = policies::PackSummary::new(summary);
            match summary.question {
                PolicyQuestion::Remediate => Body::PolicyRemediateSummaryEvent(answered),
                PolicyQuestion::Analyze => Body::PolicyAnalyzeSummaryEvent(answered),
                PolicyQuestion::AnalyzeStack => Body::PolicyAnalyzeStackSummaryEvent(answered),
            }
        }
        Event::Summary(summary) => Body::SummaryEvent(Totals::new(summary)),
        Event::End => Body::CancelEvent {},
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    op: &'static str,
    /// As what maloko counts the step, where that is not what the op says.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_as: Option<&'static str>,
    urn: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    old: Option<State<'a>>,
    new: Option<State<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    keys: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diffs: Vec<Cow<'a, str>>,
    detailed_diff: Option<Kinds<'a>>,
    #[serde(skip_serializing_if = "is_false")]
    logical: bool,
    provider: &'a str,
}

impl<'a> Metadata<'a> {
    fn new(step: &'a StepMetadata, writing: Writing<'a>) -> Self {
        let resource = step.new.as_deref().or(step.old.as_deref());
        Self {
            // Readers of Pulumi's events know no other deletions.
            op: if step.op == Op::Refresh { result(step) } else { step.op }.name(),
            counted_as: counted_as(step),
            urn: step.urn.as_str(),
            kind: resource.map_or(step.urn.own_type(), |resource| &resource.kind),
            old: step.old.as_deref().map(|resource| State::new(resource, writing)),
            new: step.new.as_deref().map(|resource| State::new(resource, writing)),
            keys: &step.keys,
            diffs: changed_properties(step),
            detailed_diff: step.detailed_diff.as_ref().map(Kinds),
            logical: step.op.is_logical(),
            provider: resource.map_or("", |resource| &resource.provider),
        }
    }
}

/// As what maloko counts a step, where its op does not say so.
pub(super) fn counted_as(step: &StepMetadata) -> Option<&'static str> {
    let usually = step.op.is_logical().then_some(step.op);
    step.counted().filter(|counted| Some(*counted) != usually).map(Op::name)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    urn: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    custom: bool,
    #[serde(skip_serializing_if = "is_false")]
    delete: bool,
    id: &'a str,
    parent: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    protect: bool,
    #[serde(skip_serializing_if = "is_false")]
    taint: bool,
    #[serde(skip_serializing_if = "is_false")]
    retain_on_delete: bool,
    inputs: Properties<'a>,
    outputs: Properties<'a>,
    provider: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    init_errors: Option<Messages<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hide_diffs: &'a [String],
}

impl<'a> State<'a> {
    fn new(resource: &'a ResourceState, writing: Writing<'a>) -> Self {
        static NONE: PropertyMap = PropertyMap::new();
        Self {
            kind: &resource.kind,
            urn: resource.urn.as_str(),
            custom: resource.custom,
            delete: resource.delete,
            id: &resource.id,
            parent: resource.parent.as_ref().map_or("", Urn::as_str),
            protect: resource.protect,
            taint: resource.taint,
            retain_on_delete: resource.retain_on_delete,
            inputs: Properties(writing, &resource.inputs),
            outputs: Properties(writing, resource.outputs.as_deref().unwrap_or(&NONE)),
            provider: &resource.provider,
            init_errors: (!resource.init_errors.is_empty()).then(|| Messages(writing.redactor, &resource.init_errors)),
            hide_diffs: &resource.hide_diff,
        }
    }
}

/// A detailed diff as events have it; the preview document names the kind otherwise.
struct Kinds<'a>(&'a DetailedDiff);

impl Serialize for Kinds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Kind {
            diff_kind: &'static str,
            input_diff: bool,
        }
        serializer.collect_map(
            self.0.iter().map(|(path, diff)| (path, Kind { diff_kind: diff.kind.name(), input_diff: diff.input_diff })),
        )
    }
}

#[derive(Serialize)]
struct DiagnosticEvent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    urn: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    prefix: &'static str,
    message: Cow<'a, str>,
    color: &'static str,
    severity: &'static str,
    #[serde(skip_serializing_if = "is_false")]
    ephemeral: bool,
}

impl<'a> DiagnosticEvent<'a> {
    fn new(diagnostic: &'a Diagnostic, redactor: &SecretDisplay) -> Self {
        Self {
            urn: diagnostic.urn.as_ref().map(Urn::as_str).filter(|urn| !urn.is_empty()),
            prefix: prefix(diagnostic.severity),
            message: redactor.message(&diagnostic.message),
            color: "never",
            severity: severity_name(diagnostic.severity),
            ephemeral: diagnostic.ephemeral,
        }
    }
}

/// What stands before a message, as a terminal shows it.
#[must_use]
pub(super) fn prefix(severity: Severity) -> &'static str {
    match severity {
        Severity::Debug => "debug: ",
        Severity::Info | Severity::Output => "",
        Severity::Warning => "warning: ",
        Severity::Error => "error: ",
    }
}

/// The name of a severity in JSON; printed output counts as information.
#[must_use]
pub(super) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Debug => "debug",
        Severity::Info | Severity::Output => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Totals<'a> {
    maybe_corrupt: bool,
    duration_seconds: u64,
    resource_changes: &'a BTreeMap<&'static str, u64>,
    #[serde(rename = "PolicyPacks")]
    policy_packs: BTreeMap<String, &'a str>,
    is_preview: bool,
    result: &'static str,
}

impl<'a> Totals<'a> {
    fn new(summary: &'a Summary) -> Self {
        Self {
            maybe_corrupt: summary.maybe_corrupt,
            duration_seconds: Duration::try_from_secs_f64(summary.duration_seconds).unwrap_or_default().as_secs(),
            resource_changes: &summary.changes,
            policy_packs: summary
                .policy_packs
                .iter()
                .map(|pack| (policies::key(pack), pack.version.as_str()))
                .collect(),
            is_preview: summary.is_preview,
            result: outcome_name(summary.outcome),
        }
    }
}

/// How an operation ended, as JSON has it.
pub(super) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "canceled",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
