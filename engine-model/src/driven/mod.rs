//! A run, and who drives it: the model's own loop, or the `Engine` that the bindings hold.

pub mod run_loop;

use std::sync::Arc;

use maloko_core::error::{Error, Result};
use maloko_core::event::EventSink;
use maloko_core::provider::ProviderHost;
use maloko_core::run::{Request, Response};
use maloko_core::state::Session;
use maloko_core::{Engine, Operation, ProgramEnd, Report};

use crate::world::Machine;

use run_loop::RunLoop;

/// Every so many lifecycles of a simulation one is driven by `Engine`.
const ENGINE_EVERY: u64 = 3;

/// Who drives runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Driver {
    /// The model's loop, in which outcomes come back in any order.
    #[default]
    Loop,
    /// What the bindings hold.
    Engine,
}

impl Driver {
    /// The driver of a lifecycle, by its number.
    #[must_use]
    pub fn of(program: u64) -> Self {
        if program % ENGINE_EVERY == ENGINE_EVERY - 1 { Self::Engine } else { Self::Loop }
    }

    /// Begins an operation in the process of `machine`.
    #[must_use]
    pub fn start(
        self,
        operation: Operation,
        session: Session,
        host: Arc<dyn ProviderHost>,
        events: Arc<dyn EventSink>,
        machine: Machine,
    ) -> DrivenRun {
        match self {
            Self::Loop => DrivenRun::Loop(RunLoop::start(operation, session, host, events, machine)),
            Self::Engine => DrivenRun::Engine(Engine::start(operation, session, host, events)),
        }
    }
}

/// A run that was begun.
pub enum DrivenRun {
    /// By the model's loop.
    Loop(Arc<RunLoop>),
    /// By `Engine`.
    Engine(Arc<Engine>),
}

impl DrivenRun {
    /// Answers a method of the resource monitor, with and for protobuf bytes; `None` where the run refuses to.
    pub async fn rpc(&self, method: &str, request: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Loop(run) => {
                let request = Request::Rpc { method: method.to_owned(), request: request.to_vec() };
                match run.ask(request).await {
                    Some(Response::Rpc(answer)) => answer.ok(),
                    _ => None,
                }
            }
            Self::Engine(engine) => engine.rpc(method, request).await.ok(),
        }
    }

    /// Waits until all steps so far were reported.
    pub async fn all_reported(&self) {
        match self {
            Self::Loop(run) => drop(run.ask(Request::AllReported).await),
            Self::Engine(engine) => engine.all_reported().await,
        }
    }

    /// Ends the operation.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub async fn finish(&self, program: ProgramEnd) -> Result<Report> {
        match self {
            Self::Loop(run) => match run.ask(Request::Finish(program)).await {
                Some(Response::Finish(report)) => *report,
                _ => Err(Error::BadState("the run ended without a report".to_owned().into())),
            },
            Self::Engine(engine) => engine.finish(program).await,
        }
    }
}
