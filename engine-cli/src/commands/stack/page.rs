//! `stack page`, `stack history page` and `stack history show`: a stack, or a run of the past, to look at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use maloko_core::redaction::Redactor;
use maloko_core::state::{Crypter, Snapshot, StackName, read_generation};

use super::history::as_text;
use crate::arguments::{PageFile, StackHistoryPage, StackHistoryShow, StackPage};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::page;
use crate::page::{PageData, Past, Shower};
use crate::workplace::Workplace;

/// `stack page`.
pub(super) async fn stack(context: &Context, arguments: &StackPage) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    workplace.require(&stack).await?;
    let mut snapshot = workplace.read(&stack).await?;
    // Whoever knows a secret can hide it where it is not marked as one.
    let crypter = match workplace.crypter_of_state(&stack, &snapshot) {
        Ok(Some(crypter)) if snapshot.unseal(&crypter).is_ok() => Some(crypter),
        Ok(None) => None,
        Ok(Some(_)) | Err(_) => {
            context.console.warn(
                "the secrets of the state cannot be decrypted: each is hidden, but not a text elsewhere that repeats one",
            );
            snapshot = workplace.read(&stack).await?;
            None
        }
    };
    let redactor = Arc::new(Redactor::new());
    let mut data = page::of_stack(&stack, &snapshot, Arc::clone(&redactor), crypter.as_ref());
    if let Some(number) = arguments.from {
        let former = former(&workplace, &stack, number, crypter.as_ref()).await?;
        page::compare(&mut data, &former, &snapshot, number, Arc::clone(&redactor));
    }
    let data = Past::of(&workplace, &stack).await.complete(data, &Shower::new(redactor));
    write(context, &arguments.file, &default_name(&stack, ""), &data)
}

/// A former state, as open as the present one, so that equal secrets are equal.
async fn former(
    workplace: &Workplace<'_>,
    stack: &StackName,
    number: u64,
    crypter: Option<&Crypter>,
) -> Result<Snapshot> {
    let kept = workplace.backend.generations(stack).await?;
    if !kept.iter().any(|generation| generation.number == number) {
        let kept: Vec<String> = kept.iter().map(|generation| generation.number.to_string()).collect();
        let kept = if kept.is_empty() { "none is kept".to_owned() } else { format!("kept are {}", kept.join(", ")) };
        let shown = workplace.shown(stack);
        return Err(Failure::configuration(format!("the stack '{shown}' has no generation {number}: {kept}")));
    }
    let mut former = read_generation(&*workplace.backend, stack, number).await?;
    if let Some(crypter) = crypter {
        former.unseal(crypter)?;
    }
    Ok(former)
}

/// `stack history page`.
pub(super) async fn run_of_the_past(context: &Context, arguments: &StackHistoryPage) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    workplace.require(&stack).await?;
    let (version, entry) = page::entry(&workplace, &stack, arguments.version).await?;
    let Some(mut data) = page::run_of(&entry) else {
        return Err(Failure::configuration(format!(
            "version {version} of the stack '{}' has no page: {}",
            workplace.shown(&stack),
            match entry.run {
                Some(_) => "what its entry in the history keeps of it cannot be read",
                None =>
                    "its entry in the history keeps none (a run of another tool or of an older version, or too large)",
            }
        )));
    };
    if let Some(run) = &mut data.run {
        run.version = Some(version);
    }
    // What was noted of runs of the past was without secrets then.
    let data = Past::of(&workplace, &stack).await.complete(data, &Shower::new(Arc::default()));
    write(context, &arguments.file, &default_name(&stack, &format!("-{version}")), &data)
}

/// `stack history show`.
pub(super) async fn show(context: &Context, arguments: &StackHistoryShow) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    workplace.require(&stack).await?;
    let (version, mut entry) = page::entry(&workplace, &stack, arguments.version).await?;
    entry.version = version;
    let when = super::history::when(context, &entry, true);
    let mut lines = vec![as_text(&entry, None, &when)];
    if let Some(data) = page::run_of(&entry) {
        lines.extend(page::text(&data));
    }
    context.console.line(&lines.join("\n"));
    Ok(())
}

fn default_name(stack: &StackName, version: &str) -> PathBuf {
    PathBuf::from(format!("{}-{}{version}.html", stack.project(), stack.stack()))
}

/// Writes the page, says where it is, and opens it where that is wanted.
fn write(context: &Context, arguments: &PageFile, default: &Path, data: &PageData) -> Result<()> {
    let named = arguments.output.as_deref().unwrap_or(default);
    if named == Path::new("-") {
        context.console.data(&page::render(data)?);
        return Ok(());
    }
    let file = context.directory.join(named);
    page::write(&file, "--output", data)?;
    context.console.line(&format!("Wrote the page of the stack to {}", named.display()));
    if arguments.open {
        open::that_detached(&file).map_err(|error| {
            Failure::io(format!("no browser could be started; open {} in one yourself", named.display()), &error)
        })?;
    }
    Ok(())
}
