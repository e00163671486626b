//! `policy`: packs over a state, and what packs need.

mod analysis;

use crate::arguments::{PolicyCommand, PolicyInstall};
use crate::commands::steps::{Step, own_python, run_step};
use crate::context::Context;
use crate::failure::{Failure, Result};

/// Runs `policy`; gives the exit code.
pub(crate) async fn run(context: &Context, command: PolicyCommand) -> Result<i32> {
    match command {
        PolicyCommand::Analyze(arguments) => analysis::analyze(context, &arguments).await,
        PolicyCommand::Install(arguments) => install(context, &arguments).map(|()| 0),
        PolicyCommand::OfService(words) => {
            let verb = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
            Err(Failure::configuration(match verb.as_str() {
                "new" => "`policy new` makes packs of Pulumi's templates, which maloko has not; write a PulumiPolicy.yaml and \
                          the pack's file, as `maloko help policies` shows"
                    .to_owned(),
                "ls" | "publish" | "enable" | "disable" | "rm" | "group" | "validate-config" => {
                    format!("`policy {verb}` is a part of Pulumi Cloud; here packs are folders: `maloko up --policy-pack DIR`")
                }
                _ => format!("there is no verb `policy {verb}`; there are `policy analyze` and `policy install`"),
            }))
        }
    }
}

fn install(context: &Context, arguments: &PolicyInstall) -> Result<()> {
    let folder = arguments.folder.as_ref().map_or_else(|| context.directory.clone(), |it| context.directory.join(it));
    let commands = maloko_plugins::policies::install_commands(&folder, &own_python(context));
    let commands = commands.map_err(Failure::configuration)?;
    if commands.is_empty() {
        context.console.line("The policy pack declares no dependencies; nothing was installed");
        return Ok(());
    }
    context.console.line("Installing dependencies...");
    for (program, given) in commands {
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let step = Step::new(program, &given, &folder);
        context.console.line(&format!("$ {}", step.shown()));
        run_step(context, &step)?;
    }
    context.console.line("Finished installing dependencies");
    Ok(())
}
