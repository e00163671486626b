//! The store of stacks under everything that disks, other processes and other versions do to it.
#![allow(clippy::disallowed_methods, reason = "tests and benches have the machine to themselves")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod corpus;
mod damage;
mod disks;
#[cfg(target_os = "linux")]
mod full_disk;
#[cfg(all(unix, feature = "planted-bugs"))]
mod planted;
#[cfg(unix)]
mod privacy;
mod processes;
