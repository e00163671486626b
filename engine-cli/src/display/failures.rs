//! Failures as they are told: the provider's own error first, then where it happened; its traceback on request.

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexMap;

use super::order;
use super::paint::Paint;
use super::words::{count, headline};

/// So many lines of what was raised are shown; all that follows is in the traceback.
const MAX_MESSAGE_LENGTH: usize = 3;
/// So many characters of one of them.
const MAX_LINE_LENGTH: usize = 600;
/// So many failures are named in the line that sums them up.
const NAMED: usize = 10;
/// So many frames are named as the place of an error: where it was raised, and from where that was called.
const NAMED_FRAMES: usize = 3;
/// Where packages are installed.
const PACKAGES: [&str; 3] = ["/site-packages/", "/dist-packages/", "/node_modules/"];

/// An error in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ErrorText {
    /// The error itself; never empty.
    message: Vec<String>,
    /// Where it was raised, in one line; empty where that is not known.
    place: String,
    /// What follows the message: frames, and errors that were behind this one.
    traceback: Vec<String>,
}

impl ErrorText {
    /// Takes a text apart. Files below `directory` are named as seen from there.
    pub(super) fn of(text: &str, directory: &Path) -> Self {
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let end = lines.iter().position(|line| begins_traceback(line)).unwrap_or(lines.len());
        let (message, traceback) = lines.split_at(end);
        let mut message: Vec<String> = message.iter().map(|line| (*line).to_owned()).collect();
        if message.iter().all(|line| line.trim().is_empty()) {
            message = vec![headline(text).to_owned()];
        }
        if !traceback.is_empty() {
            shorten(&mut message);
        }
        let traceback = traceback.iter().map(|line| (*line).to_owned()).collect();
        Self { message, place: place(lines.get(end..).unwrap_or_default(), directory), traceback }
    }

    /// What it says first.
    pub(super) fn first(&self) -> &str {
        self.message.first().map_or("", String::as_str)
    }

    /// What follows the first line. A place, or with `whole` a traceback, that was told before is not told again.
    pub(super) fn rest(&self, whole: bool, told: &mut BTreeSet<String>) -> Vec<String> {
        let mut lines: Vec<String> = self.message.iter().skip(1).cloned().collect();
        if whole && !self.traceback.is_empty() {
            if told.insert(self.traceback.join("\n")) {
                lines.extend(self.traceback.iter().cloned());
            }
        } else if !self.place.is_empty() && told.insert(self.place.clone()) {
            lines.push(self.place.clone());
        }
        lines
    }
}

fn begins_traceback(line: &str) -> bool {
    line.contains("Traceback (most recent call last)") || (line.starts_with("    at ") && frame(line).is_some())
}

fn shorten(message: &mut Vec<String>) {
    let more = message.len().saturating_sub(MAX_MESSAGE_LENGTH);
    message.truncate(MAX_MESSAGE_LENGTH);
    for line in message.iter_mut() {
        if let Some((longest, _)) = line.char_indices().nth(MAX_LINE_LENGTH) {
            line.truncate(longest);
            line.push_str(" ...");
        }
    }
    if let Some(last) = message.last_mut().filter(|_| more > 0) {
        let lines = if more == 1 { "line" } else { "lines" };
        *last = format!("{last} ... ({more} more {lines})");
    }
}

/// A frame of a traceback.
#[derive(Debug, PartialEq, Eq)]
struct Frame<'a> {
    function: &'a str,
    file: &'a str,
    line: &'a str,
}

/// The frame in a line of a Python or JavaScript traceback.
fn frame(line: &str) -> Option<Frame<'_>> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("File \"") {
        let (file, rest) = rest.split_once("\", line ")?;
        let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
        return Some(Frame { function: function.trim(), file, line: number.trim() });
    }
    let rest = line.strip_prefix("at ")?;
    let (function, place) = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((function, place)) => (function.strip_prefix("async ").unwrap_or(function), place),
        None => ("", rest.strip_prefix("async ").unwrap_or(rest)),
    };
    let (place, _column) = place.rsplit_once(':')?;
    let (file, number) = place.rsplit_once(':')?;
    let file = file.strip_prefix("file://").unwrap_or(file);
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(Frame { function, file, line: number })
}

/// Is it a file of a package, or of the language's own library?
fn is_library(file: &str) -> bool {
    file.starts_with("node:") || PACKAGES.iter().chain(&["/lib/python3."]).any(|library| file.contains(library))
}

