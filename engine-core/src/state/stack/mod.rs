//! What is done to a stack as a whole: reading it, making it, replacing it.

pub mod copy;
pub mod restore;
pub(super) mod successor;

use std::sync::Arc;

use serde_json::json;

use crate::error::{Error, Result};
use crate::message;
use crate::message::{Command, Message};
use crate::resource_state::ResourceState;

use super::Snapshot;
use super::backend::{Backend, Holder, Lease, MIN_GENERATIONS, StoredStack};
use super::checkpoint::Checkpoint;
use super::integrity::{check, sha256_hex};
use super::journal;
use super::journal::recovery::{JournalFate, Run, recover};
use super::name::StackName;
use super::seal::difference::differ_in_time_alone;
use super::seal::{self, Before, OWN_MARK, Sealer, Standing};
use super::secrets::Crypter;
use super::session::SessionOptions;
use crate::environment::Environment;

/// A stack's state, read without a lease.
#[derive(Clone, Debug, Default)]
pub struct StackReading {
    /// The rows; secrets are sealed until [`Snapshot::unseal`].
    pub snapshot: Snapshot,
    /// What the user should know: an interrupted run whose journal was taken into account, and the like.
    pub notices: Vec<Message>,
}

/// How often a stack is read that somebody else writes just then.
const READS: usize = 5;

/// Reads a stack without a lease: for previews and for commands that only show. The journal of a run that was killed
/// is taken into account, but not folded. Without a key, only the hash in the seal is compared.
pub async fn read_stack(backend: &dyn Backend, stack: &StackName, check_integrity: bool) -> Result<StackReading> {
    read_stack_with(backend, stack, check_integrity, None).await
}

/// Reads a stack without a lease; with the stack's crypter, that its seal and journal are genuine is checked as well.
pub async fn read_stack_with(
    backend: &dyn Backend,
    stack: &StackName,
    check_integrity: bool,
    crypter: Option<&Crypter>,
) -> Result<StackReading> {
    let stored = backend.load(stack).await?;
    read(backend, stack, check_integrity, crypter, stored, Run::Unknown).await
}

/// Reads a stack without a lease beside those who may be at work on it: what they have done so far counts, and what they have
/// begun is in nobody's doubt. Gives who they are as well.
pub async fn read_stack_beside(
    backend: &dyn Backend,
    stack: &StackName,
    check_integrity: bool,
    crypter: Option<&Crypter>,
) -> Result<(StackReading, Vec<Holder>)> {
    let mut stored = backend.load(stack).await?;
    let mut holders = at_work(backend, stack).await?;
    for _ in 1..READS {
        if stored.journal.is_none() || !holders.is_empty() {
            break;
        }
        // Nobody is at work: either they were killed, or they have ended since, and then their journal is gone as well.
        let before = std::mem::replace(&mut stored, backend.load(stack).await?);
        if before.journal == stored.journal {
            break;
        }
        holders = at_work(backend, stack).await?;
    }
    let run = if holders.is_empty() { Run::Unknown } else { Run::AtWork };
    let reading = read(backend, stack, check_integrity, crypter, stored, run).await?;
    Ok((reading, holders))
}

/// Those who work on a stack now, as far as can be told: a process on another machine that has died looks like one that
/// works.
pub async fn at_work(backend: &dyn Backend, stack: &StackName) -> Result<Vec<Holder>> {
    let mut holders = backend.holders(stack).await?;
    holders.retain(|holder| !holder.is_gone());
    Ok(holders)
}

async fn read(
    backend: &dyn Backend,
    stack: &StackName,
    check_integrity: bool,
    crypter: Option<&Crypter>,
    mut stored: StoredStack,
    run: Run,
) -> Result<StackReading> {
    for _ in 1..READS {
        // A checkpoint and a seal that do not fit may be those before and after a write that goes on just now.
        if !matches!(seal::examine(&stored, stack).standing, Standing::Broken(_)) {
            break;
        }
        let before = std::mem::replace(&mut stored, backend.load(stack).await?);
        if before.checkpoint == stored.checkpoint && before.seal == stored.seal {
            break;
        }
    }
    let mut recovered = recover(&stored, run)?;
    let mut notices = std::mem::take(&mut recovered.notices);
    let snapshot = &recovered.checkpoint.snapshot;
    let theirs = crypter.map(|crypter| crypter_of(snapshot, crypter)).transpose()?;
    let examined = seal::examine(&stored, stack);
    let key = theirs.as_ref().filter(|_| examined.needs_key()).map(Crypter::seal_key).transpose()?;
    notices.extend(examined.judge(stack, &stored.checkpoint_place, key, !check_integrity)?);
    if let (JournalFate::Fold(journal), Some(bytes), Some(theirs)) = (&recovered.fate, &stored.journal, &theirs) {
        journal::verify(bytes, journal, theirs.seal_key()?, &stored.journal_place)?;
    }
    if check_integrity {
        check_on_load(&recovered.checkpoint, stack, &stored.checkpoint_place)?;
    }
    Ok(StackReading { snapshot: recovered.into_snapshot(), notices })
}

