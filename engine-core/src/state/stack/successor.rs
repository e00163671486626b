//! The stack that a renamed stack becomes.

use std::sync::Arc;

use crate::error::Result;

use crate::state::backend::{Backend, Lease};
use crate::state::checkpoint::Checkpoint;
use crate::state::journal::unfinished::UnfinishedCommand;
use crate::state::name::StackName;
use crate::state::seal::{Before, Sealer};
use crate::state::session_options::SessionOptions;
use crate::state::stack::copy::add_former;

/// Makes a stack of this name with a checkpoint and its former ones (the oldest first), sealed, and marked as what a rename
/// of `old` has not finished. Gives the lease: taking its journal away, which is the mark, makes it a stack.
///
/// # Errors
/// There is a stack of that name, or the store fails.
pub async fn create_successor(
    backend: &dyn Backend,
    old: &StackName,
    new: &StackName,
    mut checkpoint: Checkpoint,
    former: &[Checkpoint],
    options: &SessionOptions,
) -> Result<Arc<dyn Lease>> {
    // A stack without a seal would have to be sealed by hand.
    let key = options.crypter.seal_key()?;
    checkpoint.snapshot.stamp(&options.environment);
    let bytes = checkpoint.encode(&options.crypter)?;
    let mark = UnfinishedCommand::RenameOf(old.stack().to_owned());
    // The mark comes first, in the place of the checkpoint: at no moment is there a second stack without it.
    backend.create(new, &mark.encode()?).await?;
    let lease = backend.lease(new, &options.command).await?;
    mark.put_on(&*lease).await?;
    let former = former.iter().map(|checkpoint| checkpoint.encode(&options.crypter)).collect::<Result<Vec<_>>>()?;
    add_former(&*lease, former.iter(), &bytes).await?;
    Sealer { stack: new, options }.accept(&*lease, &Before::nothing(), &bytes, key).await?;
    Ok(lease)
}
