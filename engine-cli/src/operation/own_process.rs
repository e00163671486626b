//! A process that is the command line's own, while an operation goes on: output, signals, time limits.

use std::sync::Arc;

use maloko_core::Engine;
use maloko_core::event::Severity;

use super::interrupts::{self, LimitWatch};
use super::isolated::Runner;
use super::request::Request;
use super::watchers::told::Watchers;
use crate::failure::{Failure, Result};
use crate::host::SettlingHost;
use crate::terminal::capture::Capture;
use crate::terminal::console::Listening;
use crate::terminal::signals::Watch;
use crate::terminal::{self, Lending};
use crate::workplace::Workplace;

/// What is done to a process that is the command's own while an operation goes on.
pub(super) struct OwnProcess {
    capture: Option<Capture>,
    lending: Option<Lending>,
    watch: Watch,
    limits: LimitWatch,
    listening: Listening,
}

impl OwnProcess {
    /// Captures what is printed, watches for signals and for calls that are past their time limit.
    pub(super) fn begin(
        workplace: &Workplace<'_>,
        request: &Request,
        runner: &Runner,
        engine: &Arc<Engine>,
        host: &SettlingHost,
        watchers: &Watchers,
    ) -> Result<Self> {
        let capture = if captures(workplace) || request.operate.run.keeps_stdout_clean() {
            let log = Arc::clone(engine);
            let capture =
                Capture::begin(Box::new(move |line| log_line(&log, line)), Arc::clone(&engine.operation().redactor))
                    .map_err(|error| Failure::io("standard output cannot be captured", &error))?;
            host.settle_with(capture.settler());
            Some(capture)
        } else {
            None
        };
        let lending = capture.as_ref().and_then(|capture| terminal::lend(capture, Some(&watchers.display)));
        let watch = interrupts::watch(workplace, runner, engine, watchers)?;
        let limits = interrupts::watch_limits(engine, watchers)?;
        let listening = listen(workplace, engine);
        Ok(Self { capture, lending, watch, limits, listening })
    }

    /// Gives everything back.
    pub(super) fn end(self) {
        drop(self.listening);
        drop(self.limits);
        drop(self.watch);
        drop(self.lending);
        if let Some(capture) = self.capture {
            capture.end();
        }
    }
}

/// Puts what stores tell among the messages of the operation.
pub(super) fn listen(workplace: &Workplace<'_>, engine: &Arc<Engine>) -> Listening {
    let engine = Arc::clone(engine);
    workplace.context.console.listen(Arc::new(move |text| engine.log("", Severity::Warning, text, false)))
}

/// Is printed output captured? `MALOKO_CAPTURE=0` leaves it alone, for those who sit in a debugger on the terminal.
pub(super) fn captures(workplace: &Workplace<'_>) -> bool {
    workplace.context.text_variable("MALOKO_CAPTURE").is_none_or(|text| text != "0")
}

/// A printed line belongs to the only resource whose provider is at work, else to the run.
fn log_line(engine: &Engine, line: &str) {
    let calls = engine.calls_in_flight();
    let urn = match calls.as_slice() {
        [(urn, _)] => urn.as_str(),
        _ => "",
    };
    engine.log(urn, Severity::Output, line, false);
}
