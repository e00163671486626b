//! The maloko engine: planning, diffing, scheduling and state of a deployment.
//!
//! The crate knows no host language and no terminal. Decisions (`plan`, `diff`, `schedule`) are pure and
//! synchronous: they take the old rows, a registration and a provider's answers, and say what to do next. A run of the
//! `driver` is a state machine: inputs go in, actions come out. The [`Engine`] around it does what takes time: it owns the
//! [`provider::ProviderHost`] that the bindings implement and the [`state::Session`] that keeps what happened.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look at what is on the disk"))]

pub mod activity;
pub mod assets;
pub mod autonaming;
pub mod builtin;
pub mod config_value;
pub mod diff;
mod digest;
pub mod driver;
pub(crate) mod duration;
pub mod environment;
pub mod error;
pub mod event;
#[doc(hidden)]
pub mod fail_points;
mod hash;
pub mod layer;
pub mod message;
pub mod operation;
pub mod plan;
pub mod plugin;
pub mod property_diff;
pub mod property_path;
pub mod provider;
pub mod redaction;
pub mod resource_state;
pub mod run;
pub mod schedule;
pub mod served_by;
pub mod state;
pub mod update_plan;
pub mod urn;
pub mod value;
pub mod wire;

pub use driver::{Engine, ProgramEnd, Report};
pub use error::{Error, Result};
pub use message::Message;
pub use operation::{Operation, OperationKind};
pub use resource_state::ResourceState;
pub use urn::Urn;
pub use value::{PropertyMap, Value};
