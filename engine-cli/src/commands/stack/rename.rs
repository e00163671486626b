//! `stack rename`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use maloko_core::message;
use maloko_core::message::{Command, Message};
use maloko_core::state::{
    Checkpoint, Crypter, Lease, StackName, StoredStack, UnfinishedCommand, create_successor, export_deployment,
};
use maloko_core::{Error, Urn};

use crate::arguments::StackRename;
use crate::commands::rewrite::rewrite_urns;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::history::Beginning;
use crate::workplace::Workplace;

const COMMAND: &str = "maloko stack rename";

pub(super) async fn run(context: &Context, arguments: &StackRename) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let beginning = Beginning::now(&workplace, "rename");
    let old = workplace.any_stack_name(None).await?;
    let new = workplace.parse_stack(&arguments.new_name)?;
    if new.project() != workplace.project.name {
        return Err(Failure::configuration(format!(
            "'{}' would move the stack to another project; rename it within '{}'",
            arguments.new_name, workplace.project.name
        )));
    }
    new.check_new()?;
    Renaming { workplace: &workplace, old: &old, new: &new }.run().await?;
    if workplace.selected().unwrap_or_default().is_none_or(|selected| selected == old) {
        workplace.select(Some(&new))?;
    }
    beginning.ended(&workplace, &new, true, &BTreeMap::new(), None).await;
    context.console.line(&format!("Renamed {} to {}", workplace.shown(&old), workplace.shown(&new)));
    Ok(())
}

/// One stack becomes another one. At every moment the old one is whole, or marked as one that is being renamed; the new one
/// is marked until all of it is there.
struct Renaming<'w> {
    workplace: &'w Workplace<'w>,
    old: &'w StackName,
    new: &'w StackName,
}

