//! The command line of maloko: arguments, progress, diffs and JSON events, over `maloko-core`, in either host.

mod advice;
mod arguments;
mod attempt;
mod backend;
mod commands;
mod config_key;
mod context;
mod creation;
pub mod display;
mod embedding;
mod failure;
#[cfg(all(test, unix))]
mod fuzz_tests;
mod history;
mod host;
pub mod language_host;
mod library;
mod operation;
mod page;
mod plain;
mod platform;
mod progress;
mod project;
mod removal;
mod selection;
mod settings;
mod shell;
pub mod terminal;
#[cfg(test)]
mod testing;
mod topics;
mod watch;
mod workplace;
mod yaml;

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use arguments::{AboutCommand, Arguments, Command, ProviderCommand, ShimCommand};
use context::Context;
use failure::{Failure, code};
use maloko_core::error::Reason;
use maloko_core::invisible::clean;

pub use embedding::{Cancellation, CommandOutcome, EngineEvents, OperationEnd};
pub use failure::Why;
pub use library::{Invocation, run_in};
pub use operation::{RunForTests, plugin_under_test};
pub use page::{page_of_fleet, page_of_record, record_for_page};
pub use progress::{ProgressListener, ProgressMeter, ProgressReports};

pub use language_host::{
    ErrorText, Language, LanguageAbout, LanguageHost, OwnCommand, PackageUse, Parameter, PassResult, ProgramSpec,
    ResourceClass,
};

/// Runs the command line with these arguments (without the program's name) and gives the exit code.
pub async fn run(arguments: Vec<OsString>, language_host: Arc<dyn LanguageHost>) -> i32 {
    let is_shim = std::env::var_os(context::SHIM_VARIABLE).is_some();
    let arguments = if is_shim { arguments::of_pulumi(arguments) } else { arguments };
    let parsed = match arguments::parse(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and version go to stdout and are no failure; a reader that has gone away is none either.
            let printed = if is_shim { arguments::print_as_pulumi(&error) } else { error.print() };
            return match printed {
                Err(lost) if !error.use_stderr() && lost.kind() != std::io::ErrorKind::BrokenPipe => {
                    drop(writeln!(std::io::stderr(), "error: the output could not be written: {lost}"));
                    code::FAILURE
                }
                _ => error.exit_code(),
            };
        }
    };
    let Arguments { global, command } = parsed;
    let result = match Context::system(arguments, global, language_host) {
        Ok(context) => perform(context, command).await,
        Err(failure) => Err(failure),
    };
    match result {
        Ok(code) => code,
        Err(Failure { code, message, .. }) => {
            if !message.is_empty() {
                // Nothing is left to do when even stderr does not work.
                drop(writeln!(std::io::stderr(), "error: {}", clean(&message)));
            }
            code
        }
    }
}

async fn perform(context: Context, command: Command) -> failure::Result<i32> {
    let console = context.console.clone();
    let succeeded = if command.is_preview_pass() {
        "the preview succeeded. The command went no further: nothing was changed"
    } else {
        "the command succeeded"
    };
    match Box::pin(dispatch(context, command)).await {
        Ok(done) => match console.unwritten() {
            Some(failure) if done == 0 => Err(Failure {
                message: maloko_core::message![&failure.message, format!(". Apart from that, {succeeded}")],
                ..failure
            }),
            // What the command itself says by its exit code stays.
            Some(failure) => Err(Failure { code: done, ..failure }),
            None => Ok(done),
        },
        Err(failure) => Err(Failure { message: console.aim.tell(&failure.message).into(), ..failure }),
    }
}

async fn dispatch(context: Context, command: Command) -> failure::Result<i32> {
    match command {
        Command::Up(arguments) => return operation::perform(&context, arguments.into()).await,
        Command::Preview(arguments) => return operation::perform(&context, arguments.into()).await,
        Command::Refresh(arguments) => return operation::perform(&context, arguments.into()).await,
        Command::Import(arguments) => return operation::perform(&context, (*arguments).into()).await,
        Command::Destroy(arguments) => return operation::perform(&context, arguments.into()).await,
        Command::IsolatedProgram => operation::serve_program(&context).await?,
        Command::Watch(arguments) => watch::run(&context, &arguments).await?,
        Command::Stack(arguments) => commands::stack::run(&context, arguments).await?,
        Command::Config(arguments) => commands::config::run(&context, arguments).await?,
        Command::State { command } => commands::state::run(&context, &command).await?,
        Command::Install(arguments) => {
            commands::install::run(&context, &arguments).await?;
            if !arguments.no_plugins {
                commands::plugin::install_for_project(&context, arguments.reinstall).await?;
            }
        }
        Command::Package { command } => commands::package::run(&context, &command).await?,
        Command::Plugin { command } => commands::plugin::run(&context, &command).await?,
        Command::Policy { command } => return commands::policy::run(&context, command).await,
        Command::Help { words } => commands::help::run(&context, &words)?,
        Command::New(arguments) => commands::new::run(context, &arguments).await?,
        Command::Check(arguments) => commands::check::run(&context, &arguments).await?,
        Command::Fleet(arguments) => return commands::fleet::run(&context, &arguments).await,
        Command::Provider { command: ProviderCommand::Test(arguments) } => {
            commands::provider::test(&context, &arguments).await?;
        }
        Command::Cancel { stack_name, yes } => commands::cancel::run(&context, stack_name.as_deref(), yes).await?,
        Command::Login { url, cloud_url, .. } => commands::login::login(&context, url.or(cloud_url).as_deref()).await?,
        Command::Whoami { verbose, format } => commands::login::whoami(&context, verbose, format.json()).await?,
        Command::Logout { url, cloud_url, local, .. } => {
            commands::login::logout(&context, url.or(cloud_url).as_deref(), local)?;
        }
        Command::About { command: Some(AboutCommand::Env), .. } => commands::about::env(&context),
        Command::About { format, .. } => commands::about::run(&context, format.json()).await?,
        Command::Org { command } => commands::elsewhere::org(&context, &command)?,
        Command::Elsewhere(command) => return Err(commands::elsewhere::refuse("", command.reason())),
        Command::Shim { command: ShimCommand::Install { directory } } => commands::shim::install(&context, &directory)?,
        Command::Version => commands::about::version(&context),
        Command::Completion { shell } => completion(&context, shell)?,
    }
    Ok(0)
}

fn completion(context: &Context, shell: clap_complete::Shell) -> failure::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::grammar(), "maloko", &mut script);
    let script = String::from_utf8(script)
        .map_err(|_| Failure::of(code::INTERNAL, Reason::Other, "the completion script is not text"))?;
    context.console.print(&script);
    Ok(())
}
