//! What is done to a stack as a whole: reading it, making it, replacing it.

pub mod copy;
pub mod lock_waiting;
pub mod restore;
pub(super) mod successor;

use crate::error::{Error, Result};
use crate::message::Message;

use super::Snapshot;
use super::backend::{Backend, Lease, MIN_GENERATIONS, StoredStack};
use super::checkpoint::Checkpoint;
use super::integrity::{check, check_on_load};
use super::journal::reading;
use super::journal::recovery::{JournalFate, Run};
use super::loaded;
use super::name::StackName;
use super::seal::difference::differ_in_time_alone;
use super::seal::{self, Before, HashedCheckpoint, Sealer, Standing};
use super::secrets::Crypter;
use super::session_options::SessionOptions;
use crate::environment::{Environment, platform};
use crate::holder::Holder;

/// A stack's state, read without a lease.
#[derive(Clone, Debug, Default)]
pub struct StackReading {
    /// The resources; secrets are sealed until [`Snapshot::unseal`].
    pub snapshot: Snapshot,
    /// What the user should know: an interrupted run whose journal was taken into account, and the like.
    pub notices: Vec<Message>,
}

/// How often a stack is read that somebody else writes just then.
const READS: usize = 5;

/// Reads a stack without a lease: for previews and for commands that only show. The journal of a run that was killed
/// is taken into account, but not compacted. Without a key, only the hash in the seal is compared.
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

/// Has a holder ended without giving the stack back? Known of processes on this machine only, and only good for telling people: a
/// store decides otherwise who has a stack, for numbers of processes are given out again.
#[must_use]
pub fn has_ended(holder: &Holder) -> bool {
    !holder.host.is_empty() && holder.host == platform::host_name() && platform::has_ended(holder.pid)
}

/// Those who work on a stack now, as far as can be told: a process on another machine that has died looks like one that
/// works.
pub async fn at_work(backend: &dyn Backend, stack: &StackName) -> Result<Vec<Holder>> {
    let mut holders = backend.holders(stack).await?;
    holders.retain(|holder| !has_ended(holder));
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
    let (mut recovered, mut examined) = loaded::read(&stored, stack, run);
    for _ in 1..READS {
        // A checkpoint and a seal that do not fit may be those before and after a write that goes on just now.
        if !matches!(examined.standing, Standing::Broken(_)) {
            break;
        }
        let before = std::mem::replace(&mut stored, backend.load(stack).await?);
        if before.checkpoint == stored.checkpoint && before.seal == stored.seal {
            break;
        }
        (recovered, examined) = loaded::read(&stored, stack, run);
    }
    let mut recovered = recovered?;
    let mut notices = std::mem::take(&mut recovered.notices);
    let snapshot = &recovered.checkpoint.snapshot;
    let theirs = crypter.map(|crypter| snapshot.own_crypter(crypter)).transpose()?;
    let key = theirs.as_ref().filter(|_| examined.needs_key()).map(Crypter::seal_key).transpose()?;
    notices.extend(examined.judge(stack, &stored.checkpoint_place, key, !check_integrity)?);
    if let (JournalFate::Compact(journal), Some(bytes), Some(theirs)) = (&recovered.fate, &stored.journal, &theirs) {
        reading::verify(bytes, journal, theirs.seal_key()?, &stored.journal_place)?;
    }
    if check_integrity {
        check_on_load(&recovered.checkpoint, stack, &stored.checkpoint_place)?;
    }
    Ok(StackReading { snapshot: recovered.into_snapshot(), notices })
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
    checkpoint.snapshot.stamp(&options.environment);
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
    let before = Before::of(&seal::examine(stored, stack));
    Sealer { stack, options }
        .replace(lease, &before, HashedCheckpoint::new(checkpoint), old, &options.crypter)
        .await
        .map(drop)
}

/// Takes the state for good as it is: seals it anew. A journal that is not genuine is kept under another name. Gives what
/// was accepted.
pub async fn reseal_stack(backend: &dyn Backend, stack: &StackName, options: &SessionOptions) -> Result<Vec<Message>> {
    options.crypter.verify()?;
    let lease = backend.lease(stack, &options.command).await?;
    let stored = lease.load().await?;
    let (recovered, examined) = loaded::read(&stored, stack, Run::Killed);
    let recovered = recovered?;
    let theirs = recovered.checkpoint.snapshot.own_crypter(&options.crypter)?;
    let key = theirs.seal_key()?;
    let mut accepted = Vec::new();
    if let (JournalFate::Compact(journal), Some(bytes)) = (&recovered.fate, &stored.journal)
        && reading::verify(bytes, journal, key, &stored.journal_place).is_err()
    {
        let place = lease.set_journal_aside().await?;
        accepted
            .push(format!("the journal that was not genuine is kept as {place}, and is not taken into account").into());
    }
    accepted.extend(examined.judge(stack, &stored.checkpoint_place, Some(key), true)?);
    Sealer { stack, options }.accept(&*lease, &Before::of(&examined), &stored.checkpoint, key).await?;
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
        snapshot.bring_under(&options.crypter)?;
    }
    options.crypter.verify()?;
    let lease = backend.lease(stack, &options.command).await?;
    let stored = lease.load().await?;
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place).unwrap_or_default();
    checkpoint.stack = stack.to_string();
    checkpoint.snapshot = snapshot;
    checkpoint.snapshot.stamp(&options.environment);
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
    let before = Before::of(&examined);
    let crypter = &options.crypter;
    Sealer { stack, options }.replace(&*lease, &before, HashedCheckpoint::new(&bytes), crypter, crypter).await?;
    lease.release().await?;
    Ok(notices)
}
