//! `stack migrate`: a stack goes to another backend.

use maloko_core::state::key_record::{KeyRecord, NamedKey};
use maloko_core::state::{StackName, migrate_stack};
use maloko_stores::postgres::{has_password, without_password};

use crate::arguments::StackMigrate;
use crate::backend::{self, Origin};
use crate::context::Context;
use crate::failure::Result;
use crate::plain::count;
use crate::shell;
use crate::terminal::prompt;
use crate::workplace::Workplace;
use crate::yaml;

pub(super) async fn run(context: &Context, arguments: &StackMigrate) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(None).await?;
    workplace.require(&stack).await?;
    let target = backend::open(context, &backend::named(context, Origin::To, &arguments.to))?;
    let shown = workplace.shown(&stack);
    let (from, to) = (workplace.backend.url(), target.url());
    if arguments.remove_source {
        let what = format!("The stack '{shown}' will be moved to {to}, and removed from {from}.");
        prompt::permission(&context.console, arguments.yes, &what)?;
    }
    settle(&workplace, &stack).await?;
    let copied = migrate_stack(&*workplace.backend, &*target, &stack, arguments.remove_source)
        .await
        .map_err(|error| workplace.explain(error, &stack))?;
    let console = &context.console;
    if copied.was_there {
        console.line(&format!("The stack '{shown}' was in {to} already, as it is"));
    } else {
        let past = format!(
            "{} and {} of its history",
            count(copied.generations, "former state"),
            match copied.history {
                1 => "1 entry".to_owned(),
                many => format!("{many} entries"),
            }
        );
        console.line(&format!("Copied the stack '{shown}' to {to}, with {past}"));
    }
    console.line(&if copied.removed {
        format!("It is no longer in {from}")
    } else {
        format!("It is still in {from} as well: work on one of them only, or remove the other with --remove-source")
    });
    tell_how_to_go_on(&workplace, &stack, &arguments.to)
}

/// What a killed run left behind becomes part of the checkpoint first. Only this takes the passphrase.
async fn settle(workplace: &Workplace<'_>, stack: &StackName) -> Result<()> {
    let stored = workplace.backend.load(stack).await?;
    if stored.journal.is_none() {
        return Ok(());
    }
    // A copy that was not finished is not a killed run: reading it says what it is.
    workplace.unchecked_read(stack).await?;
    let mut settings = workplace.settings(stack)?;
    let crypter = workplace.crypter(stack, &mut settings).await?;
    let session = workplace.session(stack, crypter, "stack migrate").await?;
    session.compact(session.snapshot().clone()).await?;
    Ok(())
}

/// How to name the new place, where the old one was named by `origin`.
fn way(origin: Origin, to: &str) -> String {
    let shown = without_password(to);
    let (in_shell, in_yaml) = (shell::word(&shown), yaml::word(&shown));
    let how = match origin {
        Origin::Flag => format!("name it with `--backend {in_shell}`"),
        Origin::MalokoVariable | Origin::PulumiVariable => format!("set {}={in_shell}", origin.name()),
        Origin::ProjectFile => format!("write `url: {in_yaml}` under `backend` in Pulumi.yaml"),
        Origin::Login | Origin::Embedded | Origin::To => {
            format!("run `maloko login {in_shell}`, or write `backend: {{url: {in_yaml}}}` into Pulumi.yaml")
        }
    };
    let password = if has_password(to) { "; the password belongs in PGPASSWORD or ~/.pgpass (mode 0600)" } else { "" };
    format!("{how}{password}")
}

fn tell_how_to_go_on(workplace: &Workplace<'_>, stack: &StackName, to: &str) -> Result<()> {
    let console = &workplace.context.console;
    console.line(&format!("To work on it there, {}", way(workplace.place.origin, to)));
    // Its key file belongs to state inside the project.
    if workplace.is_embedded()
        && matches!(workplace.settings(stack)?.key()?, NamedKey::Record(KeyRecord::Passphrase { .. }))
        && let Some(file) = workplace.existing_key_file()
    {
        console.line(&format!(
            "Its secrets are encrypted with the key file of this project: set PULUMI_CONFIG_PASSPHRASE_FILE={} there, and \
             keep that file",
            shell::word(&file.display().to_string())
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
