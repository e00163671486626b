//! Stacks in object stores, against real servers of their protocols.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails with the error")]

mod attempts;
mod conformance;
mod cost;
mod damage;
mod errors;
mod kept;
mod late;
mod leases;
mod outages;
#[cfg(feature = "planted-bugs")]
mod planted;
mod races;
mod swept;
mod tls;
mod told;
mod wire;
mod zombies;