/// The crypter of a snapshot as it was read: the same passphrase, with its own salt.
pub(super) fn crypter_of(snapshot: &Snapshot, crypter: &Crypter) -> Result<Crypter> {
    match snapshot.salt()? {
        Some(salt) => crypter.with_salt(salt),
        None => Ok(crypter.clone()),
    }
}

/// Makes an empty stack.
pub async fn create_stack(
    backend: &dyn Backend,
    stack: &StackName,
    crypter: &Crypter,
    environment: &Environment,
) -> Result<()> {
    stack.check_new()?;
    let checkpoint = Checkpoint { stack: stack.to_string(), ..Checkpoint::default() };
    create_sealed(backend, stack, checkpoint, &options_for("stack init", crypter, environment)).await
}

fn options_for(command: &str, crypter: &Crypter, environment: &Environment) -> SessionOptions {
    SessionOptions {
        crypter: crypter.clone(),
        environment: environment.clone(),
        check_integrity: true,
        command: command.to_owned(),
        keep_generations: MIN_GENERATIONS,
    }
}

/// Makes a stack with this checkpoint, and seals it.
pub async fn create_sealed(
    backend: &dyn Backend,
    stack: &StackName,
    mut checkpoint: Checkpoint,
    options: &SessionOptions,
) -> Result<()> {
    // A stack without a seal would have to be sealed by hand.
    let key = options.crypter.seal_key()?;
    stamp(&mut checkpoint.snapshot, &options.environment);
    let bytes = checkpoint.encode(&options.crypter)?;
    backend.create(stack, &bytes).await?;
    let lease = backend.lease(stack, &options.command).await?;
    Sealer { stack, options }.accept(&*lease, &Before::nothing(), &bytes, key).await?;
    lease.release().await
}

/// Replaces what a lease on a stack gave to read by another checkpoint, perhaps under another key (`options` has the new
/// one), and seals it. The old state must be as it was sealed.
pub async fn replace_sealed(
    lease: &dyn Lease,
    stack: &StackName,
    stored: &StoredStack,
    checkpoint: &[u8],
    old: &Crypter,
    options: &SessionOptions,
) -> Result<()> {
    let before = Before::of(stored, &seal::examine(stored, stack));
    Sealer { stack, options }.replace(lease, &before, checkpoint, old, &options.crypter).await.map(drop)
}

/// Takes the state for good as it is: seals it anew. A journal that is not genuine is kept under another name. Gives what
/// was accepted.
pub async fn reseal_stack(backend: &dyn Backend, stack: &StackName, options: &SessionOptions) -> Result<Vec<Message>> {
    options.crypter.verify()?;
    let lease = backend.lease(stack, &options.command).await?;
    let stored = lease.load().await?;
    let recovered = recover(&stored, Run::Killed)?;
    let theirs = crypter_of(&recovered.checkpoint.snapshot, &options.crypter)?;
    let key = theirs.seal_key()?;
    let examined = seal::examine(&stored, stack);
    let mut accepted = Vec::new();
    if let (JournalFate::Fold(journal), Some(bytes)) = (&recovered.fate, &stored.journal)
        && journal::verify(bytes, journal, key, &stored.journal_place).is_err()
    {
        let place = lease.set_journal_aside().await?;
        accepted
            .push(format!("the journal that was not genuine is kept as {place}, and is not taken into account").into());
    }
    accepted.extend(examined.judge(stack, &stored.checkpoint_place, Some(key), true)?);
    Sealer { stack, options }.accept(&*lease, &Before::of(&stored, &examined), &stored.checkpoint, key).await?;
    lease.release().await?;
    Ok(accepted)
}

