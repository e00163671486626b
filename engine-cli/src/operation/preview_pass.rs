//! The first pass of a command that previews, asks, and then acts.

use std::path::Path;

use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::terminal::prompt;
use crate::terminal::signals;

use super::handover::{self, Handover};
use super::preview_outcome::PreviewOutcome;
use super::request::Request;

/// What follows a preview pass.
pub(super) enum AfterPreview {
    /// The user (or `--yes`) said yes to this.
    GoOn(PreviewOutcome),
    /// The command is over, with this exit code.
    Over(i32),
}

/// May this command ask, or has it been answered already? Exit code 2 when neither.
pub(super) fn check_confirmation(context: &Context, request: &Request) -> Result<()> {
    let answered = request.is_dry() || request.confirm.skip_preview || is_confirmed(context, request);
    if answered || context.console.interactive {
        return Ok(());
    }
    Err(Failure::configuration(format!(
        "this command cannot ask for confirmation here: add --yes to preview and then {verb}, --skip-preview to {verb} \
         without a preview, or --preview-only",
        verb = request.verb
    )))
}

fn is_confirmed(context: &Context, request: &Request) -> bool {
    request.confirm.yes || context.is_set("PULUMI_SKIP_CONFIRMATIONS")
}

/// Runs the preview in a process in which no user code ran yet, and asks. What is handed over the other process need not ask for again.
pub(super) async fn preview_and_ask(context: &Context, request: &Request, handover: &Handover) -> Result<AfterPreview> {
    let file = tempfile::Builder::new()
        .prefix("maloko-plan-")
        .tempfile()
        .map_err(|error| Failure::io("a temporary file for the preview's plan cannot be made", &error))?;
    let mut arguments = context.arguments.clone();
    arguments.push("--preview-pass".into());
    arguments.push(file.path().into());
    if !handover.is_empty() {
        let key = handover::put(handover, file.path(), &*context.environment.entropy)?;
        arguments.extend(["--handover-key".into(), key.into()]);
    }
    let relay = signals::SignalRelay::begin({
        let language_host = std::sync::Arc::clone(&context.language_host);
        move |signal| language_host.interrupt_pass(signal)
    })
    .map_err(|error| Failure::io("signals cannot be watched", &error))?;
    let code = context.language_host.run_pass(arguments).await.code;
    if relay.any() {
        return Ok(AfterPreview::Over(code::CANCELLED));
    }
    drop(relay);
    if code != 0 {
        return Ok(AfterPreview::Over(code));
    }
    let plan = read_plan(file.path())?;
    if is_confirmed(context, request) {
        return Ok(AfterPreview::GoOn(plan));
    }
    ask(context, request, plan)
}

fn read_plan(file: &Path) -> Result<PreviewOutcome> {
    PreviewOutcome::read(file)?
        .ok_or_else(|| Failure::new("the preview ended without saying what it would do; nothing was done"))
}

fn ask(context: &Context, request: &Request, plan: PreviewOutcome) -> Result<AfterPreview> {
    let question = match request.verb {
        "refresh" => "Do you want to perform this refresh?",
        "destroy" => "Do you want to perform this destroy?",
        "import" => "Do you want to perform this import?",
        _ => "Do you want to perform this update?",
    };
    loop {
        match prompt::choose(question, &["no".to_owned(), "yes".to_owned(), "details".to_owned()])? {
            1 => return Ok(AfterPreview::GoOn(plan)),
            2 => context.console.display(&plan.details),
            _ => {
                context.console.note("not confirmed; nothing was done");
                return Ok(AfterPreview::Over(code::CANCELLED));
            }
        }
    }
}