impl Renaming<'_> {
    async fn run(&self) -> Result<()> {
        let (workplace, backend) = (self.workplace, &self.workplace.backend);
        let mark = UnfinishedCommand::RenamedTo(self.new.stack().to_owned());
        let stored = workplace.stored(self.old).await?;
        let begun = UnfinishedCommand::of(&stored).as_ref() == Some(&mark);
        if !begun && workplace.has(self.new).await? {
            return Err(self.taken(""));
        }
        let crypter = if begun {
            self.crypter_to_finish(&stored).await?
        } else {
            let mut settings = workplace.settings(self.old)?;
            let crypter = workplace.crypter(self.old, &mut settings).await?;
            // The old state has to be what was sealed; and what a killed run left behind is settled first, so that the
            // journal is not lost with the old name.
            let session = workplace.session(self.old, crypter.clone(), COMMAND).await?;
            session.compact(session.snapshot().clone()).await?;
            crypter
        };
        let lease = backend.lease(self.old, COMMAND).await?;
        let done = self.run_leased(&lease, &mark, &crypter).await;
        // The reason why it failed is what the user needs to know.
        let released = lease.release().await;
        done.and(released.map_err(Failure::from))
    }

    /// The key of a stack that cannot be read any more as one. The settings may have been renamed already.
    async fn crypter_to_finish(&self, stored: &StoredStack) -> Result<Crypter> {
        let workplace = self.workplace;
        let settings = workplace.settings(if self.settings_are_moved() { self.new } else { self.old })?;
        if let Some(crypter) = workplace.crypter_of_settings(self.old, &settings)? {
            return Ok(crypter);
        }
        let state = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place).map(|state| state.snapshot);
        // Where that is gone too, nothing is left to be encrypted.
        let crypter = workplace.crypter_of_state(self.old, &state.unwrap_or_default())?;
        match crypter {
            Some(crypter) => Ok(crypter),
            None => workplace.new_crypter(self.old).await,
        }
    }

    async fn run_leased(&self, lease: &Arc<dyn Lease>, mark: &UnfinishedCommand, crypter: &Crypter) -> Result<()> {
        let stored = lease.load().await?;
        if UnfinishedCommand::of(&stored).as_ref() != Some(mark) {
            mark.put_on(&**lease).await?;
        }
        // Without its checkpoint, all that is left of it is to be removed.
        if !stored.checkpoint.is_empty() && UnfinishedCommand::decode(&stored.checkpoint).is_none() {
            self.make_new(&stored, crypter).await?;
            // No store removes all of a stack in one step: at none of them may it look like one again.
            lease.replace(&mark.encode()?, self.workplace.keep_generations).await?;
        }
        self.workplace.backend.move_history(self.old, self.new).await?;
        lease.remove_stack().await?;
        Ok(())
    }

    /// Makes the new stack, unless it is there.
    async fn make_new(&self, stored: &StoredStack, crypter: &Crypter) -> Result<()> {
        let backend = &self.workplace.backend;
        let checkpoint = self.renamed(readable(stored, crypter)?, crypter);
        match backend.load(self.new).await {
            Err(Error::NoStack { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(there)
                if UnfinishedCommand::of(&there) == Some(UnfinishedCommand::RenameOf(self.old.stack().to_owned())) =>
            {
                self.remove_pending_delete().await?;
            }
            Ok(there) => {
                let ours = readable(&there, crypter).and_then(|there| same_resources(&there, &checkpoint, crypter));
                if !ours.unwrap_or_default() {
                    return Err(self.taken(&message![
                        format!(
                            ", and it is not what became of '{}': rename that one first. If it is what became of '{}', \
                             and was changed since, remove '{}' with ",
                            self.workplace.shown(self.old),
                            self.workplace.shown(self.old),
                            self.workplace.shown(self.old)
                        ),
                        Command::new("stack rm").value(self.workplace.shown(self.old)).with("--force")
                    ]));
                }
                if there.seal.is_some() && there.journal.is_none() && !self.has_settings_to_move() {
                    return Ok(());
                }
                // It was killed before the mark.
                self.remove_pending_delete().await?;
            }
        }
        let options = self.workplace.session_options(crypter.clone(), COMMAND, true);
        let former = self.former().await?;
        let lease = create_successor(&**backend, self.old, self.new, checkpoint, &former, &options).await?;
        if let Some(tags) = backend.tags(self.old).await? {
            lease.write_tags(&tags).await?;
        }
        self.move_settings()?;
        lease.remove_journal().await?;
        lease.release().await?;
        Ok(())
    }

    async fn remove_pending_delete(&self) -> Result<()> {
        let lease = self.workplace.backend.lease(self.new, COMMAND).await?;
        lease.remove_stack().await?;
        lease.release().await?;
        Ok(())
    }

    /// The former states under the new name, the oldest first. One that cannot be read stays where it is.
    async fn former(&self) -> Result<Vec<Checkpoint>> {
        let backend = &self.workplace.backend;
        let mut former = Vec::new();
        for generation in backend.generations(self.old).await?.into_iter().rev() {
            let bytes = backend.load_generation(self.old, generation.number).await?;
            match Checkpoint::decode(&bytes, &generation.place) {
                Ok(checkpoint) => former.push(self.rewritten(checkpoint)),
                Err(problem) => {
                    self.workplace.context.console.warn(format!("a former state is left behind: {problem}"));
                }
            }
        }
        Ok(former)
    }

    fn renamed(&self, checkpoint: Checkpoint, crypter: &Crypter) -> Checkpoint {
        let mut checkpoint = self.rewritten(checkpoint);
        checkpoint.snapshot.secrets_provider = Some(crypter.secrets_provider());
        checkpoint
    }

    fn rewritten(&self, mut checkpoint: Checkpoint) -> Checkpoint {
        checkpoint.stack = self.new.to_string();
        rewrite_urns(&mut checkpoint.snapshot, &|urn| moved(urn, self.old, self.new));
        checkpoint
    }

    /// The settings files under the old name and under the new one.
    fn settings_files(&self) -> [PathBuf; 2] {
        [self.old, self.new].map(|stack| self.workplace.settings_file(stack))
    }

    fn has_settings_to_move(&self) -> bool {
        let [old, new] = self.settings_files();
        old != new && old.exists()
    }

    fn settings_are_moved(&self) -> bool {
        !self.has_settings_to_move() && self.settings_files()[1].exists()
    }

    fn move_settings(&self) -> Result<()> {
        if !self.has_settings_to_move() {
            return Ok(());
        }
        let [old, new] = self.settings_files();
        std::fs::rename(&old, &new)
            .map_err(|error| Failure::io(format!("{} cannot be renamed to {}", old.display(), new.display()), &error))
    }

    fn taken(&self, advice: impl Into<Message>) -> Failure {
        let message = message![format!("a stack named '{}' already exists", self.workplace.shown(self.new)), advice];
        Failure::stack_exists(message)
    }
}

/// A state with its secrets decrypted; `crypter` is the one of the stack's settings.
fn readable(stored: &StoredStack, crypter: &Crypter) -> Result<Checkpoint> {
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)?;
    checkpoint.snapshot.unseal_all(crypter)?;
    Ok(checkpoint)
}

/// Do both hold the same resources, and at least one? Two stacks with nothing in them have nothing to tell them by.
fn same_resources(one: &Checkpoint, other: &Checkpoint, crypter: &Crypter) -> Result<bool> {
    let resources = |checkpoint: &Checkpoint| -> Result<serde_json::Value> {
        let text = export_deployment(&checkpoint.snapshot, Some(crypter), true)?;
        let exported: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        Ok(exported["deployment"]["resources"].clone())
    };
    Ok(!one.snapshot.resources.is_empty() && resources(one)? == resources(other)?)
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
