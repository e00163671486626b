//! Waits within a run, for those who watch activities.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures::poll;

use crate::activity::ActivityKind;
use crate::operation::Operation;
use crate::urn::Urn;

use crate::driver::exchange::{Exchange, WatchedWait};

/// What a step waits for whose object others depend on: their deletion, or that of a whole group of others.
pub(crate) const EARLIER_DELETIONS: &str = "what is deleted before it";

/// Reports waits to those who watch activities.
pub(crate) struct WatchedWaits {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
}

impl WatchedWaits {
    pub(crate) fn new(operation: &Arc<Operation>, exchange: &Arc<Exchange>) -> Self {
        Self { operation: Arc::clone(operation), exchange: Arc::clone(exchange) }
    }

    /// Waits for something; those who watch activities are told where it is not there at once.
    pub(crate) async fn wait_watched<T>(
        &self,
        kind: ActivityKind,
        urn: &Urn,
        name: &'static str,
        wait: impl Future<Output = T>,
    ) -> T {
        let mut wait = pin!(wait);
        if let Poll::Ready(done) = poll!(wait.as_mut()) {
            return done;
        }
        let is_watched = self.operation.activities.are_watched();
        let _watched = is_watched.then(|| self.exchange.begin_wait(kind, urn, name));
        wait.await
    }

    /// A resource waits for deletions that are made before its own, if anybody watches; until what this gives is dropped.
    /// Previews delete nothing.
    pub(crate) fn wait_for_deletions(&self, urn: &Urn) -> Option<WatchedWait<'_>> {
        let watched = self.operation.activities.are_watched() && !self.operation.dry_run;
        watched.then(|| self.exchange.begin_wait(ActivityKind::Dependency, urn, EARLIER_DELETIONS))
    }
}
