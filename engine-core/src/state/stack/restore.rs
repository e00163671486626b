//! Former checkpoints: what they hold, and bringing one back.

use serde_json::Value as Json;

use crate::digest::sha256_hex;
use crate::error::{Error, Result};
use crate::message;
use crate::message::{Command, Message};
use crate::state::snapshot::Snapshot;

use crate::state::backend::{Backend, Generation, Lease};
use crate::state::checkpoint::Checkpoint;
use crate::state::integrity::{check_on_load, complete_old_resources};
use crate::state::journal::reading;
use crate::state::journal::unfinished::{self, UnfinishedCommand};
use crate::state::name::StackName;
use crate::state::seal::difference::differ_in_time_alone;
use crate::state::seal::{self, Before, HashedCheckpoint, Sealer};
use crate::state::secrets::Crypter;
use crate::state::session_options::SessionOptions;

/// What is said of a stack that was removed and is there again.
fn removed() -> Message {
    message![
        "the stack had been removed; what its generation holds is there again. Its settings file is no part of a \
         state: if it was removed with the stack, put it back before the next ",
        Command::new("up"),
        ", which would take the configuration for empty"
    ]
}

/// A former checkpoint.
#[derive(Clone, Debug)]
pub struct GenerationReading {
    /// Its number; the newest has the highest.
    pub number: u64,
    /// Where it is, for messages.
    pub place: String,
    /// Is it what was written last, of which the stack's checkpoint is no copy any more?
    pub is_last: bool,
    /// What is in it; or why it cannot be used.
    pub content: std::result::Result<GenerationContent, String>,
}

/// What is in a former checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationContent {
    /// When it was written, RFC 3339; empty when it does not say.
    pub written: String,
    /// How many resources it has, the stack's own and those of providers included.
    pub resources: usize,
    /// How many operations it has whose outcome is unknown.
    pub pending: usize,
}

/// The former checkpoints of a stack, the newest first. One that cannot be read does not hide the others.
///
/// # Errors
/// The store cannot be read.
pub async fn read_generations(backend: &dyn Backend, stack: &StackName) -> Result<Vec<GenerationReading>> {
    let mut readings = Vec::new();
    for Generation { number, place, is_last } in backend.generations(stack).await? {
        let content = match backend.load_generation(stack, number).await {
            // What a stack was made with that was copied or renamed.
            Ok(bytes) if UnfinishedCommand::decode(&bytes).is_some() => continue,
            Ok(bytes) => decode(&bytes, stack, &place, true).map(|checkpoint| content(&checkpoint)),
            Err(error) => Err(error),
        };
        readings.push(GenerationReading {
            number,
            place,
            is_last,
            content: content.map_err(|error| error.to_string()),
        });
    }
    Ok(readings)
}

/// The state in a former checkpoint, to be looked at; its secrets are sealed.
///
/// # Errors
/// There is no such generation, or it cannot be read.
pub async fn read_generation(backend: &dyn Backend, stack: &StackName, number: u64) -> Result<Snapshot> {
    let bytes = backend.load_generation(stack, number).await?;
    Ok(decode(&bytes, stack, &format!("of generation {number}"), false)?.snapshot)
}

fn content(checkpoint: &Checkpoint) -> GenerationContent {
    let snapshot = &checkpoint.snapshot;
    let written = snapshot.other.get("manifest").and_then(|manifest| manifest.get("time")).and_then(Json::as_str);
    GenerationContent {
        written: written.unwrap_or_default().to_owned(),
        resources: snapshot.resources.len(),
        pending: snapshot.pending.len(),
    }
}

fn decode(bytes: &[u8], stack: &StackName, place: &str, check_integrity: bool) -> Result<Checkpoint> {
    let mut checkpoint = Checkpoint::decode(bytes, place)?;
    complete_old_resources(&mut checkpoint.snapshot);
    if check_integrity {
        check_on_load(&checkpoint, stack, place)?;
    }
    Ok(checkpoint)
}

