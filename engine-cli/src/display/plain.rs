//! One line per finished step, for logs and pipes.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use maloko_core::event::{Diagnostic, Event, Op, Severity, StepMetadata, Summary};
use maloko_core::urn::Urn;
use maloko_core::value::PropertyMap;

use super::DisplayOptions;
use super::diff::{DiffText, changed_keys};
use super::json::prefix;
use super::paint::Paint;
use super::redact::Redactor;
use super::summary::{self, Failures};
use super::words::{TypeNames, clean, duration, heading, headline, reason, result, words};
use super::worker::Renderer;

/// Writes lines.
pub(super) struct Plain {
    options: DisplayOptions,
    redactor: Redactor,
    paint: Paint,
    names: TypeNames,
    active: HashMap<Urn, Active>,
    failures: Failures,
    outputs: Option<(Arc<PropertyMap>, Arc<PropertyMap>)>,
    summary: Option<Summary>,
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
    errors: Vec<String>,
}

impl Plain {
    /// One that has shown nothing yet.
    #[must_use]
    pub(super) fn new(options: DisplayOptions, redactor: Redactor) -> Self {
        let paint = Paint::new(options.color);
        Self {
            options,
            redactor,
            paint,
            names: TypeNames::default(),
            active: HashMap::new(),
            failures: Failures::default(),
            outputs: None,
            summary: None,
        }
    }

    fn diff_text(&self) -> DiffText<'_> {
        DiffText { redactor: &self.redactor, paint: self.paint }
    }

    fn started(&mut self, at: Duration, step: &StepMetadata) {
        self.names.learn(step.urn.own_type());
        step.old.iter().chain(&step.new).for_each(|row| self.redactor.learn_row(row));
        let custom = step.new.as_ref().or(step.old.as_ref()).is_none_or(|row| row.custom);
        let active = Active { op: step.op, since: at, mention_at: None, lasting: !custom, errors: Vec::new() };
        self.active.insert(step.urn.clone(), active);
    }

    fn done(&mut self, at: Duration, step: &StepMetadata, out: &mut dyn Write) -> io::Result<()> {
        step.new.iter().for_each(|row| self.redactor.learn_row(row));
        let active = self.active.remove(&step.urn);
        let refreshed = active.as_ref().is_some_and(|active| active.op == Op::Refresh);
        let op = result(step);
        if self.shows(op, refreshed) {
            let words = words(op);
            let verb = if self.options.is_preview { words.plan } else { words.done };
            let mut shown = step.clone();
            if refreshed {
                shown.op = Op::Refresh;
            }
            let changes = changed_keys(&shown);
            let mut line = self.paint.op(op, &format!("{}{} {verb}", marker(op), self.names.title(&step.urn)));
            if !self.options.is_preview {
                line.push_str(&self.elapsed(at, active.as_ref()));
            }
            let details = [reason(step), if self.options.diff { "" } else { &changes }];
            let details: Vec<&str> = details.into_iter().filter(|text| !text.is_empty()).collect();
            if !details.is_empty() {
                line.push_str(&self.paint.dim(&format!(" [{}]", details.join("; "))));
            }
            writeln!(out, "{line}")?;
            if self.options.diff {
                for line in self.diff_text().properties(&shown) {
                    writeln!(out, "{line}")?;
                }
            }
        }
        write_errors(active, out)
    }

    /// Is a line written for a step that is done?
    fn shows(&self, op: Op, refreshed: bool) -> bool {
        match op {
            Op::Same => self.options.show_sames,
            // The two halves say it; in a preview the whole does.
            Op::Replace => self.options.is_preview,
            op if self.options.is_preview && !refreshed => op.is_logical(),
            _ => true,
        }
    }

    fn elapsed(&self, at: Duration, active: Option<&Active>) -> String {
        active.map_or_else(String::new, |active| {
            self.paint.dim(&format!(" ({})", duration(at.saturating_sub(active.since))))
        })
    }

    fn failed(&mut self, at: Duration, step: &StepMetadata, out: &mut dyn Write) -> io::Result<()> {
        let active = self.active.remove(&step.urn);
        let title = self.names.title(&step.urn);
        let cancelled = active.as_ref().is_none_or(|active| active.errors.is_empty());
        let line = format!("! {title} {}", if cancelled { "cancelled" } else { words(step.op).failed });
        writeln!(out, "{}{}", self.paint.failure(&line), self.elapsed(at, active.as_ref()))?;
        self.failures.step(title);
        write_errors(active, out)
    }

    fn diagnostic(&mut self, message: &Diagnostic, out: &mut dyn Write) -> io::Result<()> {
        if message.ephemeral || message.severity == Severity::Debug {
            return Ok(());
        }
        let text = self.redactor.message(&message.message).into_owned();
        let text = clean(text.trim_end());
        let urn = message.urn.as_ref().filter(|urn| !urn.as_str().is_empty() && !urn.is_root_stack());
        let title = urn.map(|urn| {
            self.names.learn(urn.own_type());
            self.names.title(urn)
        });
        if message.severity == Severity::Error {
            let first = headline(&text).to_owned();
            self.failures.error(title.clone(), first);
            if let Some(active) = urn.and_then(|urn| self.active.get_mut(urn)).filter(|active| !active.lasting) {
                let mut lines = text.lines();
                let first = format!("{}{}", prefix(Severity::Error), lines.next().unwrap_or(""));
                active.errors.push(format!("    {}", self.paint.severity(Severity::Error, &first)));
                active.errors.extend(lines.map(|line| format!("    {line}")));
                return Ok(());
            }
        }
        let subject = match (&title, message.severity) {
            (Some(title), _) => format!("{title}: "),
            (None, Severity::Output | Severity::Info) => "program: ".to_owned(),
            (None, _) => String::new(),
        };
        let mut lines = text.lines();
        let prefix = self.paint.severity(message.severity, prefix(message.severity));
        writeln!(out, "{prefix}{subject}{}", lines.next().unwrap_or(""))?;
        lines.try_for_each(|line| writeln!(out, "    {line}"))
    }

    fn ending(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let held: Vec<Active> = std::mem::take(&mut self.active).into_values().collect();
        held.into_iter().try_for_each(|active| write_errors(Some(active), out))?;
        let Some(summary) = self.summary.take() else { return Ok(()) };
        writeln!(out)?;
        let mut lines = Vec::new();
        if let Some((old, new)) = self.outputs.take().filter(|_| !self.options.suppress_outputs) {
            lines.extend(summary::outputs(&self.diff_text(), &old, &new));
        }
        lines.extend(self.failures.lines(self.paint));
        lines.extend(summary::totals(self.paint, &summary));
        lines.push(String::new());
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

fn marker(op: Op) -> String {
    let marker = words(op).marker;
    if marker.is_empty() { "  ".to_owned() } else { format!("{marker} ") }
}

fn write_errors(active: Option<Active>, out: &mut dyn Write) -> io::Result<()> {
    active.into_iter().flat_map(|active| active.errors).try_for_each(|line| writeln!(out, "{line}"))
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
            Event::Summary(summary) => {
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
