//! What the engine's side knows of one JavaScript thread.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use maloko_cli::{Cancellation, ProgressMeter};
use maloko_core::{ProgramEnd, ProgramEngine};

use crate::callback::{Crossing, Message, Reply, number};
use crate::error::host_error;
use crate::provider::{Descriptions, JsHost};

/// What the first frame of a stack begins with.
const FRAME: &str = "\n    at ";

/// The engines that run programs of one JavaScript thread, by number. They belong to whoever started them.
#[derive(Default)]
pub(crate) struct Engines {
    all: Mutex<HashMap<u64, Weak<dyn ProgramEngine>>>,
    last: AtomicU64,
}

impl Engines {
    pub(crate) fn insert(&self, engine: &Arc<dyn ProgramEngine>) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, engine| engine.strong_count() > 0);
        all.insert(number, Arc::downgrade(engine));
        number
    }

    pub(crate) fn get(&self, number: u64) -> Option<Arc<dyn ProgramEngine>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).get(&number).and_then(Weak::upgrade)
    }
}

/// What the engine's side knows of one JavaScript thread.
pub(crate) struct Thread {
    pub(crate) crossing: Arc<Crossing>,
    pub(crate) descriptions: Arc<Descriptions>,
    pub(crate) engines: Arc<Engines>,
    pub(crate) invocations: Invocations,
}

impl Thread {
    /// The live providers of a registry of this thread.
    pub(crate) fn host(&self, registry: u32) -> Arc<JsHost> {
        Arc::new(JsHost::new(Arc::clone(&self.crossing), Arc::clone(&self.descriptions), registry))
    }

    /// Tells the package that an operation of the library is over.
    pub(crate) fn finished(&self, operation: u32, report: String) {
        self.crossing.post(Message::Finished { operation, report });
    }

    /// Has the program that `description` (JSON) names run against an engine, and awaits its end.
    pub(crate) async fn run_program(&self, engine: &Arc<dyn ProgramEngine>, description: String) -> ProgramEnd {
        let engine_number = number(self.engines.insert(engine));
        let watcher = tokio::spawn({
            let (engine, crossing) = (Arc::clone(engine), Arc::clone(&self.crossing));
            async move {
                engine.stopped().await;
                crossing.post(Message::Stopped { engine: engine_number });
            }
        });
        let reply = self.crossing.ask(|call| Message::RunProgram { call, engine: engine_number, description }).await;
        watcher.abort();
        match reply {
            Some(Reply::Text(_) | Reply::Bytes(_)) => ProgramEnd::default(),
            Some(Reply::Failed { description, error }) => {
                let frames = description.find(FRAME).unwrap_or(description.len());
                let (message, traceback) = description.split_at(frames);
                let source = host_error(error, message, traceback.trim_start_matches('\n'));
                ProgramEnd { error: Some(description), source }
            }
            None => ProgramEnd {
                error: Some(
                    "the JavaScript thread that ran the program ended before the program did: it was ended, or the program or a \
                     provider took from Node what its end depends on (listeners of `process`, promises, prototypes)"
                        .to_owned(),
                ),
                source: None,
            },
        }
    }
}

/// What an invocation is cancelled by, and looked at, while it goes on.
#[derive(Clone, Default)]
pub(crate) struct InvocationHandles {
    pub(crate) cancellation: Cancellation,
    pub(crate) meter: ProgressMeter,
}

/// The invocations of one JavaScript thread that go on, by number.
#[derive(Default)]
pub(crate) struct Invocations(Mutex<HashMap<u32, InvocationHandles>>);

impl Invocations {
    /// Notes an invocation before it begins, so that it can be cancelled from then on.
    pub(crate) fn begin(&self, number: u32) -> InvocationHandles {
        let handles = InvocationHandles::default();
        self.all().insert(number, handles.clone());
        handles
    }

    pub(crate) fn end(&self, number: u32) {
        self.all().remove(&number);
    }

    /// Asks an invocation to end; nothing happens when it is over.
    pub(crate) fn cancel(&self, number: u32) {
        let found = self.all().get(&number).cloned();
        if let Some(InvocationHandles { cancellation, .. }) = found {
            cancellation.cancel();
        }
    }

    /// How far an invocation has come (JSON); `None` when it is over.
    pub(crate) fn progress(&self, number: u32) -> Option<String> {
        let found = self.all().get(&number).cloned();
        found.map(|handles| handles.meter.read())
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<u32, InvocationHandles>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
