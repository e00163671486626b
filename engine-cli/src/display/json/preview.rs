//! A preview as one JSON document (docs/rules 14.4).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use maloko_core::event::{DetailedDiff, Event, Op, Severity, StepMetadata, Summary};
use maloko_core::urn::Urn;
use serde::{Serialize, Serializer};

use crate::display::diff::changed_properties;
use crate::display::json::value::{FullResource, SecretForm, Writing};
use crate::display::json::{counted_as, prefix, severity_name, write_harmless};
use crate::display::redact::SecretDisplay;
use crate::display::worker::Renderer;

/// Collects a preview and writes it when it is over.
pub(in crate::display) struct PreviewDocument {
    redactor: SecretDisplay,
    show_sames: bool,
    began: bool,
    config: BTreeMap<String, String>,
    steps: Vec<StepMetadata>,
    diagnostics: Vec<(Option<Urn>, Severity, String)>,
    summary: Option<Summary>,
}

impl PreviewDocument {
    /// With `show_sames` unchanged resources are listed too.
    #[must_use]
    pub(in crate::display) fn new(redactor: SecretDisplay, show_sames: bool) -> Self {
        Self {
            redactor,
            show_sames,
            began: false,
            config: BTreeMap::new(),
            steps: Vec::new(),
            diagnostics: Vec::new(),
            summary: None,
        }
    }

    /// Is it one of the steps that the document lists?
    fn lists(&self, step: &StepMetadata) -> bool {
        !step.internal
            && step.counted().is_some()
            && (step.op != Op::Same || self.show_sames || step.urn.is_root_stack())
    }
}

impl Renderer for PreviewDocument {
    fn event(&mut self, _at: Duration, event: Event, _out: &mut dyn Write) -> io::Result<()> {
        self.began = true;
        match event {
            Event::Prelude(config) => self.config = config,
            // The resources are wanted as they are before the step.
            Event::StepStarted(step) => {
                step.old.iter().chain(&step.new).for_each(|resource| self.redactor.learn_resource(resource));
                if self.lists(&step) {
                    self.steps.push(step);
                }
            }
            Event::Diagnostic(message) if !message.ephemeral && message.severity != Severity::Debug => {
                let urn = message.urn.filter(|urn| !urn.as_str().is_empty());
                self.diagnostics.push((urn, message.severity, message.message.into()));
            }
            Event::Summary(summary) => self.summary = Some(summary),
            _ => {}
        }
        Ok(())
    }

    /// Written also when the preview broke off: a reader of the document finds the reason in it.
    fn finish(&mut self, now: Duration, out: &mut dyn Write) -> io::Result<()> {
        if !self.began {
            return Ok(());
        }
        let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut json = Vec::new();
        self.document(now).serialize(&mut serde_json::Serializer::with_formatter(&mut json, formatter))?;
        json.push(b'\n');
        write_harmless(&json, out)
    }
}

impl PreviewDocument {
    fn document(&self, now: Duration) -> Document<'_> {
        let writing = Writing { redactor: &self.redactor, secrets: SecretForm::Text };
        let duration = self
            .summary
            .as_ref()
            .map_or(now, |summary| Duration::try_from_secs_f64(summary.duration_seconds).unwrap_or(now));
        Document {
            config: &self.config,
            steps: self.steps.iter().map(|step| Step::new(step, writing)).collect(),
            diagnostics: Diagnostics(&self.redactor, &self.diagnostics),
            duration: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            change_summary: self.summary.as_ref().map(|summary| summary.changes.clone()).unwrap_or_default(),
            maybe_corrupt: self.summary.as_ref().is_some_and(|summary| summary.maybe_corrupt),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    config: &'a BTreeMap<String, String>,
    steps: Vec<Step<'a>>,
    diagnostics: Diagnostics<'a>,
    /// In nanoseconds.
    duration: u64,
    change_summary: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    maybe_corrupt: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_as: Option<&'static str>,
    urn: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    provider: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_state: Option<FullResource<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_state: Option<FullResource<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diff_reasons: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    replace_reasons: &'a [String],
    detailed_diff: Option<Kinds<'a>>,
}

impl<'a> Step<'a> {
    fn new(step: &'a StepMetadata, writing: Writing<'a>) -> Self {
        let resource = step.new.as_deref().or(step.old.as_deref());
        Self {
            op: step.op.name(),
            counted_as: counted_as(step),
            urn: step.urn.as_str(),
            provider: resource.map_or("", |resource| &resource.provider),
            old_state: step.old.as_deref().map(|resource| FullResource(writing, resource)),
            new_state: step.new.as_deref().map(|resource| FullResource(writing, resource)),
            diff_reasons: changed_properties(step),
            replace_reasons: &step.keys,
            detailed_diff: step.detailed_diff.as_ref().map(Kinds),
        }
    }
}

/// A detailed diff as documents have it.
pub(in crate::display) struct Kinds<'a>(pub(in crate::display) &'a DetailedDiff);

impl Serialize for Kinds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Kind {
            kind: &'static str,
            input_diff: bool,
        }
        serializer.collect_map(
            self.0.iter().map(|(path, diff)| (path, Kind { kind: diff.kind.name(), input_diff: diff.input_diff })),
        )
    }
}

struct Diagnostics<'a>(&'a SecretDisplay, &'a [(Option<Urn>, Severity, String)]);

impl Serialize for Diagnostics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            urn: Option<&'a Urn>,
            #[serde(skip_serializing_if = "str::is_empty")]
            prefix: &'static str,
            message: std::borrow::Cow<'a, str>,
            severity: &'static str,
        }
        let Self(redactor, all) = self;
        serializer.collect_seq(all.iter().map(|(urn, severity, text)| Entry {
            urn: urn.as_ref(),
            prefix: prefix(*severity),
            message: redactor.message(text),
            severity: severity_name(*severity),
        }))
    }
}
