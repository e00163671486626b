//! What a store gave of a stack, read: the checkpoint with its journal, and beside it how the checkpoint stands to its seal.

use crate::environment::side_by_side::{LONG_TEXT, side_by_side};
use crate::error::Result;

use super::backend::StoredStack;
use super::checkpoint::Checkpoint;
use super::journal::recovery::{RecoveredStack, Run, recover};
use super::journal::unfinished;
use super::name::StackName;
use super::seal::{SealCheck, examine};

/// Reads all of it; changes nothing. The seal is examined also where the checkpoint cannot be read.
pub(super) fn read(stored: &StoredStack, stack: &StackName, run: Run) -> (Result<RecoveredStack>, SealCheck) {
    let is_long = stored.checkpoint.len() >= LONG_TEXT;
    let decode = || {
        unfinished::check(stored)?;
        Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)
    };
    let (checkpoint, examined) = side_by_side(is_long, decode, || examine(stored, stack));
    (checkpoint.and_then(|checkpoint| recover(checkpoint, examined.hash.clone(), stored, run)), examined)
}