/// Where an error was raised, and from where that was called: the frames of the error itself, not of those behind it, and of
/// the user's own code where it has any.
fn place(traceback: &[&str], directory: &Path) -> String {
    let python = traceback.iter().rposition(|line| line.starts_with("Traceback (most recent call last)"));
    let mut frames: Vec<Frame<'_>> = match python {
        // The innermost frame is the last one.
        Some(start) => traceback[start..].iter().rev().filter_map(|line| frame(line)).collect(),
        None => traceback.iter().map_while(|line| frame(line)).collect(),
    };
    if frames.iter().any(|frame| !is_library(frame.file)) {
        frames.retain(|frame| !is_library(frame.file));
    }
    if frames.len() > NAMED_FRAMES {
        // The outermost is the provider's own method.
        frames.drain(NAMED_FRAMES - 1..frames.len() - 1);
    }
    let named = frames.iter().map(|frame| {
        let file = short(frame.file, directory);
        match frame.function {
            "" => format!("{file}:{}", frame.line),
            function => format!("{function} ({file}:{})", frame.line),
        }
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!("at {}", named.join(", from ")) }
}

/// A file as seen from the project, or within its package.
fn short<'a>(file: &'a str, directory: &Path) -> &'a str {
    for packages in PACKAGES {
        if let Some((_, within)) = file.rsplit_once(packages) {
            return within;
        }
    }
    let below = Path::new(file).strip_prefix(directory).ok().and_then(Path::to_str);
    below.filter(|below| !directory.as_os_str().is_empty() && !below.is_empty()).unwrap_or(file)
}

/// What failed: the resource's name and the reason.
#[derive(Default)]
pub(super) struct Failures(IndexMap<String, Reasons>);

/// The first error of one resource, and how many more there were.
#[derive(Default)]
struct Reasons {
    first: Option<ErrorText>,
    more: usize,
    failed: bool,
    /// The step was done in which the last error was reported: plugins log as errors what a command printed, too.
    done: bool,
}

impl Failures {
    /// A step of this resource failed; without an error that says why, it was cancelled before it began.
    pub(super) fn step(&mut self, title: String) {
        self.0.entry(title).or_default().failed = true;
    }

    /// A step of this resource was done: errors that were reported in it are no failure.
    pub(super) fn done(&mut self, title: &str) {
        if let Some(known) = self.0.get_mut(title) {
            known.done = true;
        }
    }

    /// An error was reported on a resource; the first one of each is shown.
    pub(super) fn error(&mut self, title: String, error: ErrorText) {
        let known = self.0.entry(title).or_default();
        known.done = false;
        match known.first {
            None => known.first = Some(error),
            Some(_) => known.more += 1,
        }
    }

    fn with_reason(&self, failed: bool) -> Vec<(&String, &Reasons, &ErrorText)> {
        let wanted = self.0.iter().filter(|(_, reasons)| failed == (reasons.failed || !reasons.done));
        let failed = wanted.filter_map(|(title, reasons)| Some((title, reasons, reasons.first.as_ref()?)));
        let mut failed: Vec<_> = failed.collect();
        failed.sort_by(|a, b| order::natural(a.0, b.0));
        failed
    }

    /// All of them with their errors, where each is reported for the first time. `whole`: with tracebacks.
    pub(super) fn lines(&self, paint: Paint, whole: bool) -> Vec<String> {
        let mut told = BTreeSet::new();
        let mut lines = self.part(false, whole, &mut told);
        if !lines.is_empty() {
            lines.insert(0, "Done, with errors:".to_owned());
            lines.push(String::new());
        }
        let failed = self.part(true, whole, &mut told);
        if !failed.is_empty() {
            lines.push(paint.failure("Failed:"));
        }
        lines.extend(failed);
        self.close(lines)
    }

    fn part(&self, failed: bool, whole: bool, told: &mut BTreeSet<String>) -> Vec<String> {
        let mut lines = Vec::new();
        for (title, reasons, error) in self.with_reason(failed) {
            let more = match reasons.more {
                0 => String::new(),
                1 => " (and 1 more error)".to_owned(),
                more => format!(" (and {} more errors)", count(more)),
            };
            lines.push(format!("    {title}: {}{more}", error.first()));
            lines.extend(error.rest(whole, told).into_iter().map(|line| format!("        {line}")));
        }
        lines
    }

    /// Which they are, in one line, after each was reported.
    pub(super) fn names(&self, paint: Paint) -> Vec<String> {
        let failed = self.with_reason(true);
        let mut lines = Vec::new();
        if failed.len() > 1 {
            let names: Vec<&str> = failed.iter().take(NAMED).map(|(title, ..)| title.as_str()).collect();
            let more = match failed.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {} more", count(more)),
            };
            lines.push(format!("{} {}{more}", paint.failure("Failed:"), names.join(", ")));
        }
        self.close(lines)
    }

    fn close(&self, mut lines: Vec<String>) -> Vec<String> {
        match self.0.values().filter(|reasons| reasons.first.is_none()).count() {
            0 => {}
            1 => lines.push("1 step was cancelled before it began".to_owned()),
            more => lines.push(format!("{} steps were cancelled before they began", count(more))),
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines
    }
}
