//! The maloko engine: planning, diffing, scheduling and state of a deployment.
//!
//! The crate knows no host language and no terminal. Decisions (`plan`, `diff`, `schedule`) are pure and
//! synchronous: they take the old rows, a registration and a provider's answers, and say what to do next. The
//! `driver` is the only asynchronous part: it owns the [`provider::Host`] that the bindings implement and the
//! [`state::Session`] that keeps what happened.

pub mod assets;
pub mod autonaming;
pub mod builtin;
pub mod diff;
pub mod driver;
pub mod error;
pub mod event;
pub mod kill_point;
pub mod operation;
pub mod plan;
#[doc(hidden)]
pub mod planted;
pub mod provider;
pub mod row;
pub mod schedule;
pub mod scrub;
pub mod state;
pub mod timer;
pub mod urn;
pub mod value;
pub mod wire;

pub use driver::{Engine, ProgramEnd, Report};
pub use error::{Error, Result};
pub use operation::{Operation, OperationKind};
pub use row::Row;
pub use urn::Urn;
pub use value::{PropertyMap, Value};
