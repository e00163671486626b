//! How a process ended that should have gone on, in words.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Mutex;

use maloko_rpc::lock;

/// So many of the last lines of standard error are told.
const LINES: usize = 3;
/// Of a longer line only the beginning is told, in bytes.
const MAX_LINE_LENGTH: usize = 300;

/// The last that a process wrote to standard error.
#[derive(Default)]
pub(crate) struct LastWords(Mutex<VecDeque<String>>);

impl LastWords {
    pub(crate) fn note(&self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let mut lines = lock(&self.0);
        if lines.len() == LINES {
            lines.pop_front();
        }
        let end = (0..=MAX_LINE_LENGTH.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
        lines.push_back(line[..end].trim_end().to_owned());
    }

    /// One line of a message; empty where nothing was written.
    pub(crate) fn line(&self) -> String {
        let lines = lock(&self.0);
        if lines.is_empty() {
            return String::new();
        }
        format!("\nIts last words on stderr: {}", lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | "))
    }
}

/// How a process ended.
pub(crate) fn ended(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => format!("was ended by signal {signal}{}", name(signal)),
        Some((None, Some(code))) => format!("ended with exit code {code}"),
        _ => "ended".to_owned(),
    }
}

fn name(signal: i32) -> String {
    let names =
        ["SIGILL", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGSEGV", "SIGTERM", "SIGINT", "SIGHUP", "SIGTRAP"];
    let numbers = [
        rustix::process::Signal::ILL,
        rustix::process::Signal::ABORT,
        rustix::process::Signal::BUS,
        rustix::process::Signal::FPE,
        rustix::process::Signal::KILL,
        rustix::process::Signal::SEGV,
        rustix::process::Signal::TERM,
        rustix::process::Signal::INT,
        rustix::process::Signal::HUP,
        rustix::process::Signal::TRAP,
    ];
    let found = numbers.iter().position(|known| known.as_raw() == signal);
    found.map(|at| format!(" ({})", names[at])).unwrap_or_default()
}
