//! Shows others that the holder of a lease lives: beside all other work, so that a provider that blocks, or holds the
//! interpreter's lock, does not stop it.

use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::{Either, select};
use maloko_core::error::{Error, Result};

use crate::object::lease::lease_state::LeaseState;

/// A heartbeat that goes on until it is stopped or the lease is lost.
pub(crate) struct Heartbeat {
    /// Dropped to stop it.
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

impl Heartbeat {
    pub(crate) fn start(lease_state: Arc<LeaseState>) -> Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let workers = Arc::clone(&lease_state.environment.workers);
        let work = Box::pin(async move {
            beat(&lease_state, stopped).await;
            // It is fine if nobody waits.
            let _ = end.send(());
        });
        let worker = workers.start("maloko-lease", work).map_err(|source| Error::Io {
            context: "the thread that keeps the lock on the stack cannot be made".into(),
            source,
        })?;
        // It ends by itself.
        drop(worker);
        Ok(Self { stop, ended })
    }

    /// Stops it; the receiver is told when it has ended.
    pub(crate) fn stop(self) -> oneshot::Receiver<()> {
        drop(self.stop);
        self.ended
    }
}

async fn beat(lease_state: &LeaseState, mut stopped: oneshot::Receiver<()>) {
    while !lease_state.is_lost() {
        let pause = lease_state.environment.clock.wait(lease_state.timing.beat);
        match select(stopped, pause).await {
            Either::Left(_) => return,
            Either::Right(((), waiting)) => stopped = waiting,
        }
        // A renewal that fails is tried again at the next beat; whoever writes asks before how old the last one is.
        drop(lease_state.renew().await);
    }
}
