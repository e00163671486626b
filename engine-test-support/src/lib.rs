//! What the tests and benches of several crates share: damage to files, disks that fail, states as a corpus has them, an engine
//! with a provider that echoes; with the feature `stores` servers of databases and of object stores.
#![allow(clippy::disallowed_methods, reason = "tests and benches have the machine to themselves")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::missing_panics_doc, reason = "all of it panics where a test has failed")]
#![allow(
    clippy::must_use_candidate,
    clippy::new_without_default,
    reason = "tests alone call it, and each call is meant"
)]

#[cfg(feature = "stores")]
pub mod authority;
pub mod engine;
pub mod failing;
pub mod mutate;
#[cfg(feature = "stores")]
pub mod objects;
#[cfg(feature = "stores")]
pub mod postgres;
pub mod random;
pub mod stories;
