//! `up`, `preview`, `refresh`, `destroy` and `import`.

pub(crate) mod for_tests;
mod generated;
mod handover;
mod import;
mod interrupts;
mod isolated;
mod load;
mod other_keys;
mod outcome_file;
mod own_process;
pub(crate) mod plugins;
mod policies;
pub(crate) mod preview_outcome;
mod preview_pass;
pub(crate) mod program;
mod request;
mod run;
mod serve_program;
mod show;
mod streams;
#[cfg(test)]
mod tests;
mod update_plan;
mod watchers;

use maloko_core::environment::UnwrappedKey;
use maloko_core::operation::OperationKind;
use maloko_core::state::{StackName, at_work};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::settings::path::{locate, split_assignment};
use crate::settings::value;
use crate::workplace::Workplace;

pub(crate) use for_tests::schema_under_test;
pub use for_tests::{RunForTests, plugin_under_test};
pub(crate) use load::with_program;
pub(crate) use request::Request;
pub(crate) use run::{PreparedOperation, prepare};
pub(crate) use serve_program::serve_program;

use handover::Handover;
use preview_pass::{AfterPreview, check_confirmation, preview_and_ask};

/// Runs an operation and gives the exit code.
pub(crate) async fn perform(context: &Context, request: Request) -> Result<i32> {
    let told_in = request.operate.run.outcome_file.clone();
    let done = begin(context, request).await;
    if let (Some(file), Err(failure)) = (told_in, &done) {
        outcome_file::add_failure(context, &file, failure)?;
    }
    done
}

async fn begin(context: &Context, request: Request) -> Result<i32> {
    check_confirmation(context, &request)?;
    let mut workplace = Workplace::open(context)?;
    workplace.secrets_provider.clone_from(&request.secrets_provider);
    if let Some(address) = &request.operate.run.client {
        workplace.project.run_by_client(address);
    }
    let mut program = program::of_project(context, &workplace.project)?;
    program.loaded_file.clone_from(&request.operate.run.loaded_file);
    // A stack can be destroyed without what once ran its program.
    if request.kind == OperationKind::Update {
        program::require_host(context, &workplace.project, &program)?;
    }
    if context.library.is_none()
        && !program::is_foreign(context, &workplace.project)
        && let Some(code) = context.language_host.re_execute(&program, &context.arguments).await
    {
        return Ok(code);
    }
    let stack = workplace.stack_to_begin_with().await?;
    let is_pass = request.confirm.preview_pass.is_some();
    if let (Some(file), Some(key)) = (&request.confirm.preview_pass, &request.confirm.handover_key) {
        let handed = handover::take(file, key)?;
        if let Some(passphrase) = handed.passphrase() {
            workplace.take_passphrase(passphrase);
        }
        if let Some(UnwrappedKey { url, wrapped, key }) = handed.unwrapped() {
            context.environment.key_services.iter().for_each(|services| services.learn_key(&url, &wrapped, key));
        }
    }
    if !is_pass {
        set_given_config(&workplace, &stack, &request)?;
    }
    // No thread was started so far: a binding may fork here.
    let plan = if request.is_dry() || request.confirm.skip_preview || context.library.is_some() {
        None
    } else {
        // Asked for before the preview, and only here.
        let typed = workplace.ask_for_passphrase(&stack)?;
        let unwrapped = workplace.unwrap_early(&stack).await?;
        try_lock(&workplace, &stack, request.verb).await?;
        match preview_and_ask(context, &request, &Handover::new(typed.as_ref(), unwrapped.as_ref())).await? {
            AfterPreview::GoOn(plan) => Some(plan),
            AfterPreview::Over(code) => return Ok(code),
        }
    };
    let code = run::run(&workplace, &request, &stack, program, plan).await?;
    if code == 0 && request.kind == OperationKind::Destroy && !request.is_dry() {
        if request.remove_stack {
            crate::removal::remove_empty(&workplace, &stack).await?;
        }
        tell_what_stays(context, &request, &workplace.shown(&stack));
    }
    Ok(code)
}

/// Fails before the program is run when the operation could not begin after its preview.
async fn try_lock(workplace: &Workplace<'_>, stack: &StackName, verb: &str) -> Result<()> {
    // A lock that cannot be read now is reported by whoever needs it.
    if at_work(&*workplace.backend, stack).await.unwrap_or_default().is_empty() {
        return Ok(());
    }
    // Whoever is said to be at work may be gone, on another machine: that is found out by taking the lock.
    let crypter = workplace.crypter(stack, &mut workplace.settings(stack)?).await?;
    let session = workplace.session(stack, crypter, &format!("maloko {verb}")).await?;
    Ok(session.abandon().await?)
}

/// After a whole stack was destroyed: is the stack itself still there?
fn tell_what_stays(context: &Context, request: &Request, stack: &str) {
    let is_a_part = !request.targets.is_empty() || !request.operate.exclude.is_empty() || request.exclude_protected;
    if request.operate.run.keeps_stdout_clean() || is_a_part {
        return;
    }
    context.console.line(&if request.remove_stack {
        "The resources in the stack have been deleted, and the history and configuration removed.".to_owned()
    } else {
        format!(
            "The resources in the stack have been deleted, but the history and configuration associated with the stack are \
             still maintained.\nIf you want to remove the stack completely, run `maloko stack rm {stack}`."
        )
    });
}

/// `--config KEY=VALUE`: written to the stack's settings file, as Pulumi does, and encrypted where the former value is a secret.
fn set_given_config(workplace: &Workplace<'_>, stack: &StackName, request: &Request) -> Result<()> {
    if request.operate.config.is_empty() {
        return Ok(());
    }
    let mut settings = workplace.settings(stack)?;
    // Verify the key before anything is written.
    let needs_key = !request.is_dry() || settings.has_secrets();
    let crypter = if needs_key { workplace.crypter_of_settings(stack, &settings)? } else { None };
    if let Some(crypter) = &crypter {
        crypter.verify()?;
        settings.check_opened_by(crypter)?;
    }
    for assignment in &request.operate.config {
        let (key, text) = split_assignment(assignment)?;
        let (key, path) = locate(&workplace.project.name, key, request.operate.config_path)?;
        // The option has no form for secrets, and no reason to disclose one: what is a secret stays one.
        let value = match &crypter {
            Some(crypter) if settings.is_secret(&key, &path) => value::secure(crypter.encrypt(text)?.to_string()),
            _ => value::from_text(text, None, !path.is_empty()).map_err(Failure::configuration)?,
        };
        settings.set(&key, &path, value)?;
    }
    workplace.save_settings(&settings)
}
