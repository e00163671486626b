//! What is done to a stack as a whole: reading it, making it, replacing it.

use serde_json::json;

use crate::error::{Error, Result};

use super::Snapshot;
use super::backend::Backend;
use super::checkpoint::Checkpoint;
use super::integrity::{check, sha256_hex};
use super::name::StackName;
use super::recovery::recover;
use super::secrets::Crypter;
use super::session::SessionOptions;
use super::surroundings::Surroundings;

/// A stack's state, read without a lease.
#[derive(Clone, Debug, Default)]
pub struct StackReading {
    /// The rows; secrets are sealed until [`Snapshot::unseal`].
    pub snapshot: Snapshot,
    /// What the user should know: an interrupted run whose journal was taken into account, and the like.
    pub notices: Vec<String>,
}

/// Reads a stack without a lease: for previews and for commands that only show. The journal of a run that was killed
/// is taken into account, but not folded.
pub async fn read_stack(backend: &dyn Backend, stack: &StackName, check_integrity: bool) -> Result<StackReading> {
    let stored = backend.load(stack).await?;
    let mut recovered = recover(&stored, false)?;
    let notices = std::mem::take(&mut recovered.notices);
    if check_integrity {
        check_on_load(&recovered.checkpoint.snapshot, &stored.checkpoint_place)?;
    }
    Ok(StackReading { snapshot: recovered.into_snapshot(), notices })
}

/// Makes an empty stack.
pub async fn create_stack(
    backend: &dyn Backend,
    stack: &StackName,
    crypter: &Crypter,
    surroundings: &Surroundings,
) -> Result<()> {
    let mut checkpoint = Checkpoint { stack: stack.to_string(), ..Checkpoint::default() };
    stamp(&mut checkpoint.snapshot, surroundings);
    backend.create(stack, &checkpoint.encode(crypter)?).await
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
            Error::BadState(format!("the imported state is not sound: {violation}. Nothing was changed"))
        })?;
    }
    if snapshot.has_ciphertexts() {
        bring_under(&options.crypter, &mut snapshot)?;
    }
    let lease = backend.lease(stack).await?;
    let stored = lease.load().await?;
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place).unwrap_or_default();
    checkpoint.stack = stack.to_string();
    checkpoint.snapshot = snapshot;
    stamp(&mut checkpoint.snapshot, &options.surroundings);
    let bytes = checkpoint.encode(&options.crypter)?;
    let mut notices = Vec::new();
    if stored.journal.is_some() {
        let place = lease.set_journal_aside().await?;
        notices.push(format!(
            "a run of maloko had been interrupted before the import; its journal is kept as {place}, and what only it \
             knows is not in the state"
        ));
    }
    lease.replace(&bytes).await?;
    lease.release().await?;
    Ok(notices)
}

/// Notes who writes the state, and when.
pub(super) fn stamp(snapshot: &mut Snapshot, surroundings: &Surroundings) {
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    let manifest = snapshot.other.entry("manifest").or_insert_with(|| json!({}));
    if !manifest.is_object() {
        *manifest = json!({});
    }
    manifest["time"] = json!(surroundings.clock.now().to_string());
    manifest["magic"] = json!(sha256_hex(version.as_bytes()));
    manifest["version"] = json!(version);
}

pub(super) fn check_on_load(snapshot: &Snapshot, place: &str) -> Result<()> {
    check(snapshot).map_err(|violation| {
        Error::BadState(format!(
            "the state in {place} is not sound: {violation}. Nothing was changed. Mend it with `maloko state repair`, or \
             by hand between `maloko stack export` and `maloko stack import`; or go on at your own risk with \
             --disable-integrity-checking"
        ))
    })
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
