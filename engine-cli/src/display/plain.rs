//! One line per finished step, for logs and pipes.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use maloko_core::event::{Diagnostic, Event, Op, Severity, Speaker, StepMetadata, Summary};
use maloko_core::invisible::clean;
use maloko_core::operation::OperationKind;
use maloko_core::urn::Urn;
use maloko_core::value::PropertyMap;

use super::DisplayOptions;
use super::diff::{DiffText, changed_keys};
use super::drift;
use super::failures::{ErrorText, Failures};
use super::json::prefix;
use super::order::ResourceLines;
use super::paint::Paint;
use super::policies::Policies;
use super::reasons::{Reasons, state_changes};
use super::redact::SecretDisplay;
use super::summary;
use super::words::{TypeNames, duration, heading, reason, result, words};
use super::worker::Renderer;

/// Writes lines.
pub(super) struct Plain {
    options: DisplayOptions,
    redactor: SecretDisplay,
    paint: Paint,
    names: TypeNames,
    active: HashMap<Urn, Active>,
    failures: Failures,
    /// Places and tracebacks that were shown: where ten creates fail at one place, it is told once.
    told: BTreeSet<String>,
    /// In a preview: the lines of each resource, which are written in an order that does not vary.
    held: ResourceLines,
    /// In a preview that refreshes first: what the objects were found to be like.
    drift: ResourceLines,
    /// Does the operation refresh first? Then what it finds stands apart from what it does.
    refreshes: bool,
    /// What was written last: what was found (`true`), or what is done.
    section: Option<bool>,
    reasons: Reasons,
    outputs: Option<(Arc<PropertyMap>, Arc<PropertyMap>)>,
    summary: Option<Summary>,
    policies: Policies,
}

/// A step in progress.
struct Active {
    op: Op,
    since: Duration,
    /// When it is time to say that it still runs, once its provider was called.
    mention_at: Option<Duration>,
    /// Is it a component or the stack, which last as long as what is inside?
    lasting: bool,
    /// Errors of the step, held until its own line is written.
    errors: Vec<ErrorText>,
}

impl Plain {
    /// One that has shown nothing yet.
    #[must_use]
    pub(super) fn new(options: DisplayOptions, redactor: SecretDisplay) -> Self {
        let paint = Paint::new(options.color);
        Self {
            options,
            redactor,
            paint,
            names: TypeNames::default(),
            active: HashMap::new(),
            failures: Failures::default(),
            told: BTreeSet::new(),
            held: ResourceLines::default(),
            drift: ResourceLines::default(),
            refreshes: false,
            section: None,
            reasons: Reasons::default(),
            outputs: None,
            summary: None,
            policies: Policies::default(),
        }
    }

