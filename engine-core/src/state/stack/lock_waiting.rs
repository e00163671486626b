//! A store that waits for a stack's lock for a while, in place of refusing at once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::environment::Environment;
use crate::error::{Error, Result};

use crate::holder::Holder;
use crate::state::backend::{Backend, Generation, Lease, ListedStack, StackFilter, StoredEntry, StoredStack};
use crate::state::lock_file::by_whom;
use crate::state::name::StackName;

/// The pauses between two attempts: short ones at first, because most commands are short.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// See the module's text.
pub struct LockWaitingBackend {
    inner: Arc<dyn Backend>,
    patience: Duration,
    environment: Environment,
    tell: Box<dyn Fn(&str) + Send + Sync>,
}

impl LockWaitingBackend {
    /// Waits for at most `patience`; `tell` is told once, for whom.
    pub fn new(
        inner: Arc<dyn Backend>,
        patience: Duration,
        environment: Environment,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self { inner, patience, environment, tell: Box::new(tell) }
    }

    async fn tell_who_is_waited_for(&self, stack: &StackName) {
        // Who cannot be read now is named when the time is over.
        let holders = self.inner.holders(stack).await.unwrap_or_default();
        let who = by_whom(&holders.iter().collect::<Vec<_>>());
        let who = if holders.is_empty() { String::new() } else { format!(" {who}") };
        let seconds = self.patience.as_secs_f64();
        (self.tell)(&format!("the stack '{}' is locked{who}; waiting for {seconds} s at most", stack.stack()));
    }
}

#[async_trait]
impl Backend for LockWaitingBackend {
    fn url(&self) -> String {
        self.inner.url()
    }

    async fn list(&self) -> Result<Vec<StackName>> {
        self.inner.list().await
    }

    async fn survey(&self, wanted: &StackFilter) -> Result<Vec<ListedStack>> {
        self.inner.survey(wanted).await
    }

    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()> {
        self.inner.create(stack, checkpoint).await
    }

    async fn load(&self, stack: &StackName) -> Result<StoredStack> {
        self.inner.load(stack).await
    }

    async fn lease(&self, stack: &StackName, operation: &str) -> Result<Arc<dyn Lease>> {
        let clock = &self.environment.clock;
        let begun = clock.elapsed();
        let mut pause = FIRST_PAUSE;
        loop {
            let refused = match self.inner.lease(stack, operation).await {
                Err(refused @ Error::InUse { .. }) => refused,
                other => return other,
            };
            let left = self.patience.saturating_sub(clock.elapsed().saturating_sub(begun));
            if left.is_zero() || self.environment.is_abandoned() {
                return Err(refused);
            }
            if pause == FIRST_PAUSE {
                self.tell_who_is_waited_for(stack).await;
            }
            clock.wait(pause.min(left)).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>> {
        self.inner.holders(stack).await
    }

    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>> {
        self.inner.break_locks(stack).await
    }

    async fn generations(&self, stack: &StackName) -> Result<Vec<Generation>> {
        self.inner.generations(stack).await
    }

    async fn load_generation(&self, stack: &StackName, number: u64) -> Result<Vec<u8>> {
        self.inner.load_generation(stack, number).await
    }

    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8], keep: usize) -> Result<()> {
        self.inner.add_history(stack, at, entry, keep).await
    }

    async fn adopt_history(&self, stack: &StackName, entries: &[StoredEntry]) -> Result<()> {
        self.inner.adopt_history(stack, entries).await
    }

    async fn history(&self, stack: &StackName, newest: usize) -> Result<Vec<StoredEntry>> {
        self.inner.history(stack, newest).await
    }

    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()> {
        self.inner.move_history(from, to).await
    }

    async fn tags(&self, stack: &StackName) -> Result<Option<Vec<u8>>> {
        self.inner.tags(stack).await
    }
}

#[cfg(test)]
#[path = "lock_waiting_tests.rs"]
mod tests;
