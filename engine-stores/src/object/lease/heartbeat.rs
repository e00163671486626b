//! Shows others that the holder of a lease lives: beside all other work, so that a provider that blocks, or holds the
//! interpreter's lock, does not stop it.

use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::{Either, select};
use maloko_core::error::{Error, Result};

use crate::object::lease::standing::Right;

/// A heartbeat that goes on until it is stopped or the right is lost.
pub(crate) struct Heartbeat {
    /// Dropped to stop it.
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

impl Heartbeat {
    pub(crate) fn start(right: Arc<Right>) -> Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let workers = Arc::clone(&right.environment.workers);
        let work = Box::pin(async move {
            beat(&right, stopped).await;
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

async fn beat(right: &Right, mut stopped: oneshot::Receiver<()>) {
    while !right.is_lost() {
        let pause = right.environment.clock.wait(right.timing.beat);
        match select(stopped, pause).await {
            Either::Left(_) => return,
            Either::Right(((), waiting)) => stopped = waiting,
        }
        // A renewal that fails is tried again at the next beat; whoever writes asks before how old the last one is.
        drop(right.renew().await);
    }
}
