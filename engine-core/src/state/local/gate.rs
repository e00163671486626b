//! The gate: locked for the moments in which a stack's files change hands or places. Who writes asks behind it whether
//! the lease is still theirs; who takes the stack over passes it first, and so waits for a write to be whole.

use std::time::Duration;

use crate::environment::Environment;
use crate::environment::files::{LockedFile, io_error};
use crate::error::{Error, Result};

use super::layout::StackFiles;

/// How long somebody may be behind the gate before it is said that something is wrong with them.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// Waits for the gate; it stays closed to others until the answer is dropped.
pub(super) async fn enter(files: &StackFiles, environment: &Environment) -> Result<Box<dyn LockedFile>> {
    let begun = environment.clock.elapsed();
    loop {
        let locked = files.disk.try_lock(&files.gate).map_err(|error| io_error("lock", &files.gate, error))?;
        if let Some(gate) = locked {
            return Ok(gate);
        }
        if environment.clock.elapsed().saturating_sub(begun) > PATIENCE {
            return Err(Error::Locked(format!(
                "another process is in the middle of changing the files of the stack '{}', and has been for {} seconds. If \
                 it was stopped, let it go on or kill it; nothing is lost by that. Then run the command again",
                files.name.stack(),
                PATIENCE.as_secs()
            ).into()));
        }
        environment.clock.wait(PAUSE).await;
    }
}
