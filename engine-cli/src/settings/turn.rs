//! One command at a time changes settings: each reads a file and writes it whole, so of two at once one would undo what the
//! other did.

use std::fs::{File, TryLockError};
use std::time::Duration;

use crate::project::Project;

/// Between two looks whether the other one is done.
const STEP: Duration = Duration::from_millis(2);
/// Somebody may sit before a question: after this time it goes on all the same.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for the right to change the project's settings; it lasts until the file is dropped. Where files cannot be locked,
/// there is no turn to wait for.
pub(crate) async fn take(project: &Project) -> Option<File> {
    let file = File::open(&project.file).ok()?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if waited < PATIENCE => {
                tokio::time::sleep(STEP).await;
                waited += STEP;
            }
            Err(_) => return None,
        }
    }
}
