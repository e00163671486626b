//! What the host and the program get back from a run.

use crate::error::Reason;
use crate::event::Summary;
use crate::message::Message;
use crate::provider::{HostError, Transience};
use crate::urn::Urn;

/// How the program ended.
#[derive(Clone, Default)]
pub struct ProgramEnd {
    /// `None`: it ran to its end. Otherwise the error as the user should see it, with its traceback; empty where the program has
    /// said by itself why it failed.
    pub error: Option<String>,
    /// The host's own error object, to be raised again by a library.
    pub source: Option<HostError>,
}

/// The outcome of an operation.
#[derive(Clone)]
pub struct Report {
    /// The counts and the outcome.
    pub summary: Summary,
    /// Was anything written to the state? Not in a preview, nor in a run that found everything as it should be.
    pub state_written: bool,
    /// Of update and destroy: how many objects of replacements are still to be deleted, or to be made.
    pub waiting: usize,
    /// What a destroy left in place because it is protected.
    pub spared: SparedResources,
    /// The first error that the host raised, as the object that it raised.
    pub source: Option<HostError>,
    /// What kind of failure the first error is; `None` when nothing failed.
    pub reason: Option<Reason>,
    /// The first error in words; `None` when nothing failed.
    pub error: Option<Message>,
    /// The resource that the first error is about.
    pub urn: Option<Urn>,
    /// The provider's method from which the first error came, such as `create`.
    pub method: Option<&'static str>,
    /// Where the provider says so of the first error: it may pass.
    pub transience: Option<Transience>,
    /// The stack that is missing: `project/stack`. The program refers to it, and that was the first error.
    pub needs: Option<String>,
    /// The other stacks that the program has read, each as `project/stack`, sorted.
    pub read: Vec<String>,
}

/// What a destroy leaves in place that is to leave out what is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SparedResources {
    /// Protected resources.
    pub protected: usize,
    /// Those beside them that protected ones need; neither the stack nor providers are counted.
    pub needed: usize,
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

impl RpcError {
    /// The run is over.
    pub(in crate::driver) fn unavailable() -> Self {
        Self { code: 14, message: "the deployment has been stopped".to_owned() }
    }

    pub(in crate::driver) fn invalid(message: impl Into<String>) -> Self {
        Self { code: 3, message: message.into() }
    }
}

/// A resource whose provider could not be serialised, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSerialized {
    /// The resource.
    pub urn: Urn,
    /// What the serialiser said, or why there is no object to serialise.
    pub reason: String,
}
