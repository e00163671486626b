//! What a process that runs an operation for a library leaves to it: the events as they come, now and then how far it has come,
//! and in the end what came of the operation, with the error in words, for the error object stays in the process that raised it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use maloko_core::Report;
use maloko_rpc::EventStream;
use serde_json::json;

use crate::arguments::RunArguments;
use crate::context::Context;
use crate::embedding::why_of;
use crate::failure::{Failure, Result, Why};
use crate::language_host::ErrorText;
use crate::progress::{ProgressListener, ProgressReports};
use crate::terminal::console::Stream;

/// Where `--event-log` sends events to that is no file: whoever serves them at `tcp://HOST:PORT`.
pub(super) fn event_stream(log: &Path) -> Result<Option<Arc<EventStream>>> {
    let Some(address) = log.to_str().and_then(|log| log.strip_prefix("tcp://")) else { return Ok(None) };
    let begun = EventStream::begin(address);
    begun
        .map(|stream| Some(Arc::new(stream)))
        .map_err(|error| Failure::io("events cannot be told (--event-log)", &error))
}

/// Tells each line of what is written.
pub(super) struct LinesTo {
    stream: Arc<EventStream>,
    begun: Vec<u8>,
}

impl LinesTo {
    pub(super) fn new(stream: Arc<EventStream>) -> Self {
        Self { stream, begun: Vec::new() }
    }
}

impl Write for LinesTo {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            self.stream.tell(String::from_utf8_lossy(&line).into_owned());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Opens the file of `--event-log`, which may be a pipe; what is in it stays.
pub(super) fn open_event_log(context: &Context, file: &Path) -> Result<Stream> {
    let file = context.directory.join(file);
    let name = format!("the event log {} (from --event-log)", file.display());
    let opened = OpenOptions::new().append(true).create(true).open(&file);
    let opened = opened.map_err(|error| Failure::io(format!("{name} cannot be written"), &error))?;
    Ok(context.console.to_file(&name, opened))
}

/// Who is told how far the operation has come, where `--progress-log` names a file, which may be a pipe.
pub(super) fn progress_log(context: &Context, flags: &RunArguments) -> Result<Option<ProgressListener>> {
    let Some(file) = &flags.progress_log else { return Ok(None) };
    let file = context.directory.join(file);
    let opened = OpenOptions::new().append(true).create(true).open(&file).map_err(|error| {
        Failure::io(format!("the progress log {} (from --progress-log) cannot be written", file.display()), &error)
    })?;
    Ok(Some(ProgressListener { to: Arc::new(ProgressLines(opened)), every: flags.progress_every }))
}

/// Writes reports of progress, each as a line.
struct ProgressLines(File);

impl ProgressReports for ProgressLines {
    fn progress(&self, json: &str) {
        // A reader that has gone away, or a full disk, is no reason for the operation to fail.
        drop((&self.0).write_all(format!("{json}\n").as_bytes()));
    }
}

/// What the file of `--outcome-file` tells.
pub(super) struct RunOutcome<'a> {
    /// How it ended.
    pub(super) report: &'a Report,
    /// The exception that it ended with, without secrets.
    pub(super) exception: Option<ErrorText>,
    /// Its first warnings.
    pub(super) warnings: Vec<String>,
    /// The first differences that it has found, where it changes nothing.
    pub(super) differences: Vec<String>,
    /// What was recorded of the run.
    pub(super) page: Option<&'a str>,
}

/// Writes the file of `--outcome-file`.
pub(super) fn write(context: &Context, file: &Path, told: &RunOutcome<'_>) -> Result<()> {
    let RunOutcome { report, exception, warnings, differences, page } = told;
    let exception = exception.as_ref().map(
        |ErrorText { kind, message, traceback }| json!({ "type": kind, "message": message, "traceback": traceback }),
    );
    let outcome = json!({
        "outcome": report.summary.outcome.name(),
        "changes": report.summary.changes,
        "stateWritten": report.state_written,
        "error": report.error,
        "urn": report.urn,
        "method": report.method,
        "exception": exception,
        "read": report.read,
        "warnings": warnings,
        "differences": differences,
        "page": page,
        "why": why_of(report).map(|why| why.to_json()),
    });
    put(context, file, &outcome)
}

/// Adds to the file of `--outcome-file` why the command failed, where no failure of its operation says so already: it has not
/// begun, or was not what was expected.
pub(super) fn add_failure(context: &Context, file: &Path, failure: &Failure) -> Result<()> {
    let told = std::fs::read(context.directory.join(file)).ok();
    let mut outcome = told.and_then(|told| serde_json::from_slice(&told).ok()).unwrap_or_else(|| json!({}));
    if outcome["why"].is_null() {
        outcome["why"] = Why::from(failure).to_json();
        put(context, file, &outcome)?;
    }
    Ok(())
}

fn put(context: &Context, file: &Path, outcome: &serde_json::Value) -> Result<()> {
    let file = context.directory.join(file);
    crate::platform::write_private_file(&file, outcome.to_string().as_bytes()).map_err(|error| {
        Failure::io(format!("the outcome {} (from --outcome-file) cannot be written", file.display()), &error)
    })
}
