//! The mark that takes the place of a stack's journal while the stack, or a part of it, moves: it says what is unfinished, and
//! how to finish it.
//!
//! A command that is killed in the middle leaves the mark behind. Every command that reads the stack then refuses, and names the
//! command that goes on. So no command takes half of a stack for a whole one, or one resource for two.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::message;
use crate::message::{Command, Message};

use crate::state::backend::{Lease, StoredStack};

/// How the line of a mark begins; its JSON follows.
const PREFIX: &str = "maloko: unfinished ";

/// A command that is not finished, as the mark on its stack says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfinishedCommand {
    /// This is a copy of the stack in the store with this address (`stack migrate`).
    CopyOf(String),
    /// This becomes the stack of this name (`stack rename`), in short.
    RenamedTo(String),
    /// This is what a rename makes of the stack of this name.
    RenameOf(String),
    /// Resources go from here to another stack (`state move`), with this command.
    Moving(String),
    /// Resources come here from another stack, with this command.
    Receiving(String),
}

impl UnfinishedCommand {
    /// The line that stands in the place of a journal.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_string(self)
            .map_err(|error| Error::BadState(format!("cannot write a mark: {error}").into()))?;
        Ok(format!("{PREFIX}{json}\n").into_bytes())
    }

    /// The mark in the place of a journal, if it is one.
    #[must_use]
    pub fn decode(journal: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(journal.strip_prefix(PREFIX.as_bytes())?).ok()?;
        serde_json::from_str(line.lines().next()?).ok()
    }

    /// The mark of a stack as it is stored.
    #[must_use]
    pub fn of(stored: &StoredStack) -> Option<Self> {
        // A stack that is being made of another one, at its very beginning, and that other one, at its very end, have it in
        // the place of the checkpoint.
        stored.journal.as_deref().and_then(Self::decode).or_else(|| Self::decode(&stored.checkpoint))
    }

    /// Puts the mark on a stack without a journal.
    pub async fn put_on(&self, lease: &dyn Lease) -> Result<()> {
        lease.append(&self.encode()?).await
    }

    /// What is wrong with this stack, and what to do about it.
    fn story(&self, what: &str) -> Message {
        match self {
            Self::CopyOf(source) => message![
                format!(
                    "{what} is a copy that `stack migrate` has not finished; the whole stack is in {source}. Repeat \
                     the migration there; or, to give up the copy, "
                ),
                Command::new("stack rm").with("--force"),
                " here"
            ],
            Self::RenamedTo(name) => message![
                format!("{what} is being renamed to '{name}', which was interrupted. Finish it with "),
                Command::new("stack rename").value(name)
            ],
            Self::RenameOf(name) => message![
                format!(
                    "{what} is what becomes of the stack '{name}', whose renaming was interrupted. Finish it with "
                ),
                Command::new("stack rename").with("NAME --stack").value(name),
                ", where NAME is that of this stack"
            ],
            Self::Receiving(command) => format!(
                "{what} was left in the middle of receiving resources from another stack, so they may be in both. Finish that \
                 with `{command}`"
            ).into(),
            Self::Moving(command) => format!(
                "{what} was left in the middle of moving resources to another stack, so they may be in both. Finish that \
                 with `{command}`"
            ).into(),
        }
    }
}

/// Refuses to read a stack with a mark.
pub(in crate::state) fn check(stored: &StoredStack) -> Result<()> {
    match UnfinishedCommand::of(stored) {
        Some(mark) => Err(Error::BadState(mark.story(&format!("the stack in {}", stored.checkpoint_place)))),
        None => Ok(()),
    }
}
