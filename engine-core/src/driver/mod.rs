//! The asynchronous part of the engine: it takes the program's requests, asks the planner, calls the providers,
//! journals, and answers.

use std::sync::Arc;

use crate::event::{EventSink, Outcome, Summary};
use crate::operation::Operation;
use crate::provider::{Host, HostError};

/// How the program ended.
#[derive(Clone, Default)]
pub struct ProgramEnd {
    /// `None`: it ran to its end. Otherwise the error as the user should see it, with its traceback.
    pub error: Option<String>,
    /// The host's own error object, to be raised again by a library.
    pub source: Option<HostError>,
}

/// What came of an operation.
#[derive(Clone)]
pub struct Report {
    /// The counts and the outcome.
    pub summary: Summary,
    /// The first error that the host raised, as the object that it raised.
    pub source: Option<HostError>,
}

/// Why a request of the program was not answered.
#[derive(Clone, Debug)]
pub struct RpcError {
    /// gRPC status code: 2 unknown, 3 invalid argument, 5 not found, 12 unimplemented, 13 internal, 14 unavailable
    /// (the run is over: the SDKs take it as "the engine is shutting down").
    pub code: i32,
    /// What to tell the program's author.
    pub message: String,
}

/// One operation on one stack. No state is shared between engines; many may run at once in one process.
pub struct Engine {
    operation: Operation,
}

impl Engine {
    /// Begins an operation. `session` holds the stack's state, `host` the live providers, `events` is told what happens.
    #[must_use]
    pub fn start(
        operation: Operation,
        _session: crate::state::Session,
        _host: Arc<dyn Host>,
        _events: Arc<dyn EventSink>,
    ) -> Arc<Self> {
        Arc::new(Self { operation })
    }

    /// Answers a request of the program: a method of the resource monitor or the engine service (semantics 12.1) by
    /// its name, with and for protobuf bytes. Blocks (awaits) as long as the step takes. Afterwards, when the run has
    /// failed or was cancelled, every call ends with code 14.
    pub async fn rpc(&self, _method: &str, _request: &[u8]) -> Result<Vec<u8>, RpcError> {
        Err(RpcError { code: 12, message: "not built yet".to_owned() })
    }

    /// Resolves when the run cannot go on (a step failed, or it was cancelled), so that the host can stop waiting for
    /// a program whose requests will never be answered.
    pub async fn stopped(&self) {
        std::future::pending::<()>().await;
    }

    /// Ends the operation once the program has ended: waits for calls in flight, deletes what the program no longer
    /// has (unless it failed), folds the journal into the checkpoint and reports.
    pub async fn finish(&self, _program: ProgramEnd) -> crate::error::Result<Report> {
        Ok(Report {
            summary: Summary {
                is_preview: self.operation.dry_run,
                outcome: Outcome::Succeeded,
                maybe_corrupt: false,
                duration_seconds: 0.0,
                changes: std::collections::BTreeMap::new(),
            },
            source: None,
        })
    }

    /// Stops gracefully: what runs is awaited and recorded, nothing new begins.
    pub fn cancel(&self) {}

    /// A message from the program or from provider code; `urn` empty: from the run as a whole.
    pub fn log(&self, _urn: &str, _severity: crate::event::Severity, _message: &str, _ephemeral: bool) {}

    /// The settings of the operation.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        &self.operation
    }
}
