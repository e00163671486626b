//! Who runs the program of an operation: this process, or one of the program's own.

use std::sync::Arc;

use maloko_core::{Engine, ProgramEnd};
use maloko_plugins::languages::{self, ForeignProgram};

use super::isolated::Runner;
use super::plugins;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::ProgramSpec;
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
    if context.is_shim()
        && let Some(error) = end.error.as_mut().filter(|error| !error.is_empty())
    {
        error.insert_str(0, UNHANDLED);
    }
    end
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
