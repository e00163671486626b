//! Who watches an operation: the terminal, those who asked for events, and what is made of them at the end.

use std::io::Write;
use std::sync::Arc;

use maloko_core::event::EventSink;
use maloko_core::state::StackName;
use maloko_telemetry::Telemetry;

use super::generated::ImportedResources;
use super::import::file::ListWriter;
use super::preview_outcome::{Fan, Recorder};
use super::request::Request;
use super::streams::{SharedBuffer, standard_error, standard_output};
use super::update_plan::PlanWriter;
use super::watchers::differences::Differences;
use super::watchers::telemetry;
use super::watchers::told::Watchers;
use super::watchers::warnings::Warnings;
use super::{outcome_file, own_process, program};
use crate::display::{self, Display, DisplayMode, DisplayOptions, Redactor};
use crate::embedding::EventLines;
use crate::failure::Result;
use crate::page;
use crate::workplace::Workplace;

/// What watches the operation.
pub(super) struct Show {
    pub(super) watchers: Watchers,
    /// Notes the steps: in a preview pass for the process that goes on, after one to compare.
    pub(super) recorder: Option<Arc<Recorder>>,
    /// In a preview pass: the changes property by property, for those who ask for them.
    pub(super) details: Option<(Arc<dyn Display>, SharedBuffer)>,
    /// In a preview whose plan is to be saved: makes it.
    pub(super) plan: Option<Arc<PlanWriter>>,
    /// In a preview whose creations are to be listed: makes the list.
    pub(super) list: Option<Arc<ListWriter>>,
    /// In an import: makes the code for the program.
    pub(super) imported: Option<Arc<ImportedResources>>,
    /// What the run's page shows; not in a preview pass, which is no run of its own.
    pub(super) page: Option<Arc<page::Recorder>>,
    /// For libraries, which read no output: the first warnings.
    pub(super) warnings: Option<Arc<Warnings>>,
    /// For libraries, where nothing is changed: the first differences.
    pub(super) differences: Option<Arc<Differences>>,
    /// For those who asked for traces or metrics.
    pub(super) telemetry: Option<Arc<Telemetry>>,
}

