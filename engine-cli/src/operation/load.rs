//! Running a program for its live provider objects only, on behalf of a command that is no operation.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use maloko_core::Engine;
use maloko_core::event::{Event, EventSink, Severity};
use maloko_core::invisible::clean;
use maloko_core::state::StackName;

use super::isolated::Runner;
use super::request::Request;
use super::run::{PreparedOperation, prepare};
use super::{interrupts, own_process, program};
use crate::advice::CommandContextSink;
use crate::display::Redactor;
use crate::failure::{Failure, Result, code};
use crate::host::SettlingHost;
use crate::language_host::{LanguageHost, ProgramSpec};
use crate::terminal::capture::{self, Capture};
use crate::terminal::signals::Watch;
use crate::terminal::{self, Lending};
use crate::workplace::Workplace;

/// How long a program is waited for after a signal; nothing is at stake.
const LOAD_PATIENCE: Duration = Duration::from_secs(5);

/// Runs the program against the stack's state without changing it, and then `work` while its provider objects
/// are alive. What the program prints and logs goes to stderr. A program that fails is a warning: what it handed over
/// before is there.
pub(crate) async fn with_program<T>(
    workplace: &Workplace<'_>,
    stack: &StackName,
    program: ProgramSpec,
    verb: &'static str,
    work: impl AsyncFnOnce(&Engine) -> T,
) -> Result<T> {
    let request = Request::load(verb);
    let PreparedOperation { operation, session, redactor, .. } = prepare(workplace, &request, stack, &program).await?;
    let context = workplace.context;
    let err: Box<dyn Write + Send> = if context.library.is_some() {
        Box::new(context.console.err())
    } else {
        Box::new(capture::standard_error().map_err(|error| Failure::io("stderr cannot be kept aside", &error))?)
    };
    let language_host = &workplace.context.language_host;
    let runner = Runner::of(workplace, &request, &operation)?;
    let host = Arc::new(SettlingHost::new(runner.host()));
    let sink = Arc::new(CommandContextSink {
        to: Arc::new(DiagnosticPrinter::new(err, redactor)),
        aim: context.console.aim.clone(),
    });
    let engine = Engine::start(operation, session, Arc::clone(&host) as Arc<_>, sink);
    let own_process = match &context.library {
        None => Some((begin(language_host, &engine, &host)?, own_process::listen(workplace, &engine))),
        Some(library) => {
            library.cancellation.watch(&engine);
            None
        }
    };
    let end = program::run(context, &workplace.project, &runner, Arc::clone(&engine), program).await;
    if let Some(error) = end.error {
        let message = format!(
            "the program failed; the provider objects that it did not bring are found by the state's references, where that \
             is possible\n{error}"
        );
        engine.log("", Severity::Warning, &message, false);
    }
    let done = work(&engine).await;
    host.settle_program();
    runner.end(false).await;
    if let Some(((capture, watch, lending), listening)) = own_process {
        drop((listening, watch, lending));
        capture.end();
    }
    Ok(done)
}

/// Captures what is printed and watches for signals, in a process that is the command's own.
fn begin(
    language_host: &Arc<dyn LanguageHost>,
    engine: &Arc<Engine>,
    host: &SettlingHost,
) -> Result<(Capture, Watch, Option<Lending>)> {
    let log = Arc::clone(engine);
    let capture = Capture::begin(
        Box::new(move |line| log.log("", Severity::Output, line, false)),
        Arc::clone(&engine.operation().redactor),
    )
    .map_err(|error| Failure::io("standard output cannot be captured", &error))?;
    host.settle_with(capture.settler());
    let lending = terminal::lend(&capture, None);
    let cancelled = Arc::clone(engine);
    let of_others = interrupts::of_debugger(language_host);
    let watch = Watch::begin(LOAD_PATIENCE, code::CANCELLED, of_others, move |_| cancelled.cancel(), |_| {})
        .map_err(|error| Failure::io("signals cannot be watched", &error))?;
    Ok((capture, watch, lending))
}

/// Writes messages to the stderr of before, without secrets.
struct DiagnosticPrinter {
    err: Mutex<Box<dyn Write + Send>>,
    redactor: Arc<Redactor>,
}

impl DiagnosticPrinter {
    fn new(err: Box<dyn Write + Send>, redactor: Arc<Redactor>) -> Self {
        Self { err: Mutex::new(err), redactor }
    }
}

impl EventSink for DiagnosticPrinter {
    fn emit(&self, event: Event) {
        let Event::Diagnostic(diagnostic) = event else { return };
        let label = match diagnostic.severity {
            Severity::Debug => return,
            Severity::Info | Severity::Output => "",
            Severity::Warning => "warning: ",
            Severity::Error => "error: ",
        };
        let whose = diagnostic.urn.map(|urn| format!("{urn}: ")).unwrap_or_default();
        let message = self.redactor.message(&diagnostic.message);
        let mut err = self.err.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that has gone away is no error of the command's.
        drop(writeln!(err, "{}", clean(&format!("{label}{whose}{message}"))));
    }
}
