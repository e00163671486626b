//! Where the program of an operation runs that this binding runs: in this process, or in one of its own (`--isolated`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use maloko_core::message::Code;
use maloko_core::operation::Operation;
use maloko_core::provider::{HostError, ProviderHost};
use maloko_core::redaction::Redactor;
use maloko_core::{Engine, ProgramEnd, Report};
use maloko_isolated::{ErrorWords, ProgramProcess, Settings, Start};

use super::request::Request;
use crate::failure::{Failure, Result};
use crate::language_host::{ErrorText, Language, LanguageHost, ProgramSpec, ResourceClass};
use crate::project::RunBy;
use crate::workplace::Workplace;

/// The key of the configuration that does what `--isolated` does.
const KEY: &str = "maloko:isolated";
/// How long a program's process may take to be there, and may not be heard of, unless `MALOKO_ISOLATED_SECONDS` says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// What runs the program of one operation.
#[derive(Clone)]
pub(super) struct Runner {
    language_host: Arc<dyn LanguageHost>,
    apart: Option<SeparateProgram>,
}

#[derive(Clone)]
struct SeparateProgram {
    process: Arc<ProgramProcess>,
    /// The classes of resources that it told before its end, as JSON.
    classes: Arc<Mutex<Option<String>>>,
}

impl Runner {
    /// As the flag or the configuration says it. A program that runs in a process of its own anyway is left to what runs it.
    pub(super) fn of(workplace: &Workplace<'_>, request: &Request, operation: &Operation) -> Result<Self> {
        let context = workplace.context;
        let language_host = Arc::clone(&context.language_host);
        let is_foreign = workplace.project.run_by() != RunBy::Binding(language_host.language());
        if is_foreign && context.library.is_none() {
            language_host.leave_signals();
        }
        if is_foreign || !is_wanted(request, operation)? {
            return Ok(Self { language_host, apart: None });
        }
        let Some(own) = language_host.own_command() else {
            return Err(Failure::configuration(format!(
                "a program that is given inline is part of this process, and cannot be isolated from it: leave out \
                 `--isolated` and the configuration '{KEY}', or give the program as a folder"
            )));
        };
        let what = "for which a program's process may be silent, such as 60";
        let settings = Settings {
            program: own.program,
            arguments: own.arguments.into_iter().chain(["isolated-program".into()]).collect(),
            directory: own.directory.unwrap_or_else(|| context.directory.clone()),
            patience: context.seconds("MALOKO_ISOLATED_SECONDS", what, PATIENCE)?,
        };
        let code: fn(Code) -> &'static str = match language_host.language() {
            Language::Python => |code| Language::Python.code(code),
            Language::NodeJs => |code| Language::NodeJs.code(code),
        };
        let process = ProgramProcess::new(settings, code)
            .map_err(|error| Failure::io("no thread can be started for the program's process", &error))?;
        language_host.leave_signals();
        Ok(Self { language_host, apart: Some(SeparateProgram { process, classes: Arc::default() }) })
    }

    /// The live providers of the program.
    pub(super) fn host(&self) -> Arc<dyn ProviderHost> {
        match &self.apart {
            Some(apart) => apart.process.host(),
            None => self.language_host.host(),
        }
    }

    /// Runs the program to its end, or until the run is stopped.
    pub(super) async fn run_program(&self, engine: Arc<Engine>, program: ProgramSpec) -> ProgramEnd {
        match &self.apart {
            Some(apart) => apart.process.run(&engine, start(program, false)).await,
            None => self.language_host.run_program(engine, program).await,
        }
    }

    /// Makes the program's providers findable without running it.
    pub(super) async fn attach(&self, engine: Arc<Engine>, program: ProgramSpec) {
        match &self.apart {
            Some(apart) => drop(apart.process.run(&engine, start(program, true)).await),
            None => self.language_host.attach(engine, program).await,
        }
    }

    /// A signal has cancelled the run.
    pub(super) fn interrupted(&self, signal: i32) {
        match &self.apart {
            Some(apart) => apart.process.interrupted(signal),
            None => self.language_host.interrupted(signal),
        }
    }

    /// The program had its time to end. Was it ended, then?
    pub(super) async fn cut_off(&self) -> bool {
        match &self.apart {
            Some(apart) => {
                apart.process.cut_off().await;
                true
            }
            None => false,
        }
    }

    /// The run is over, and with it the program's process, where it has one.
    pub(super) async fn end(&self, keeps_classes: bool) {
        let Some(apart) = &self.apart else { return };
        if keeps_classes {
            let classes = apart.process.resource_classes().await;
            *apart.classes.lock().unwrap_or_else(PoisonError::into_inner) = classes;
        }
        apart.process.end().await;
    }

    /// The classes of the dynamic resources that the program made.
    pub(super) async fn resource_classes(&self) -> Vec<ResourceClass> {
        match &self.apart {
            Some(apart) => {
                let classes = apart.classes.lock().unwrap_or_else(PoisonError::into_inner).take();
                // Code that is printed without them is as good as it was.
                classes.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
            }
            None => self.language_host.resource_classes().await,
        }
    }
}

fn is_wanted(request: &Request, operation: &Operation) -> Result<bool> {
    if request.operate.run.isolated {
        return Ok(true);
    }
    match operation.config.get(KEY).map(|entry| entry.value.trim()) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(text) => Err(Failure::configuration(format!(
            "the configuration '{KEY}' is '{text}', and can only be 'true' or 'false'; set it with `maloko config set {KEY} true`"
        ))),
    }
}

fn start(program: ProgramSpec, attach_only: bool) -> Start {
    let ProgramSpec { project_root, entry, runtime_options, loaded_file } = program;
    Start::new(project_root, entry, runtime_options.to_string(), loaded_file, attach_only)
}

/// A program as [`start`] told of it.
pub(super) fn started(start: Start) -> ProgramSpec {
    let Start { project_root, entry, runtime_options, loaded_file, .. } = start;
    // It was written by `start`.
    let runtime_options = serde_json::from_str(&runtime_options).unwrap_or_default();
    ProgramSpec { project_root, entry, runtime_options, loaded_file }
}

/// The exception that a run ended with, in words without secrets.
pub(super) fn exception_of(
    language_host: &dyn LanguageHost,
    report: &Report,
    redactor: &Redactor,
) -> Option<ErrorText> {
    let ErrorText { kind, message, traceback } = words_of(language_host, report.source.as_ref()?)?;
    let without_secrets = |text: &str| redactor.message(text).into_owned();
    Some(ErrorText { message: without_secrets(&message), traceback: without_secrets(&traceback), kind })
}

/// An error object of the program's, in words, wherever it is.
fn words_of(language_host: &dyn LanguageHost, error: &HostError) -> Option<ErrorText> {
    match error.downcast_ref::<ErrorWords>() {
        Some(ErrorWords { kind, message, traceback }) => {
            Some(ErrorText { kind: kind.clone(), message: message.clone(), traceback: traceback.clone() })
        }
        None => language_host.describe_error(error),
    }
}