impl Show {
    pub(super) fn open(
        workplace: &Workplace<'_>,
        request: &Request,
        stack: &StackName,
        redactor: Arc<Redactor>,
        after_preview: bool,
    ) -> Result<Self> {
        let console = &workplace.context.console;
        let flags = &request.operate;
        let is_pass = request.confirm.preview_pass.is_some();
        let size = |variable, otherwise| {
            let text = workplace.context.text_variable(variable);
            text.and_then(|text| text.trim().parse().ok()).filter(|size| *size > 0).unwrap_or(otherwise)
        };
        let options = DisplayOptions {
            diff: flags.run.diff,
            show_sames: flags.show_sames,
            show_secrets: flags.show_secrets,
            suppress_outputs: flags.suppress_outputs,
            show_policy_remediations: request.show_policies.show_policy_remediations,
            suppress_progress: flags.run.suppress_progress,
            debug: flags.run.debug,
            color: console.color,
            redactor,
            mention_after: workplace.context.seconds(
                "MALOKO_PROGRESS_SECONDS",
                "after which a call that goes on is mentioned, such as 20",
                display::MENTION_AFTER,
            )?,
            show_tracebacks: flags.run.show_tracebacks,
            directory: workplace.project.root.clone(),
            fallback_size: (size("LINES", 24), size("COLUMNS", 80)),
            ..DisplayOptions::new(request.kind, request.is_dry(), stack.project(), stack.stack())
        };
        let streams = is_pass || workplace.context.is_set("PULUMI_ENABLE_STREAMING_JSON_PREVIEW");
        let mode = match flags.run.json {
            true if request.is_dry() && !streams => DisplayMode::PreviewJson,
            true => DisplayMode::JsonEvents,
            false if flags.run.keeps_stdout_clean() => DisplayMode::Plain,
            false if console.is_terminal && own_process::captures(workplace) && moves_cursor(workplace) => {
                DisplayMode::Tree
            }
            false => DisplayMode::Plain,
        };
        let details = is_pass.then(|| {
            let buffer = SharedBuffer::default();
            let options = DisplayOptions { diff: true, ..options.clone() };
            (display::open(DisplayMode::Plain, options, Box::new(buffer.clone())), buffer)
        });
        let library = workplace.context.library.as_ref();
        let mut events: Vec<(DisplayMode, Box<dyn Write + Send>)> = Vec::new();
        if let Some(to) = library.and_then(|library| library.events.as_ref()) {
            let mode = if to.wants_messages_alone() { DisplayMode::MessageLog } else { DisplayMode::EventLog };
            events.push((mode, Box::new(EventLines::new(Arc::clone(to)))));
        }
        let mut event_stream = None;
        if let Some(log) = &flags.run.event_log {
            event_stream = outcome_file::event_stream(log)?;
            let to: Box<dyn Write + Send> = match &event_stream {
                Some(stream) => Box::new(outcome_file::LinesTo::new(Arc::clone(stream))),
                None => Box::new(outcome_file::open_event_log(workplace.context, log)?),
            };
            events.push((DisplayMode::EventLog, to));
        }
        let mut events: Vec<_> =
            events.into_iter().map(|(mode, to)| display::open(mode, options.clone(), to)).collect();
        let mut out = standard_output(workplace, is_pass)?;
        if flags.run.ends_with_json() {
            // One line for the whole command: the preview before the operation has one where nothing follows it.
            let mode = if is_pass { DisplayMode::FailureJson } else { DisplayMode::SummaryJson };
            events.push(display::open(mode, options.clone(), out));
            out = standard_error(workplace)?;
        } else if flags.run.summary.is_some() {
            out = standard_error(workplace)?;
        }
        let is_for_library = library.is_some() || flags.run.outcome_file.is_some();
        Ok(Self {
            watchers: Watchers { display: display::open(mode, options, out), events, event_stream },
            recorder: (is_pass || after_preview).then(Arc::<Recorder>::default),
            details,
            plan: None,
            list: request.import_file.is_some().then(Arc::default),
            imported: request
                .import
                .as_ref()
                .filter(|it| {
                    it.generate_code && !request.is_dry() && !program::is_foreign(workplace.context, &workplace.project)
                })
                .map(|_| Arc::default()),
            page: None,
            warnings: is_for_library.then(Arc::default),
            differences: (is_for_library && request.is_dry()).then(Arc::default),
            telemetry: None,
        })
    }

    /// Shows what is still held back.
    pub(super) fn close(&self) {
        self.watchers.close();
    }

    pub(super) fn sink(&self) -> Arc<dyn EventSink> {
        let mut watchers: Vec<Arc<dyn EventSink>> = vec![Arc::clone(&self.watchers.display) as Arc<dyn EventSink>];
        watchers.extend(self.watchers.events.iter().map(|events| Arc::clone(events) as Arc<dyn EventSink>));
        watchers.extend(self.recorder.iter().map(|recorder| Arc::clone(recorder) as Arc<dyn EventSink>));
        watchers.extend(self.details.iter().map(|(details, _)| Arc::clone(details) as Arc<dyn EventSink>));
        watchers.extend(self.plan.iter().map(|plan| Arc::clone(plan) as Arc<dyn EventSink>));
        watchers.extend(self.list.iter().map(|list| Arc::clone(list) as Arc<dyn EventSink>));
        watchers.extend(self.imported.iter().map(|imported| Arc::clone(imported) as Arc<dyn EventSink>));
        watchers.extend(self.page.iter().map(|page| Arc::clone(page) as Arc<dyn EventSink>));
        watchers.extend(telemetry::sink(self.telemetry.as_ref()));
        watchers.extend(self.warnings.iter().map(|warnings| Arc::clone(warnings) as Arc<dyn EventSink>));
        watchers.extend(self.differences.iter().map(|found| Arc::clone(found) as Arc<dyn EventSink>));
        match watchers.len() {
            1 => watchers.swap_remove(0),
            _ => Arc::new(Fan(watchers)),
        }
    }
}

/// Can the terminal draw over what it shows?
fn moves_cursor(workplace: &Workplace<'_>) -> bool {
    workplace.context.text_variable("TERM").is_none_or(|term| term != "dumb")
}
