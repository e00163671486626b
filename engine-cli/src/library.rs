//! The command line inside a process that goes on afterwards: every verb, for a library that drives it.
//!
//! A run of this kind has nothing of the process to itself. It sets no signal handlers, leaves file descriptors 1 and 2
//! alone, starts no other process, asks nothing, knows only the environment that it was given, does not change which
//! stack is selected, and never ends the process. So any number of them may go on at the same time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use maloko_core::environment::KnownKeys;
use maloko_core::error::Reason;

use crate::arguments;
use crate::context::Context;
use crate::embedding::{Cancellation, CommandOutcome, EngineEvents, Library, called_off};
use crate::failure::Why;
use crate::language_host::LanguageHost;
use crate::progress::{ProgressListener, ProgressMeter};

/// A command line and the world that it is to see.
pub struct Invocation {
    /// The arguments, without the program's name. Operations that change something need `--yes` or `--skip-preview`;
    /// there is no preview before them in either case.
    pub arguments: Vec<OsString>,
    /// The directory to start from; absolute.
    pub directory: PathBuf,
    /// What stands for the environment. The process's own is not looked at, not even for `HOME`.
    pub variables: BTreeMap<String, OsString>,
    /// What the command would write to stdout. Written to by a thread of the display, too.
    pub out: Box<dyn Write + Send>,
    /// What the command would write to stderr.
    pub err: Box<dyn Write + Send>,
    /// Who receives engine events while an operation goes on.
    pub events: Option<Arc<dyn EngineEvents>>,
    /// Who is told how far an operation has come.
    pub progress: Option<ProgressListener>,
    /// What says so when it is asked; keep a clone.
    pub meter: ProgressMeter,
    /// How the run can be stopped from outside; keep a clone.
    pub cancellation: Cancellation,
    /// Keys that former invocations have derived from passphrases, which takes a fifth of a second each; share one.
    pub known_keys: KnownKeys,
}

/// Runs a command line to its end. `language_host` is of this run only; its `re_execute` and `run_pass` are not called. Needs a
/// tokio runtime with time, of which it does not spawn onto any thread.
pub async fn run_in(invocation: Invocation, language_host: Arc<dyn LanguageHost>) -> CommandOutcome {
    let Invocation { arguments, directory, variables, out, err, events, progress, meter, cancellation, known_keys } =
        invocation;
    let (mut out, mut err) = (out, err);
    let all_variables = Arc::new(variables);
    let known = Arc::clone(&all_variables);
    let variables: crate::context::Variables = Arc::new(move |name| known.get(name).cloned());
    let parsed = match arguments::parse_with(&arguments, &*variables) {
        Ok(parsed) => parsed,
        Err(error) => {
            let stream = if error.use_stderr() { &mut err } else { &mut out };
            // A stream that takes nothing is no failure of the command.
            let text = error.render().to_string();
            drop(stream.write_all(text.as_bytes()));
            let why = (error.exit_code() != 0).then(|| Why::new(Reason::Configuration, &text));
            return CommandOutcome { code: error.exit_code(), message: String::new(), operation: None, why };
        }
    };
    let library = Arc::new(Library { events, progress, meter, cancellation, end: Mutex::default() });
    let own = Arc::clone(&library);
    let result = match Context::library(arguments, parsed.global, language_host, directory, variables, (out, err), own)
    {
        Ok(context) => {
            let mut context = context.with_known_keys(known_keys, &all_variables);
            let cancellation = library.cancellation.clone();
            context.environment.abandonment = Some(Arc::new(move || cancellation.calls_off()));
            match library.go_on() {
                Ok(()) => crate::perform(context, parsed.command).await,
                Err(failure) => Err(failure),
            }
        }
        Err(failure) => Err(failure),
    };
    // Whatever it failed by then: it did so because it was to end.
    let result = result.map_err(|failure| if library.cancellation.has_called_off() { called_off() } else { failure });
    let operation = library.take_end();
    // The first failure is the reason: a command that fails after its operation fails because of it.
    let of_operation = operation.as_ref().and_then(|end| end.why.clone());
    match result {
        Ok(code) => {
            let why = of_operation.or_else(|| (code != 0).then(|| Why::new(Reason::Other, "")));
            CommandOutcome { code, message: String::new(), operation, why }
        }
        Err(failure) => {
            let why = of_operation.unwrap_or_else(|| Why::from(&failure));
            CommandOutcome { code: failure.code, message: failure.message.into(), operation, why: Some(why) }
        }
    }
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
