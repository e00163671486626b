//! Who runs the program of an operation: this process, or one of the program's own.

use std::sync::Arc;

use maloko_core::{Engine, ProgramEnd};
use maloko_plugins::languages::{self, ForeignProgram};

use super::isolated::Runner;
use super::plugins;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::ProgramSpec;
use crate::project::sdks;
use crate::project::{Project, RunBy};

/// The program of a project; an error when it has none, or nobody here can run it.
pub(crate) fn of_project(context: &Context, project: &Project) -> Result<ProgramSpec> {
    let program = project.program()?;
    match project.run_by() {
        RunBy::Binding(theirs) if is_foreign(context, project) => {
            // The other binding runs it best; the language's own host does, too.
            let found =
                languages::find_language_host(&foreign(project, &program), &plugins::settings(context, project));
            found.map(|_| program).map_err(|_| project.of_other_binding(theirs))
        }
        _ => Ok(program),
    }
}

/// Refuses a program that nobody on this machine can run, before anything has begun.
pub(super) fn require_host(context: &Context, project: &Project, program: &ProgramSpec) -> Result<()> {
    if !is_foreign(context, project) {
        return Ok(());
    }
    let found = languages::find_language_host(&foreign(project, program), &plugins::settings(context, project));
    found.map(drop).map_err(|reason| Failure::configuration(format!("{}: {reason}", project.place(&["runtime"]))))
}

/// Does the program run in a process of its own?
pub(crate) fn is_foreign(context: &Context, project: &Project) -> bool {
    project.run_by() != RunBy::Binding(context.language_host.language())
}

/// The program as what runs it in a process of its own needs it.
pub(crate) fn foreign(project: &Project, program: &ProgramSpec) -> ForeignProgram {
    let entry_point = match program.entry.file_name() {
        Some(file) if !program.entry.is_dir() => file.to_string_lossy().into_owned(),
        _ => ".".to_owned(),
    };
    ForeignProgram {
        runtime: project.runtime.clone(),
        options: project.runtime_options.clone(),
        root: project.root.clone(),
        directory: Project::program_directory(program),
        entry_point,
    }
}

/// By these words the official Automation API tells an exception of the program from other failures.
const UNHANDLED: &str = "the program failed with an unhandled exception: ";

/// Runs the program to its end, or until the run is stopped.
pub(super) async fn run(
    context: &Context,
    project: &Project,
    runner: &Runner,
    engine: Arc<Engine>,
    program: ProgramSpec,
) -> ProgramEnd {
    if is_foreign(context, project) {
        return languages::run_program(engine, foreign(project, &program), plugins::settings(context, project)).await;
    }
    let mut end = runner.run_program(engine, program).await;
    if let Some(error) = end.error.as_mut().filter(|error| !error.is_empty()) {
        for help in what_helps(project, error) {
            error.push('\n');
            error.push_str(&help);
        }
    }
    if context.is_shim()
        && let Some(error) = end.error.as_mut().filter(|error| !error.is_empty())
    {
        error.insert_str(0, UNHANDLED);
    }
    end
}

/// What may help against an error of the program: SDKs of packages that are missing, or too old.
fn what_helps(project: &Project, error: &str) -> Vec<String> {
    let missing = sdks::missing(project).into_iter().filter(|sdk| sdk.is_in(error)).map(|sdk| sdk.help());
    let outdated = outdated_sdk(error).map(|sdk| {
        format!(
            "the SDK {sdk} was made for another version of Pulumi's: install its newest version, or make it anew with \
             `maloko package add --force`"
        )
    });
    missing.chain(outdated).collect()
}

/// The SDK of a package in whose code Pulumi's own SDK did not have what was asked of it.
fn outdated_sdk(error: &str) -> Option<&str> {
    if !error.contains("AttributeError: module 'pulumi") && !error.contains("ImportError: cannot import name") {
        return None;
    }
    let frame = error.lines().rfind(|line| line.trim_start().starts_with("File \""))?;
    let mut parts = frame.split('/');
    let sdk = parts.rfind(|part| part.starts_with("pulumi_"))?;
    sdk.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(sdk)
}

/// Makes the program's providers findable for an operation that does not run it. A process of the program's own has none
/// that live longer than it.
pub(super) async fn attach(
    context: &Context,
    project: &Project,
    runner: &Runner,
    engine: Arc<Engine>,
    program: ProgramSpec,
) {
    if !is_foreign(context, project) {
        runner.attach(engine, program).await;
    }
}