/// Replaces a stack's state with an imported one, whatever is there: also a stack file or a journal that cannot be
/// read, which is what imports are for. A journal is kept under another name. Gives what the user should know.
pub async fn overwrite_stack(
    backend: &dyn Backend,
    stack: &StackName,
    mut snapshot: Snapshot,
    options: &SessionOptions,
) -> Result<Vec<String>> {
    if options.check_integrity {
        check(&snapshot).map_err(|violation| {
            Error::BadState(format!("the imported state is not sound: {violation}. Nothing was changed").into())
        })?;
    }
    if snapshot.has_ciphertexts() {
        bring_under(&options.crypter, &mut snapshot)?;
    }
    options.crypter.verify()?;
    let lease = backend.lease(stack, &options.command).await?;
    let stored = lease.load().await?;
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place).unwrap_or_default();
    checkpoint.stack = stack.to_string();
    checkpoint.snapshot = snapshot;
    stamp(&mut checkpoint.snapshot, &options.environment);
    let bytes = checkpoint.encode(&options.crypter)?;
    let examined = seal::examine(&stored, stack);
    if stored.journal.is_none()
        && examined.standing == Standing::Fits
        && differ_in_time_alone(&bytes, &stored.checkpoint)
    {
        // It is the state already: the former ones that are kept are worth more than another copy of it.
        lease.release().await?;
        return Ok(Vec::new());
    }
    let mut notices = Vec::new();
    if stored.journal.is_some() {
        let place = lease.set_journal_aside().await?;
        notices.push(format!(
            "a run of maloko had been interrupted before the import; its journal is kept as {place}, and what only it \
             knows is not in the state"
        ));
    }
    // Whatever the seal says of the state before, it is that of the new one from now on.
    let before = Before::of(&stored, &examined);
    let crypter = &options.crypter;
    Sealer { stack, options }.replace(&*lease, &before, &bytes, crypter, crypter).await?;
    lease.release().await?;
    Ok(notices)
}

/// Notes who writes the state, and when.
pub(super) fn stamp(snapshot: &mut Snapshot, environment: &Environment) {
    let version = concat!("v", env!("CARGO_PKG_VERSION")).to_owned() + OWN_MARK;
    let manifest = snapshot.other.entry("manifest").or_insert_with(|| json!({}));
    if !manifest.is_object() {
        *manifest = json!({});
    }
    manifest["time"] = json!(environment.clock.now().to_string());
    manifest["magic"] = json!(sha256_hex(version.as_bytes()));
    manifest["version"] = json!(version);
}

pub(super) fn check_on_load(checkpoint: &Checkpoint, stack: &StackName, place: &str) -> Result<()> {
    check_owner(checkpoint, stack, place)?;
    check(&checkpoint.snapshot).map_err(|violation| {
        Error::BadState(message![
            format!("the state in {place} is not sound: {violation}. Nothing was changed. Mend it with "),
            Command::new("state repair"),
            ", or by hand between ",
            Command::new("stack export"),
            " and ",
            Command::new("stack import"),
            "; or go on at your own risk with --disable-integrity-checking"
        ])
    })
}

/// Refuses the file of another stack: its rows would all be deleted, and those of the program made a second time. The
/// name in the file alone proves nothing, for tools that rename stacks may leave it.
fn check_owner(checkpoint: &Checkpoint, stack: &StackName, place: &str) -> Result<()> {
    let named = &checkpoint.stack;
    if named.is_empty() || *named == stack.to_string() || named == stack.stack() {
        return Ok(());
    }
    if named.eq_ignore_ascii_case(&stack.to_string()) {
        return Err(Error::Configuration(format!(
            "{place} is the file of the stack '{named}'; this disk does not tell it from '{stack}'. Write the name as it is"
        ).into()));
    }
    let foreign = |row: &&Arc<ResourceState>| row.urn.stack() != stack.stack() || row.urn.project() != stack.project();
    match checkpoint.snapshot.rows.iter().find(foreign) {
        None => Ok(()),
        Some(row) => Err(Error::BadState(message![
            format!(
                "{place} is the file of the stack '{named}', not of '{stack}': it holds {}. Nothing was changed. ",
                row.urn
            ),
            Command::new("state restore"),
            " brings back a generation of this stack; a copy of its own is taken over with ",
            Command::new("stack import").with("--file <copy>")
        ])),
    }
}

/// Sees to it that everything in the snapshot is encrypted under the crypter's key; says whether it was not.
pub(super) fn bring_under(crypter: &Crypter, snapshot: &mut Snapshot) -> Result<bool> {
    match snapshot.salt()? {
        Some(salt) if salt != crypter.salt() => {
            snapshot.unseal_all(crypter)?;
            snapshot.secrets_provider = Some(crypter.secrets_provider());
            Ok(true)
        }
        _ => Ok(false),
    }
}
