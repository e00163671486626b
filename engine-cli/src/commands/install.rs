//! `install`: the packages that a project's program needs, by the tool of its language.

use std::sync::Arc;

use maloko_plugins::languages::{self, Stream};

use crate::arguments::InstallArguments;
use crate::commands::package;
use crate::commands::steps::{node_steps, own_python, python_steps, run_step};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::operation::{plugins, program};
use crate::project::{Project, RunBy};

/// Runs `install`.
pub(crate) async fn run(context: &Context, arguments: &InstallArguments) -> Result<()> {
    let project = context.project()?;
    if arguments.no_dependencies {
        return Ok(());
    }
    // They are among the dependencies.
    let made = package::make_listed(context, &project).await?;
    let steps = match project.run_by() {
        RunBy::Binding(Language::Python) => python_steps(&project, &own_python(context))?,
        RunBy::Binding(Language::NodeJs) => node_steps(&project)?,
        RunBy::OwnProcess => return by_host(context, &project).await,
    };
    if steps.is_empty() && made.is_empty() {
        context.console.line("The program declares no dependencies; nothing was installed");
        return Ok(());
    }
    context.console.line("Installing dependencies...");
    for step in &steps {
        context.console.line(&format!("$ {}", step.shown()));
        run_step(context, step)?;
    }
    package::use_made(context, &project, &made)?;
    context.console.line("Finished installing dependencies");
    Ok(())
}

/// The host of the program's language knows what it needs.
async fn by_host(context: &Context, project: &Project) -> Result<()> {
    let program = program::foreign(project, &project.program()?);
    context.console.line("Installing dependencies...");
    let console = context.console.clone();
    let print = Arc::new(move |stream, line: &str| match stream {
        Stream::Out => console.line(line),
        Stream::Err => console.note(line),
    });
    let installed = languages::install_dependencies(program, plugins::settings(context, project), print).await;
    installed.map_err(Failure::configuration)?;
    context.console.line("Finished installing dependencies");
    Ok(())
}