    fn diff_text(&self) -> DiffText<'_> {
        DiffText { redactor: &self.redactor, paint: self.paint }
    }

    fn started(&mut self, at: Duration, step: &StepMetadata) {
        self.names.learn(step.urn.own_type());
        step.old.iter().chain(&step.new).for_each(|resource| self.redactor.learn_resource(resource));
        let resource = step.new.as_ref().or(step.old.as_ref());
        let custom = resource.is_none_or(|resource| resource.custom);
        self.reasons.note(step);
        self.refreshes |= drift::is_drift(self.options.kind, step.op);
        if self.options.is_preview {
            let parent = resource.and_then(|resource| resource.parent.as_ref());
            self.held.place(&step.urn, parent);
            self.drift.place(&step.urn, parent);
        }
        let active = Active { op: step.op, since: at, mention_at: None, lasting: !custom, errors: Vec::new() };
        self.active.insert(step.urn.clone(), active);
    }

    fn done(&mut self, at: Duration, step: &StepMetadata, out: &mut dyn Write) -> io::Result<()> {
        step.new.iter().for_each(|resource| self.redactor.learn_resource(resource));
        let active = self.active.remove(&step.urn);
        self.failures.done(&self.names.title(&step.urn));
        let refreshed = active.as_ref().is_some_and(|active| active.op == Op::Refresh);
        let op = result(step);
        let is_drift = drift::is_drift(self.options.kind, step.op);
        let in_state = if self.options.kind == OperationKind::Update { state_changes(step) } else { Vec::new() };
        let in_state = in_state.join("; ");
        if self.shows(step, op, refreshed) {
            let words = words(op);
            let verb = if self.options.is_preview { words.plan } else { words.done };
            let verb = drift::word(op).filter(|_| is_drift).unwrap_or(verb);
            let mut shown = step.clone();
            if refreshed {
                shown.op = Op::Refresh;
            }
            let changes = changed_keys(&shown);
            let mut line = self.paint.op(op, &format!("{}{} {verb}", marker(op), self.names.title(&step.urn)));
            if !self.options.is_preview {
                line.push_str(&self.elapsed(at, active.as_ref()));
            }
            let because = self.reasons.because(step, &self.names).unwrap_or_default();
            let gone = is_drift && op == Op::Delete;
            let properties = if self.options.diff { self.diff_text().properties(&shown) } else { Vec::new() };
            // Where a list follows, the line says what it does not.
            let hides_changes = gone || !properties.is_empty();
            let details = [reason(step), if hides_changes { "" } else { &changes }, &because, &in_state];
            let details: Vec<&str> = details.into_iter().filter(|text| !text.is_empty()).collect();
            if !details.is_empty() {
                line.push_str(&self.paint.dim(&format!(" [{}]", details.join("; "))));
            }
            let mut lines = vec![line];
            lines.extend(properties);
            self.write_step(&step.urn, is_drift, lines, out)?;
        } else if op == Op::Same && !in_state.is_empty() {
            let line = format!("  {}: {in_state}", self.names.title(&step.urn));
            self.write_step(&step.urn, is_drift, vec![line], out)?;
        }
        self.write_errors(&step.urn, active.map(|active| active.errors).unwrap_or_default(), out)
    }

    /// Writes the lines of a step: what a refresh found apart from what is done.
    fn write_step(&mut self, urn: &Urn, is_drift: bool, lines: Vec<String>, out: &mut dyn Write) -> io::Result<()> {
        if self.options.is_preview && is_drift {
            self.drift.hold(urn, lines);
            return Ok(());
        }
        if !self.options.is_preview && self.refreshes && self.section != Some(is_drift) {
            if self.section.is_none() && !is_drift {
                writeln!(out, "{}", drift::heading(self.paint, false))?;
            }
            let heading =
                if is_drift { drift::heading(self.paint, true) } else { drift::heading_of_the_rest(self.paint, false) };
            writeln!(out, "{heading}")?;
            self.section = Some(is_drift);
        }
        self.write(Some(urn), lines, out)
    }

    /// In a preview: all that was held.
    fn write_held(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let (found, plan) = (self.drift.take(), self.held.take());
        if std::mem::take(&mut self.refreshes) {
            if !found.is_empty() || self.section.is_none() {
                writeln!(out, "{}", drift::heading(self.paint, !found.is_empty()))?;
            }
            found.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            if self.options.is_preview {
                writeln!(out, "{}", drift::heading_of_the_rest(self.paint, true))?;
            }
        }
        plan.iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// Writes lines at once; in a preview those of a resource wait for their place.
    fn write(&mut self, urn: Option<&Urn>, lines: Vec<String>, out: &mut dyn Write) -> io::Result<()> {
        match urn.filter(|_| self.options.is_preview) {
            Some(urn) => {
                self.held.hold(urn, lines);
                Ok(())
            }
            None => lines.iter().try_for_each(|line| writeln!(out, "{line}")),
        }
    }

    /// Errors of a step that did not keep it from being done, or more than its line has place for.
    fn write_errors(&mut self, urn: &Urn, errors: Vec<ErrorText>, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = Vec::new();
        for error in errors {
            let first = format!("{}{}", prefix(Severity::Error), error.first());
            lines.push(format!("    {}", self.paint.severity(Severity::Error, &first)));
            lines.extend(self.rest_of(&error));
        }
        self.write(Some(urn), lines, out)
    }

    fn rest_of(&mut self, error: &ErrorText) -> Vec<String> {
        let rest = error.rest(self.options.show_tracebacks, &mut self.told);
        rest.into_iter().map(|line| format!("    {line}")).collect()
    }

    /// Is a line written for a step that is done?
    fn shows(&self, step: &StepMetadata, op: Op, refreshed: bool) -> bool {
        match op {
            Op::Same => self.options.show_sames,
            // The two halves say it; in a preview the whole does.
            Op::Replace => self.options.is_preview,
            _ if self.options.is_preview && !refreshed => step.counted().is_some(),
            _ => true,
        }
    }

    fn elapsed(&self, at: Duration, active: Option<&Active>) -> String {
        active.map_or_else(String::new, |active| {
            self.paint.dim(&format!(" ({})", duration(at.saturating_sub(active.since))))
        })
    }

    fn failed(&mut self, at: Duration, step: &StepMetadata, out: &mut dyn Write) -> io::Result<()> {
        let mut active = self.active.remove(&step.urn);
        let title = self.names.title(&step.urn);
        let errors = active.as_mut().map(|active| std::mem::take(&mut active.errors)).unwrap_or_default();
        let mut errors = errors.into_iter();
        let first = errors.next();
        let what = if first.is_none() { "cancelled" } else { words(step.op).failed };
        let mut line = self.paint.failure(&format!("! {title} {what}"));
        line.push_str(&self.elapsed(at, active.as_ref()));
        let mut lines = Vec::new();
        if let Some(error) = &first {
            line.push_str(": ");
            line.push_str(error.first());
            lines = self.rest_of(error);
        }
        lines.insert(0, line);
        self.failures.step(title);
        self.write(Some(&step.urn), lines, out)?;
        self.write_errors(&step.urn, errors.collect(), out)
    }

    fn diagnostic(&mut self, message: &Diagnostic, out: &mut dyn Write) -> io::Result<()> {
        if message.ephemeral || (message.severity == Severity::Debug && !self.options.debug) {
            return Ok(());
        }
        let text = self.redactor.message(&message.message).into_owned();
        let text = clean(text.trim_end());
        let urn = message.urn.as_ref().filter(|urn| !urn.as_str().is_empty() && !urn.is_root_stack());
        let title = urn.map(|urn| {
            self.names.learn(urn.own_type());
            self.names.title(urn)
        });
        let subject = match (&title, message.severity, message.speaker) {
            (Some(title), ..) => format!("{title}: "),
            (None, Severity::Output | Severity::Info, Speaker::Program) => "program: ".to_owned(),
            (None, ..) => String::new(),
        };
        let sign = self.paint.severity(message.severity, prefix(message.severity));
        if let (Severity::Error, Some(title), Some(urn)) = (message.severity, title, urn) {
            let error = ErrorText::of(&text, &self.options.directory);
            self.failures.error(title, error.clone());
            if let Some(active) = self.active.get_mut(urn).filter(|active| !active.lasting) {
                active.errors.push(error);
                return Ok(());
            }
            let mut lines = vec![format!("{sign}{subject}{}", error.first())];
            lines.extend(self.rest_of(&error));
            return self.write(Some(urn), lines, out);
        }
        let mut lines = text.lines();
        let first = format!("{sign}{subject}{}", lines.next().unwrap_or(""));
        let lines = std::iter::once(first).chain(lines.map(|line| format!("    {line}"))).collect();
        self.write(urn, lines, out)
    }

    fn ending(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut active: Vec<(Urn, Active)> = std::mem::take(&mut self.active).into_iter().collect();
        active.sort_by(|a, b| a.0.cmp(&b.0));
        for (urn, active) in active {
            self.write_errors(&urn, active.errors, out)?;
        }
        self.write_held(out)?;
        let Some(summary) = self.summary.take() else { return Ok(()) };
        writeln!(out)?;
        let each = self.options.show_policy_remediations;
        let mut lines = self.policies.lines(self.paint, &self.redactor, each);
        if let Some((old, new)) = self.outputs.take().filter(|_| !self.options.suppress_outputs) {
            lines.extend(summary::outputs(&self.diff_text(), &old, &new, &summary));
        }
        lines.extend(self.failures.names(self.paint));
        lines.extend(summary::totals(self.paint, &summary, !self.policies.has_mandatory()));
        lines.push(String::new());
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

fn marker(op: Op) -> String {
    let marker = words(op).marker;
    if marker.is_empty() { "  ".to_owned() } else { format!("{marker} ") }
}

impl Renderer for Plain {
    fn event(&mut self, at: Duration, event: Event, out: &mut dyn Write) -> io::Result<()> {
        match event {
            Event::Prelude(_) => {
                let heading = heading(self.options.kind, self.options.is_preview);
                writeln!(out, "{} ({}):", self.paint.bold(heading), clean(&self.options.stack))
            }
            Event::StepStarted(step) | Event::StepDone(step) | Event::StepFailed(step) if step.internal => {
                drop(step);
                Ok(())
            }
            Event::StepStarted(step) => {
                self.started(at, &step);
                Ok(())
            }
            Event::StepDone(step) => self.done(at, &step, out),
            Event::StepFailed(step) => self.failed(at, &step, out),
            Event::StackOutputs { old, new } => {
                self.redactor.learn(&new);
                self.outputs = Some((old, new));
                Ok(())
            }
            Event::Diagnostic(message) => self.diagnostic(&message, out),
            Event::PolicyLoad | Event::PolicySummary(_) => Ok(()),
            event @ (Event::PolicyViolation(_) | Event::PolicyRemediation(_)) => {
                self.policies.note(event);
                Ok(())
            }
            Event::Summary(summary) => {
                self.policies.all_of(&summary.policy_packs);
                self.summary = Some(summary);
                Ok(())
            }
            Event::End => self.ending(out),
        }
    }

    fn called(&mut self, at: Duration, urn: &Urn) {
        if let Some(active) = self.active.get_mut(urn).filter(|active| active.mention_at.is_none()) {
            (active.since, active.mention_at) = (at, Some(at + self.options.mention_after));
        }
    }

    fn frame_interval(&self) -> Option<Duration> {
        (!self.options.suppress_progress).then_some(Duration::from_secs(1))
    }

    fn frame(&mut self, now: Duration, out: &mut dyn Write) -> io::Result<()> {
        let mut late: Vec<(&Urn, &mut Active)> =
            self.active.iter_mut().filter(|(_, active)| active.mention_at.is_some_and(|time| time <= now)).collect();
        late.sort_by(|a, b| a.0.cmp(b.0));
        for (urn, active) in late {
            let taken = now.saturating_sub(active.since);
            active.mention_at = Some(now + taken);
            writeln!(out, "{}: still {} ({})", self.names.title(urn), words(active.op).doing, duration(taken))?;
        }
        Ok(())
    }

    fn finish(&mut self, _now: Duration, out: &mut dyn Write) -> io::Result<()> {
        self.ending(out)
    }
}
