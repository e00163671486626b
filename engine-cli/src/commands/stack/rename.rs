//! `stack rename`.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::Urn;
use maloko_core::state::{Checkpoint, StackName};

use crate::arguments::StackRename;
use crate::commands::state::rewrite::rewrite_urns;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::history::Beginning;
use crate::workplace::Workplace;

pub(super) async fn run(context: &Context, arguments: &StackRename) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let beginning = Beginning::now(&workplace, "rename", None);
    let old = workplace.stack_name(None)?;
    let new = workplace.parse_stack(&arguments.new_name)?;
    if new.project() != workplace.project.name {
        return Err(Failure::configuration(format!(
            "'{}' would move the stack to another project; rename it within '{}'",
            arguments.new_name, workplace.project.name
        )));
    }
    workplace.require(&old).await?;
    if workplace.backend.list().await?.contains(&new) {
        return Err(Failure::new(format!("there is a stack named '{}' already", workplace.shown(&new))));
    }
    let mut settings = workplace.settings(&old)?;
    let crypter = workplace.crypter(&old, &mut settings).await?;
    if workplace.backend.load(&old).await?.journal.is_some() {
        // What a killed run left behind is settled first, so that the journal is not lost with the old name.
        let session = workplace.session(&old, crypter.clone(), "maloko stack rename").await?;
        session.fold(session.snapshot().clone()).await?;
    }
    let lease = workplace.backend.lease(&old).await?;
    let stored = lease.load().await?;
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)?;
    let salt = checkpoint.snapshot.salt()?.filter(|salt| *salt != crypter.salt()).map(str::to_owned);
    let unsealing = match salt {
        Some(salt) => crypter.with_salt(&salt)?,
        None => crypter.clone(),
    };
    checkpoint.stack = new.to_string();
    checkpoint.snapshot.secrets_provider = Some(crypter.secrets_provider());
    checkpoint.snapshot.unseal_all(&unsealing)?;
    let (from, to) = (old.clone(), new.clone());
    rewrite_urns(&mut checkpoint.snapshot, &move |urn| moved(urn, &from, &to));
    // First the new one, then the old one goes: at no moment is there none.
    workplace.backend.create(&new, &checkpoint.encode(&crypter)?).await?;
    workplace.backend.move_history(&old, &new).await?;
    lease.remove_stack().await?;
    lease.release().await?;
    let (old_file, new_file) = (workplace.settings_file(&old), workplace.settings_file(&new));
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