/// Makes a former checkpoint the present one, whatever the present one is like: damaged, missing, or of a stack that was
/// removed. What was there becomes a generation itself, so nothing is lost. A journal is taken up by the next operation
/// if it belongs to that checkpoint, and otherwise kept under another name. Gives what the user should know.
///
/// # Errors
/// There is no such generation, it cannot be used itself, or somebody else works on the stack. Nothing was changed then.
pub async fn restore_stack(
    backend: &dyn Backend,
    stack: &StackName,
    number: u64,
    options: &SessionOptions,
) -> Result<Vec<Message>> {
    let bytes = backend.load_generation(stack, number).await?;
    let checkpoint = decode(&bytes, stack, &format!("of generation {number}"), options.check_integrity)?;
    options.crypter.verify()?;
    let theirs = checkpoint.snapshot.own_crypter(&options.crypter)?;
    if !theirs.record().is_same_key(options.crypter.record())
        && let Err(error) = theirs.verify()
    {
        if theirs.record().salt().is_none() {
            // Its service says why.
            return Err(Error::Secrets(format!("generation {number}: {error}").into()));
        }
        return Err(Error::Secrets(message![
            format!("generation {number} is encrypted under a key from before "),
            Command::new("stack change-secrets-provider"),
            ". Put the settings file of that time (with its `encryptionsalt`) back in its place, set \
             PULUMI_CONFIG_PASSPHRASE to the passphrase of that time, and run this command again; then change the key \
             once more. Nothing was changed"
        ]));
    }
    let lease = match backend.lease(stack, &options.command).await {
        Ok(lease) => lease,
        Err(Error::NoStack { .. }) => {
            backend.create(stack, &bytes).await?;
            let lease = backend.lease(stack, &options.command).await?;
            Sealer { stack, options }.accept(&*lease, &Before::nothing(), &bytes, theirs.seal_key()?).await?;
            lease.release().await?;
            return Ok(vec![removed()]);
        }
        Err(error) => return Err(error),
    };
    // What is there becomes a generation, and pushes none of the others out.
    let options = SessionOptions { keep_generations: options.keep_generations.saturating_add(1), ..options.clone() };
    let restored = put_back(&*lease, &bytes, &theirs, &Sealer { stack, options: &options }).await;
    if restored.is_err() {
        // The reason why it could not be restored is what the user needs to know.
        drop(lease.release().await);
        return restored;
    }
    lease.release().await?;
    restored
}

async fn put_back(lease: &dyn Lease, bytes: &[u8], crypter: &Crypter, sealer: &Sealer<'_>) -> Result<Vec<Message>> {
    let stored = lease.load().await?;
    if stored.checkpoint == bytes || differ_in_time_alone(&stored.checkpoint, bytes) {
        return Ok(vec!["the state is as that generation is; nothing had to be changed".to_owned().into()]);
    }
    if UnfinishedCommand::decode(&stored.checkpoint).is_some() {
        unfinished::check(&stored)?;
    }
    let mut notices = Vec::new();
    // A mark stays: what it says of the stack is not mended by another state.
    if let Some(journal) = &stored.journal
        && UnfinishedCommand::decode(journal).is_none()
    {
        // A journal that cannot be read belongs to nothing.
        let read = reading::read(journal, &stored.journal_place).ok().flatten();
        if read.is_some_and(|journal| journal.header.base == sha256_hex(bytes)) {
            notices.push(
                "a run of maloko was interrupted that had begun with that generation; the next command brings back what \
                 its journal knows"
                    .to_owned().into(),
            );
        } else {
            let place = lease.set_journal_aside().await?;
            notices.push(format!(
                "the journal of an interrupted run belongs to another state; it is kept as {place}, and what only it knows \
                 is not in the state"
            ).into());
        }
    }
    // Whatever the seal says of the state before, it is that of this one from now on.
    let before = Before::of(&seal::examine(&stored, sealer.stack));
    sealer.replace(lease, &before, HashedCheckpoint::new(bytes), crypter, crypter).await?;
    Ok(notices)
}

/// Keeps a damaged journal under another name, and puts what is readable before the damage in its place: the next
/// operation takes that up, as after a crash at that moment. Gives what was done.
///
/// # Errors
/// There is no journal, or nothing is wrong with it; nothing was changed then.
pub async fn salvage_journal(backend: &dyn Backend, stack: &StackName, command: &str) -> Result<Message> {
    let lease = backend.lease(stack, command).await?;
    let salvaged = salvage(&*lease).await;
    let released = lease.release().await;
    let done = salvaged?;
    released.map(|()| done)
}

async fn salvage(lease: &dyn Lease) -> Result<Message> {
    let stored = lease.load().await?;
    let place = &stored.journal_place;
    let Some(bytes) = &stored.journal else {
        return Err(Error::Configuration(format!("there is no journal {place}: no run was interrupted").into()));
    };
    if reading::read(bytes, place).is_ok() {
        return Err(Error::Configuration(format!(
            "no line of the journal {place} is damaged; the next command takes it up by itself, or says what keeps it from \
             that"
        ).into()));
    }
    let (good, records) = reading::readable(bytes, place)?;
    let aside = lease.set_journal_aside().await?;
    if good == 0 {
        return Ok(message![
            format!(
                "nothing of the journal is readable from its first line on; it is kept as {aside}. The state is as it \
                 was before that run: accept it with "
            ),
            Command::new("state reseal"),
            ", look through the journal for what was made, run ",
            Command::new("refresh"),
            ", and import what is missing from the state"
        ]);
    }
    lease.append(&bytes[..good]).await?;
    let records = if records == 1 { "1 record is".to_owned() } else { format!("{records} records are") };
    Ok(format!(
        "{records} readable and will be brought back by the next command; the damaged journal is kept as {aside}. Look through \
         what comes after those for what was made, and import what is missing from the state"
    ).into())
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
