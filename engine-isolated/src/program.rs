//! What the program's process needs of the binding.

use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::provider::{HostError, ProviderHost};
use maloko_core::{ProgramEnd, ProgramEngine};

use crate::messages::{ErrorWords, Start};

/// What runs programs in this process.
#[async_trait]
pub trait Program: Send + Sync {
    /// The live providers of this process.
    fn host(&self) -> Arc<dyn ProviderHost>;

    /// Runs the program to its end, or makes it ready for its providers alone ([`Start::attach_only`]).
    async fn run(&self, engine: Arc<dyn ProgramEngine>, start: Start) -> ProgramEnd;

    /// The classes of the resources that it made, as JSON.
    async fn resource_classes(&self) -> String;

    /// A signal has cancelled the run; may wait for the interpreter.
    fn interrupted(&self, signal: i32);

    /// An error object in words.
    fn words_of(&self, error: &HostError) -> Option<ErrorWords>;

    /// The process of the engine is gone, or the connection to it is broken: leaves at once.
    fn leave(&self, broken: Option<&str>);
}
