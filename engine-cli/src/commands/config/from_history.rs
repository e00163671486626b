//! `config refresh`: the settings file becomes what the last operation went by.

use std::path::{Path, PathBuf};

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::key_record::NamedKey;
use maloko_core::state::{HistoryEntry, StackName};
use serde_norway::Value;

use super::{decrypted, open};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::settings::{Settings, value};
use crate::workplace::Workplace;

/// Runs `config refresh`. Without `force`, a file that changes is kept beside the new one.
pub(super) async fn run(context: &Context, force: bool) -> Result<()> {
    let (workplace, stack, mut settings) = open(context).await?;
    let last = last_configuration(&workplace, &stack).await?;
    check_secrets(&workplace, &stack, &mut settings, &last).await?;
    let mut changes = false;
    let gone: Vec<String> =
        settings.entries().map(|(_, key, _)| key).filter(|key| last.iter().all(|(kept, _)| kept != key)).collect();
    for key in gone {
        changes |= settings.remove(&key, &[])?;
    }
    for (key, value) in last {
        if settings.get(&key) != Some(&value) {
            settings.set(&key, &[], value)?;
            changes = true;
        }
    }
    if !matches!(settings.key()?, NamedKey::Record(_))
        && let Some(record) = workplace.unchecked_read(&stack).await?.key_record()?
    {
        changes |= settings.complete_key(&record)?;
    }
    if changes {
        if !force && settings.file().exists() {
            let kept = keep(settings.file())?;
            context.console.line(&format!("backed up existing configuration file to {}", kept.display()));
        }
        workplace.save_settings(&settings)?;
    }
    context.console.line(&format!("refreshed configuration for stack '{}'", workplace.shown(&stack)));
    Ok(())
}

/// What the last operation went by: keys with their namespaces, and values as they stand in a settings file.
async fn last_configuration(workplace: &Workplace<'_>, stack: &StackName) -> Result<Vec<(String, Value)>> {
    let newest = workplace.backend.history(stack, 1).await.map_err(|error| workplace.explain(error, stack))?;
    let Some(entry) = newest.first() else {
        return Err(Failure::new(message![
            format!(
                "no previous deployment of the stack '{}' says what its configuration was; the first comes with ",
                workplace.shown(stack)
            ),
            Command::new("up")
        ]));
    };
    let config = HistoryEntry::decode(entry)?.config;
    config
        .into_iter()
        .map(|(key, value)| {
            let value = serde_norway::to_value(value).map_err(|error| {
                Failure::new(format!("{}: the value of '{key}' cannot be read: {error}", entry.place))
            })?;
            Ok((key, value))
        })
        .collect()
}

/// Refuses secrets that the stack's present key does not open: nobody could read them from the file any more.
async fn check_secrets(
    workplace: &Workplace<'_>,
    stack: &StackName,
    settings: &mut Settings,
    config: &[(String, Value)],
) -> Result<()> {
    if !config.iter().any(|(_, value)| value::has_secret(value)) {
        return Ok(());
    }
    let crypter = workplace.crypter(stack, settings).await?;
    for (key, value) in config {
        value::rewrite_secrets(&mut value.clone(), &|ciphertext| decrypted(&crypter, ciphertext)).map_err(|_| {
            Failure::new(format!(
                "the secret '{key}' of the last operation is encrypted with another key than the stack has now, so the \
                 configuration stays as it is; run an operation with the present one"
            ))
        })?;
    }
    Ok(())
}

/// Copies a file to a name of its own beside it, and gives that.
fn keep(file: &Path) -> Result<PathBuf> {
    let mut name = file.as_os_str().to_owned();
    loop {
        name.push(".bak");
        let copy = PathBuf::from(&name);
        if copy.exists() {
            continue;
        }
        std::fs::copy(file, &copy).map_err(|error| {
            Failure::io(format!("{} cannot be copied to {}", file.display(), copy.display()), &error)
        })?;
        return Ok(copy);
    }
}
