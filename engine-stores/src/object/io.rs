//! Where requests are carried out.
//!
//! The network library needs a runtime of its own kind; the engine's callers poll from plain threads. So a store owns one
//! small runtime, and every request is a task on it. A simulated store needs none.

use std::future::Future;
use std::sync::Arc;

use maloko_core::error::{Error, Result};
use tokio::runtime::{Builder, Runtime};

use crate::slow_notice::SlowNotice;

/// Threads for requests: they wait for the network nearly all of their time.
const THREADS: usize = 2;

/// Carries out requests.
#[derive(Clone, Debug)]
pub(crate) enum Io {
    /// On the caller's thread: for stores that need no runtime.
    Direct,
    /// On the store's own runtime.
    Runtime(Arc<OwnRuntime>),
}

/// A runtime that knows which process made it: its threads do not survive a fork.
#[derive(Debug)]
pub(crate) struct OwnRuntime {
    process: u32,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    silence: Arc<SlowNotice>,
}

impl Io {
    /// A runtime for this process.
    pub(crate) fn new(silence: SlowNotice) -> Result<Self> {
        let built =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("maloko-store").enable_all().build();
        let runtime = built.map_err(|source| Error::Io {
            context: "the threads that talk to the store cannot be made".into(),
            source,
        })?;
        let own = OwnRuntime { process: std::process::id(), runtime: Some(runtime), silence: Arc::new(silence) };
        Ok(Self::Runtime(Arc::new(own)))
    }

    /// Does it belong to another process, from which this one was forked?
    pub(crate) fn is_inherited(&self) -> bool {
        match self {
            Self::Direct => false,
            Self::Runtime(own) => own.process != std::process::id(),
        }
    }

    /// Carries out a request. It goes on to its end also when nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(&self, request: impl Future<Output = T> + Send + 'static) -> Result<T> {
        match self {
            Self::Direct => Ok(request.await),
            Self::Runtime(_) if self.is_inherited() => {
                Err(Error::Locked("a process that was forked off a run cannot use its connection to the store".into()))
            }
            Self::Runtime(own) => {
                let gone = |why: &str| {
                    Error::BadState(
                        format!("a request to the store ended without an answer ({why}); run the command again").into(),
                    )
                };
                let runtime = own.runtime.as_ref().ok_or_else(|| gone("the store was closed"))?;
                let silence = Arc::clone(&own.silence);
                let watched = async move { silence.watch(request).await };
                runtime.spawn(watched).await.map_err(|error| gone(&error.to_string()))
            }
        }
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if self.process == std::process::id() {
            runtime.shutdown_background();
        } else {
            // In a forked process its threads do not exist, and ending them would wait for ever.
            std::mem::forget(runtime);
        }
    }
}
