//! `fleet`: many stacks on many machines. What only reads the file is done here; a language's package does the rest.

mod check;
mod request;

use std::path::PathBuf;

use maloko_fleet::{Fault, Plan, Request, file_above, plan_run, text_of_stacks};

use crate::arguments::{FleetArguments, FleetCancel, FleetChoice, FleetCommand, FleetShow};
use crate::commands::pretty;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::plain::count;
use crate::terminal::prompt;

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::configuration(fault.to_string())
    }
}

/// Runs `fleet`; gives the exit code.
pub(crate) async fn run(context: &Context, arguments: &FleetArguments) -> Result<i32> {
    let others =
        [("--backend", context.global.backend.is_some()), ("--config-file", context.global.config_file.is_some())];
    if let Some((flag, _)) = others.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::configuration(format!(
            "`fleet` takes no {flag}: the fleet's file says where state is kept and how its stacks are configured"
        )));
    }
    if context.global.stack.is_some() && is_of_whole_run(&arguments.command) {
        return Err(Failure::configuration(
            "this command is about a whole run and takes no --stack; `maloko fleet history --stack NAME` tells of one",
        ));
    }
    match &arguments.command {
        FleetCommand::Check(show) => {
            check::run(context, &plan(context, arguments, show)?, show.json);
            Ok(0)
        }
        FleetCommand::Ls(show) => {
            list(context, &plan(context, arguments, show)?, show.json);
            Ok(0)
        }
        command => {
            context.refuse_in_library("fleet")?;
            let file = file(context, arguments)?;
            ask(context, &file, command)?;
            let request = request::of(context, &file, command);
            let code = context.language_host.fleet(request.to_string()).await;
            code.ok_or_else(|| Failure::new("fleets cannot be driven from here: use the `maloko` of Python or of npm"))
        }
    }
}

/// Is it a command that chooses no stacks? The others have a `--stack` of their own.
fn is_of_whole_run(command: &FleetCommand) -> bool {
    matches!(
        command,
        FleetCommand::Status(_)
            | FleetCommand::Watch(_)
            | FleetCommand::Results(_)
            | FleetCommand::Pause(_)
            | FleetCommand::Resume(_)
            | FleetCommand::Cancel(_)
            | FleetCommand::Retry(_)
            | FleetCommand::Page(_)
    )
}

/// The fleet's file.
fn file(context: &Context, arguments: &FleetArguments) -> Result<PathBuf> {
    if let Some(file) = &arguments.file {
        let file = context.directory.join(file);
        return if file.is_file() {
            Ok(file)
        } else {
            Err(Failure::configuration(format!("there is no fleet file {}; correct --file", file.display())))
        };
    }
    file_above(&context.directory).ok_or_else(|| {
        Failure::configuration(format!(
            "no fleet.yaml found in {} or in any directory above it; name one with --file, or write one (`maloko help fleet-file`)",
            context.directory.display()
        ))
    })
}

fn plan(context: &Context, arguments: &FleetArguments, show: &FleetShow) -> Result<Plan> {
    planned(&file(context, arguments)?, "up", &show.choice)
}

fn planned(file: &std::path::Path, verb: &str, choice: &FleetChoice) -> Result<Plan> {
    let request = Request {
        verb: verb.to_owned(),
        select: choice.select.clone(),
        stacks: choice.stack.clone(),
        ..Request::default()
    };
    Ok(plan_run(&file.to_string_lossy(), &request)?)
}

fn list(context: &Context, plan: &Plan, json: bool) {
    if json {
        // A plan can always be written.
        context.console.line(&pretty(&serde_json::to_value(plan).unwrap_or_default()));
    } else {
        context.console.print(&text_of_stacks(plan, 0));
    }
}

/// Deleting is asked about before anything begins, and so is a cancellation that names no run, where somebody is there.
fn ask(context: &Context, file: &std::path::Path, command: &FleetCommand) -> Result<()> {
    match command {
        FleetCommand::Destroy(run) => {
            let plan = planned(file, "destroy", &run.choice)?;
            let stacks = count(plan.stacks.len(), "stack");
            let question = format!("This deletes every resource of {stacks} of the fleet '{}'. Go on?", plan.fleet);
            prompt::permission(&context.console, run.follow.yes, &question)
        }
        FleetCommand::Cancel(FleetCancel { run: None, yes: false }) if context.console.interactive => {
            prompt::permission(&context.console, false, "This cancels the newest run of the fleet. Go on?")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
