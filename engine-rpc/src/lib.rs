//! gRPC to and from other processes: what plugins, language hosts and programs of other languages have in common.
//!
//! [`child`] starts a process and ends it with all that it started, [`Client`] calls one, [`Server`] is called by them, and
//! [`ProgramDoor`] is the server of one run's program: the resource monitor and what belongs to it.
#![cfg_attr(test, allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed"))]

pub mod child;
mod client;
mod codec;
mod event_stream;
mod no_proxy;
mod node_aliases;
mod orphans;
mod port_line;
mod program_door;
mod server;

pub use client::{Client, TRACE};
pub use event_stream::EventStream;
pub use no_proxy::{PROXY_VARIABLES, without_proxy};
pub use orphans::OrphanWatch;
pub use program_door::{LOADER, ProgramDoor, schema_request};
pub use server::{Answers, Call, ENGINE, MONITOR, STATUS, Server, ask, not_served};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a mutex guards, also after somebody panicked under it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
