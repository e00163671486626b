//! `stack rename`.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::Urn;
use maloko_core::state::{Checkpoint, Crypter, StackName, StoredStack, create_sealed, export_deployment, reseal_stack};

use crate::arguments::StackRename;
use crate::commands::state::rewrite::rewrite_urns;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::history::Beginning;
use crate::workplace::Workplace;

const COMMAND: &str = "maloko stack rename";

pub(super) async fn run(context: &Context, arguments: &StackRename) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let beginning = Beginning::now(&workplace, "rename");
    let old = workplace.stack_name(None)?;
    let new = workplace.parse_stack(&arguments.new_name)?;
    if new.project() != workplace.project.name {
        return Err(Failure::configuration(format!(
            "'{}' would move the stack to another project; rename it within '{}'",
            arguments.new_name, workplace.project.name
        )));
    }
    new.check_new()?;
    let (old_file, new_file) = (workplace.settings_file(&old), workplace.settings_file(&new));
    let stacks = workplace.backend.list().await?;
    // Killed when only the settings were left to be renamed.
    let only_settings = !stacks.contains(&old) && stacks.contains(&new) && old_file.exists() && !new_file.exists();
    if !only_settings {
        workplace.require(&old).await?;
        move_state(&workplace, &old, &new, stacks.contains(&new)).await?;
    }
    if old_file != new_file && old_file.exists() {
        std::fs::rename(&old_file, &new_file).map_err(|error| {
            Failure::io(format!("{} cannot be renamed to {}", old_file.display(), new_file.display()), &error)
        })?;
    }
    if workplace.selected().unwrap_or_default().is_none_or(|selected| selected == old) {
        workplace.select(Some(&new))?;
    }
    beginning.ended(&workplace, &new, true, &BTreeMap::new()).await;
    context.console.line(&format!("Renamed '{}' to '{}'", workplace.shown(&old), workplace.shown(&new)));
    Ok(())
}

/// First the new state is made, then the old one goes: at no moment is there none. `is_there`: there is a stack of the new
/// name; it may be what this command made before it was killed.
async fn move_state(workplace: &Workplace<'_>, old: &StackName, new: &StackName, is_there: bool) -> Result<()> {
    let mut settings = workplace.settings(old)?;
    let crypter = workplace.crypter(old, &mut settings).await?;
    // The old state has to be what was sealed; and what a killed run left behind is settled first, so that the journal
    // is not lost with the old name.
    let session = workplace.session(old, crypter.clone(), COMMAND).await?;
    session.fold(session.snapshot().clone()).await?;
    drop(session);
    let lease = workplace.backend.lease(old, COMMAND).await?;
    let mut checkpoint = readable(&lease.load().await?, &crypter)?;
    checkpoint.stack = new.to_string();
    checkpoint.snapshot.secrets_provider = Some(crypter.secrets_provider());
    let (from, to) = (old.clone(), new.clone());
    rewrite_urns(&mut checkpoint.snapshot, &move |urn| moved(urn, &from, &to));
    let options = workplace.session_options(crypter.clone(), COMMAND, true);
    if is_there {
        let there = readable(&workplace.backend.load(new).await?, &crypter);
        let is_ours = there.is_ok_and(|there| same_resources(&there, &checkpoint, &crypter).unwrap_or_default());
        if !is_ours {
            return Err(Failure::new(format!("there is a stack named '{}' already", workplace.shown(new))));
        }
        // It may have been killed before the seal.
        reseal_stack(&*workplace.backend, new, &options).await?;
    } else {
        create_sealed(&*workplace.backend, new, checkpoint, &options).await?;
    }
    workplace.backend.move_history(old, new).await?;
    lease.remove_stack().await?;
    lease.release().await?;
    Ok(())
}

/// A state with its secrets decrypted; `crypter` is the one of the stack's settings.
fn readable(stored: &StoredStack, crypter: &Crypter) -> Result<Checkpoint> {
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)?;
    let salt = checkpoint.snapshot.salt()?.filter(|salt| *salt != crypter.salt()).map(str::to_owned);
    let unsealing = match salt {
        Some(salt) => crypter.with_salt(&salt)?,
        None => crypter.clone(),
    };
    checkpoint.snapshot.unseal_all(&unsealing)?;
    Ok(checkpoint)
}

/// Do both hold the same resources, and at least one? Two stacks with nothing in them have nothing to tell them by.
fn same_resources(one: &Checkpoint, other: &Checkpoint, crypter: &Crypter) -> Result<bool> {
    let resources = |checkpoint: &Checkpoint| -> Result<serde_json::Value> {
        let text = export_deployment(&checkpoint.snapshot, Some(crypter), true)?;
        let exported: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        Ok(exported["deployment"]["resources"].clone())
    };
    Ok(!one.snapshot.rows.is_empty() && resources(one)? == resources(other)?)
}

/// The same resource in the other stack. The root stack's own name holds the stack's name, too.
fn moved(urn: &Urn, from: &StackName, to: &StackName) -> Urn {
    if urn.stack() != from.stack() || urn.project() != from.project() {
        return urn.clone();
    }
    let name = if urn.is_root_stack() {
        Arc::from(format!("{}-{}", to.project(), to.stack()))
    } else {
        Arc::<str>::from(urn.name())
    };
    Urn::unchecked(&format!("urn:pulumi:{}::{}::{}::{name}", to.stack(), to.project(), urn.qualified_type()))
}
