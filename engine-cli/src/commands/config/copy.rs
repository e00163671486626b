//! `config copy`: values go to another stack of the project, with its own key.

use maloko_core::property_path::Segment;
use maloko_core::state::StackName;
use serde_norway::Value;

use super::{decrypted, open};
use crate::arguments::ConfigCopy;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::settings::path::{self, locate};
use crate::settings::{Settings, value};
use crate::workplace::Workplace;

/// Runs `config copy`.
pub(super) async fn run(context: &Context, arguments: &ConfigCopy) -> Result<()> {
    let (workplace, stack, settings) = open(context).await?;
    let target = workplace.parse_own_stack(&arguments.dest)?;
    let values = match &arguments.key {
        Some(key) => {
            let (full, path) = locate(&workplace.project.name, key, arguments.path)?;
            let found = settings.get(&full).and_then(|whole| path::get(whole, &path)).cloned();
            let found = found.ok_or_else(|| {
                Failure::new(format!(
                    "configuration key '{key}' not found for stack '{}' ({})",
                    workplace.shown(&stack),
                    settings.file().display()
                ))
            })?;
            vec![(full, path, found)]
        }
        None => all(&settings),
    };
    into(&workplace, (&stack, settings), &target, values).await
}

/// All values of a stack's settings.
pub(crate) fn all(settings: &Settings) -> Vec<(String, Vec<Segment>, Value)> {
    settings.entries().map(|(_, key, value)| (key, Vec::new(), value.clone())).collect()
}

/// Sets these values of one stack in another.
pub(crate) async fn into(
    workplace: &Workplace<'_>,
    (stack, mut settings): (&StackName, Settings),
    target: &StackName,
    mut values: Vec<(String, Vec<Segment>, Value)>,
) -> Result<()> {
    if stack == target {
        return Err(Failure::configuration(format!(
            "'{}' would be copied to itself; name another stack",
            workplace.shown(stack)
        )));
    }
    workplace.require(target).await?;
    // `--config-file` is about the stack that is copied from.
    let mut there = workplace.settings_of_other(target)?;
    workplace.finish_change_of_secrets_provider(target, &mut there).await?;
    if values.iter().any(|(.., value)| value::has_secret(value)) {
        let opens = workplace.crypter(stack, &mut settings).await?;
        let closes = workplace.crypter(target, &mut there).await?;
        there.complete_key(closes.record())?;
        let exchange = |ciphertext: &str| Ok(closes.encrypt(&decrypted(&opens, ciphertext)?)?.to_string());
        for (.., value) in &mut values {
            value::rewrite_secrets(value, &exchange)?;
        }
    }
    for (key, path, value) in values {
        there.set(&key, &path, value)?;
    }
    workplace.save_settings(&there)
}
