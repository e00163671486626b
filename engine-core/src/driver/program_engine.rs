//! What a program and the host of its language ask of the engine, wherever that is.

use async_trait::async_trait;

use crate::event::Severity;
use crate::operation::Operation;

use super::answers::RpcError;
use super::notice::Notice;
use super::outside::Engine;

/// The engine as a program's side sees it: an [`Engine`] of the same process, or what stands for one of another process.
/// Its methods are those of [`Engine`], where they are described.
#[async_trait]
pub trait ProgramEngine: Send + Sync {
    /// The settings of the operation. In another process: those of them that programs see.
    fn operation(&self) -> &Operation;

    /// Answers a request of the program, with and for protobuf bytes.
    async fn rpc(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, RpcError>;

    /// A message from the program or from provider code; `urn` empty: from the run as a whole.
    fn log(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool);

    /// Takes note of something that the run says at its end.
    fn note(&self, notice: Notice);

    /// Keeps a resource from being deleted for the only reason that this run did not register it.
    fn refuse_deletion(&self, urn: &str, reason: String);

    /// Stops gracefully.
    fn cancel(&self);

    /// Resolves when the run cannot go on.
    async fn stopped(&self);
}

#[async_trait]
impl ProgramEngine for Engine {
    fn operation(&self) -> &Operation {
        Engine::operation(self)
    }

    async fn rpc(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, RpcError> {
        Engine::rpc(self, method, request).await
    }

    fn log(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        Engine::log(self, urn, severity, message, ephemeral);
    }

    fn note(&self, notice: Notice) {
        Engine::note(self, notice);
    }

    fn refuse_deletion(&self, urn: &str, reason: String) {
        Engine::refuse_deletion(self, urn, reason);
    }

    fn cancel(&self) {
        Engine::cancel(self);
    }

    async fn stopped(&self) {
        Engine::stopped(self).await;
    }
}
