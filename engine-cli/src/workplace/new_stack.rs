//! Making a stack in the store, where somebody else may be making the same one.

use std::time::Duration;

use maloko_core::error::Error;
use maloko_core::state::{Crypter, StackName, create_stack};

use super::Workplace;
use crate::failure::Result;

/// How often it is looked whether somebody else has made the stack who holds its lock, and how long after one another.
const MAX_LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

impl Workplace<'_> {
    /// Makes the stack in the store; `false` where somebody else has made it. Either way it is there.
    pub(crate) async fn make_in_store(&self, stack: &StackName, crypter: &Crypter) -> Result<bool> {
        let mut looks = 0;
        loop {
            let error = match create_stack(&*self.backend, stack, crypter, &self.context.environment).await {
                Ok(()) => return Ok(true),
                Err(error) => error,
            };
            let is_there = self.has(stack).await?;
            match error {
                Error::Configuration(_) | Error::InUse { .. } | Error::Locked(_) if is_there => return Ok(false),
                Error::InUse { .. } | Error::Locked(_) if looks < MAX_LOOKS => tokio::time::sleep(BETWEEN_LOOKS).await,
                error => return Err(error.into()),
            }
            looks += 1;
        }
    }
}
