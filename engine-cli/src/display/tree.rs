//! On a terminal: a tree of resources that is drawn again as things happen, and once more in full at the end.

use std::collections::BTreeMap;
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
use super::nodes::{Counts, Messages, NodeId, Nodes};
use super::paint::Paint;
use super::policies::Policies;
use super::reasons::{Reasons, state_changes};
use super::redact::SecretDisplay;
use super::screen::{Screen, Size, SizeProbe};
use super::summary;
use super::table::Table;
use super::words::{count, duration, fitted, heading, reason, result, words};
use super::worker::Renderer;

/// How often the tree is drawn.
const FRAME: Duration = Duration::from_millis(100);
/// Rows of the live view besides the tree: the table's head, an empty line, the status line and the cursor's.
const OTHER_ROWS: usize = 4;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Draws the tree.
pub(super) struct Tree {
    options: DisplayOptions,
    redactor: SecretDisplay,
    paint: Paint,
    size: SizeProbe,
    screen: Screen,
    nodes: Nodes,
    /// What the program itself said.
    program: Messages,
    /// What was said of the run as a whole.
    run: Messages,
    /// The first line of what was said last about the run as a whole, for the status line.
    said: String,
    failures: Failures,
    reasons: Reasons,
    /// Because of which other resource one is replaced.
    because: BTreeMap<Urn, String>,
    /// What changes in the state alone.
    in_state: BTreeMap<Urn, String>,
    /// In an operation that refreshes first: what it found.
    drift: Option<BTreeMap<Urn, String>>,
    outputs: Option<(Arc<PropertyMap>, Arc<PropertyMap>)>,
    summary: Option<Summary>,
    policies: Policies,
    began: bool,
    ended: bool,
    frames: usize,
}

impl Tree {
    /// One that has shown nothing yet.
    pub(super) fn new(options: DisplayOptions, redactor: SecretDisplay, size: SizeProbe) -> Self {
        let paint = Paint::new(options.color);
        Self {
            options,
            redactor,
            paint,
            size,
            screen: Screen::default(),
            nodes: Nodes::default(),
            program: Messages::default(),
            run: Messages::default(),
            said: String::new(),
            failures: Failures::default(),
            reasons: Reasons::default(),
            because: BTreeMap::new(),
            in_state: BTreeMap::new(),
            drift: None,
            outputs: None,
            summary: None,
            policies: Policies::default(),
            began: false,
            ended: false,
            frames: 0,
        }
    }

