//! Programs in a process of their own: the engine stays in this one, and the live provider objects are called back over one
//! connection.
//!
//! The two ends are [`ProgramProcess`], which starts the process and is its [`ProviderHost`](maloko_core::provider::ProviderHost)
//! to the engine, and [`serve`], which that process runs: it stands for the engine to the program, and has calls answered by the
//! host of the program's language. What is common to both languages is in here; a binding adds nothing but how it is started.
#![cfg_attr(
    test,
    allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")
)]

mod connection;
mod death;
mod messages;
mod process;
mod program;
mod question_handler;
mod remote_engine;
mod remote_host;
mod serve;
mod transport;

pub use messages::{ErrorWords, Start};
pub use process::{ProgramProcess, Settings};
pub use program::Program;
pub use serve::serve;
