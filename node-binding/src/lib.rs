//! maloko for Node: the addon behind the npm package.
//!
//! Everything that runs JavaScript stays in the TypeScript package; this crate only carries requests and answers
//! between the JavaScript thread and the engine's own threads. One [`Bridge`] belongs to one JavaScript thread.

#![allow(clippy::needless_pass_by_value, reason = "napi hands functions, texts and buffers over by value")]

mod automation;
mod callback;
mod convert;
mod ending;
mod engine;
mod error;
mod fleet;
mod kit;
mod language_host;
mod page;
mod plugin_laws;
mod provider;
mod runtime;
mod signals;
mod thread;
mod transfer;

pub use engine::Bridge;
pub use fleet::{fleet_place, fleet_plan, fleet_text};
pub use kit::{CheckpointAndJournal, LawTrial, LifeTrial, StackTask, TestStack, kit_answer, law_text, page_of_record};
pub use page::fleet_page;
pub use plugin_laws::{PluginLife, PluginTrial, PluginUnderTest};

/// A run allocates from many threads at once and in small pieces; docs/explanation/architecture.md has why it is this one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
