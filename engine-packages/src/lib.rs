//! SDKs of packages: a schema in, a small package for Python or Node out.
//!
//! Nothing here knows the engine, plugins or a terminal: the command line finds the schema and puts the files where they belong.
#![cfg_attr(
    test,
    allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")
)]

pub mod nodejs;
pub mod schema;

mod sdk;

pub use sdk::{SdkFault, SdkFile};