    fn diff_text(&self) -> DiffText<'_> {
        DiffText { redactor: &self.redactor, paint: self.paint }
    }

    fn started(&mut self, at: Duration, step: &StepMetadata) {
        step.old.iter().chain(&step.new).for_each(|resource| self.redactor.learn_resource(resource));
        self.reasons.note(step);
        let id = self.nodes.started(at, step);
        self.describe(id, step);
    }

    fn ended(&mut self, at: Duration, step: &StepMetadata, failed: bool) {
        step.new.iter().for_each(|resource| self.redactor.learn_resource(resource));
        let id = self.nodes.ended(at, step, failed);
        if failed {
            self.failures.step(self.nodes.names.title(&step.urn));
        } else {
            self.failures.done(&self.nodes.names.title(&step.urn));
            self.explain(id, step);
        }
        self.describe(id, step);
    }

    /// Keeps what a finished step has to say beside what its line does.
    fn explain(&mut self, id: NodeId, step: &StepMetadata) {
        if drift::is_drift(self.options.kind, step.op) {
            let op = result(step);
            let all = self.drift.get_or_insert_default();
            if let Some(found) = drift::word(op) {
                let (changes, title) = (changed_keys(step), self.nodes.names.title(&step.urn));
                let changes =
                    if changes.is_empty() || op == Op::Delete { String::new() } else { format!(" [{changes}]") };
                all.insert(step.urn.clone(), format!("{} {title} {found}{changes}", words(op).marker));
            }
            // What is done about it is another matter.
            self.nodes.forget_refresh(id);
            return;
        }
        if let Some(because) = self.reasons.because(step, &self.nodes.names) {
            self.because.insert(step.urn.clone(), because);
        }
        let mut in_state = if self.options.kind == OperationKind::Update { state_changes(step) } else { Vec::new() };
        if step.precise_op() == Op::RetainReplaced {
            // The line of the replacement as a whole does not say it.
            in_state.push("original retained".to_owned());
        }
        for change in in_state {
            let known = self.in_state.entry(step.urn.clone()).or_default();
            let separator = if known.is_empty() { "" } else { "; " };
            if !known.contains(&change) {
                known.push_str(separator);
                known.push_str(&change);
            }
        }
    }

    fn describe(&mut self, id: NodeId, step: &StepMetadata) {
        let Some(op) = self.nodes.get(id).map(|node| node.op) else { return };
        // Deletions of replaced resources would hide what the replacement changes.
        if drift::is_drift(self.options.kind, step.op) {
            return;
        }
        if op == Op::Same || matches!(step.op, Op::Same | Op::DeleteReplaced | Op::DiscardReplaced) {
            return;
        }
        let mut step = step.clone();
        if op == Op::Refresh {
            step.op = op;
        }
        let changes = [reason(&step).to_owned(), changed_keys(&step)];
        let changes: Vec<String> = changes.into_iter().filter(|text| !text.is_empty()).collect();
        let kept = self.options.diff.then(|| Box::new(step));
        self.nodes.describe(id, changes.join("; "), kept);
    }

    fn diagnostic(&mut self, message: Diagnostic) {
        // How long a call takes stands beside its resource, and is true at each moment.
        if (message.severity == Severity::Debug && !self.options.debug) || message.still_waiting {
            return;
        }
        let text = self.redactor.message(&message.message).into_owned();
        let text = clean(text.trim_end()).into_owned();
        let urn = message.urn.filter(|urn| !urn.as_str().is_empty() && !urn.is_root_stack());
        if let Some(urn) = urn.as_ref().filter(|_| message.severity == Severity::Error) {
            let title = self.nodes.names.title(urn);
            self.failures.error(title, ErrorText::of(&text, &self.options.directory));
        }
        if urn.is_none() {
            self.said = format!("{}{}", prefix(message.severity), text.lines().next().unwrap_or(""));
        }
        match urn {
            Some(urn) => self.nodes.said(&urn, message.severity, text, message.ephemeral),
            None if message.ephemeral => {}
            None if message.speaker == Speaker::Program => self.program.add(message.severity, text),
            None => self.run.add(message.severity, text),
        }
    }

    /// The live view: what is going on, and how far the whole is.
    fn live(&mut self, now: Duration, size: Size) -> Vec<String> {
        let rows = size.rows.saturating_sub(OTHER_ROWS).max(1);
        let chosen = self.nodes.excerpt(rows);
        let table =
            Table { nodes: &self.nodes, paint: self.paint, is_preview: self.options.is_preview, now: Some(now) };
        let mut lines = table.lines(&chosen, Some(size.columns));
        lines.push(String::new());
        lines.push(self.status_line(now, size));
        // In a terminal of a few rows the last ones say most.
        let room = size.rows.saturating_sub(1).max(1);
        lines.drain(..lines.len().saturating_sub(room));
        lines
    }

    fn status_line(&self, now: Duration, size: Size) -> String {
        let Counts { running, waiting, finished, unchanged } = self.nodes.counts();
        let spinner = SPINNER[self.frames % SPINNER.len()];
        let finished_word = if self.options.is_preview { "to change" } else { "done" };
        let mut parts = Vec::new();
        for (number, word) in
            [(finished, finished_word), (running, "in progress"), (waiting, "waiting"), (unchanged, "unchanged")]
        {
            if number > 0 {
                parts.push(format!("{} {word}", count(number)));
            }
        }
        let line = format!("{spinner} {} {}  ", parts.join(", "), self.paint.dim(&duration(now)));
        let available = size.columns.saturating_sub(1);
        let said = fitted(&self.said, available.saturating_sub(console::measure_text_width(&line)));
        console::truncate_str(&format!("{line}{said}"), available, "").into_owned()
    }

    /// Everything that stays on the terminal once it is over.
    fn report(&self, size: Size) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(drift) = &self.drift {
            let found = self.in_order(drift, |_, text| format!("  {text}"));
            lines.push(drift::heading(self.paint, !found.is_empty()));
            lines.extend(found);
            lines.push(String::new());
            lines.push(drift::heading_of_the_rest(self.paint, self.options.is_preview));
        }
        // In a preview the details say all that the tree does.
        if !(self.options.diff && self.options.is_preview) {
            let chosen = self.nodes.everything(self.options.show_sames);
            let table = Table { nodes: &self.nodes, paint: self.paint, is_preview: self.options.is_preview, now: None };
            lines.extend(table.lines(&chosen, Some(size.columns)));
            lines.push(String::new());
        }
        for (heading, texts) in
            [("Replaced because of others:", &self.because), ("Changed in the state alone:", &self.in_state)]
        {
            if !texts.is_empty() {
                lines.push(self.paint.bold(heading));
                lines.extend(self.in_order(texts, |title, text| format!("  {title}: {text}")));
                lines.push(String::new());
            }
        }
        if self.options.diff {
            lines.extend(self.details());
        }
        lines.extend(self.policies.lines(self.paint, &self.redactor, self.options.show_policy_remediations));
        lines.extend(self.messages());
        let outputs = self.outputs.as_ref().filter(|_| !self.options.suppress_outputs);
        if let (Some((old, new)), Some(summary)) = (outputs, &self.summary) {
            lines.extend(summary::outputs(&self.diff_text(), old, new, summary));
        }
        lines.extend(self.failures.lines(self.paint, self.options.show_tracebacks));
        if let Some(summary) = &self.summary {
            lines.extend(summary::totals(self.paint, summary, !self.policies.has_mandatory()));
            // Apart from what follows: a question, or the update after its preview.
            lines.push(String::new());
        }
        lines
    }

    /// A line for each of these resources, in the order in which all are listed.
    fn in_order(&self, texts: &BTreeMap<Urn, String>, line: impl Fn(&str, &str) -> String) -> Vec<String> {
        let nodes = self.nodes.in_order();
        let texts = nodes.iter().filter_map(|node| Some((self.nodes.names.title(&node.urn), texts.get(&node.urn)?)));
        texts.map(|(title, text)| line(&title, text)).collect()
    }

    /// What changes, property by property.
    fn details(&self) -> Vec<String> {
        let text = self.diff_text();
        let changed = self.nodes.in_order().into_iter().filter(|node| node.op != Op::Same);
        let steps = changed.filter_map(|node| Some((node.shown_op(), node.step.as_deref()?)));
        let mut lines: Vec<String> = steps.flat_map(|(op, step)| text.step(op, step, &self.nodes.names)).collect();
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines
    }

    /// What was said, resource by resource.
    fn messages(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let nodes = self.nodes.in_order().into_iter();
        let of_resources =
            nodes.map(|node| (self.nodes.names.title(&node.urn), &node.messages, node.messages.reason()));
        let of_all = [("program".to_owned(), &self.program, None), ("maloko".to_owned(), &self.run, None)];
        for (title, messages, reason) in of_resources.chain(of_all) {
            // The first error of a resource stands among what failed.
            let said = messages.lines.iter().enumerate().filter(|(place, _)| Some(*place) != reason);
            let said: Vec<_> = said.map(|(_, line)| line).collect();
            if said.is_empty() {
                continue;
            }
            lines.push(self.paint.bold(&format!("  {title}:")));
            if messages.dropped > 0 {
                let left_out = format!("    ({} earlier lines left out)", count(messages.dropped));
                lines.push(self.paint.dim(&left_out));
            }
            for (severity, text) in said {
                let mut text = text.lines();
                let sign = self.paint.severity(*severity, prefix(*severity));
                lines.push(format!("    {sign}{}", text.next().unwrap_or("")));
                lines.extend(text.map(|line| format!("    {line}")));
            }
        }
        if !lines.is_empty() {
            lines.insert(0, self.paint.bold("Diagnostics:"));
            lines.push(String::new());
        }
        lines
    }

    fn close(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.began || std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        let size = (self.size)();
        self.screen.clear(size, out)?;
        self.report(size).iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

impl Renderer for Tree {
    fn event(&mut self, at: Duration, event: Event, out: &mut dyn Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.began, true) {
            let heading = heading(self.options.kind, self.options.is_preview);
            writeln!(out, "{} ({}):\n", self.paint.bold(heading), clean(&self.options.stack))?;
        }
        match event {
            Event::StepStarted(step) if !step.internal => self.started(at, &step),
            Event::StepDone(step) if !step.internal => self.ended(at, &step, false),
            Event::StepFailed(step) if !step.internal => self.ended(at, &step, true),
            Event::Prelude(_)
            | Event::StepStarted(_)
            | Event::StepDone(_)
            | Event::StepFailed(_)
            | Event::PolicyLoad
            | Event::PolicySummary(_) => {}
            Event::StackOutputs { old, new } => {
                self.redactor.learn(&new);
                self.outputs = Some((old, new));
            }
            Event::Diagnostic(message) => self.diagnostic(message),
            event @ (Event::PolicyViolation(_) | Event::PolicyRemediation(_)) => self.policies.note(event),
            Event::Summary(summary) => {
                self.policies.all_of(&summary.policy_packs);
                self.summary = Some(summary);
            }
            Event::End => return self.close(out),
        }
        Ok(())
    }

    fn called(&mut self, at: Duration, urn: &Urn) {
        self.nodes.called(at, urn);
    }

    fn frame_interval(&self) -> Option<Duration> {
        (!self.options.suppress_progress).then_some(FRAME)
    }

    fn frame(&mut self, now: Duration, out: &mut dyn Write) -> io::Result<()> {
        if !self.began || self.ended {
            return Ok(());
        }
        self.frames += 1;
        let size = (self.size)();
        let lines = self.live(now, size);
        self.screen.draw(&lines, size, out)
    }

    fn stand_back(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let size = (self.size)();
        self.screen.clear(size, out)
    }

    fn finish(&mut self, _now: Duration, out: &mut dyn Write) -> io::Result<()> {
        self.close(out)
    }
}
