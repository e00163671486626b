//! The maloko engine: planning, diffing, scheduling and state of a deployment.
//!
//! The crate knows no host language and no terminal. Decisions (`plan`, `diff`, `schedule`) are pure and
//! synchronous: they take the old resources, a registration and a provider's answers, and say what to do next. A run of
//! the `driver` is a state machine: inputs go in, actions come out. The [`Engine`] around it does what takes time: it
//! owns the [`provider::ProviderHost`] that the bindings implement and the [`state::Session`] that keeps what happened.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look at what is on the disk"))]

pub mod activity;
pub mod assets;
pub mod autonaming;
pub mod builtin;
pub mod config_value;
pub mod diff;
mod digest;
pub mod driver;
pub mod duration;
pub mod environment;
pub mod error;
pub mod event;
#[doc(hidden)]
pub mod fail_points;
mod hash;
pub mod holder;
pub mod invisible;
pub mod layer;
pub mod message;
pub mod operation;
pub mod plan;
pub mod plugin;
pub mod policy;
pub mod property_diff;
pub mod property_path;
pub mod provider;
pub mod redaction;
pub mod resource_state;
pub mod schedule;
pub mod served_by;
pub mod state;
pub mod update_plan;
pub mod urn;
pub mod value;
pub mod wire;

pub use driver::{Engine, ProgramEnd, ProgramEngine, Progress, Report, SlowCall, SparedResources};
pub use error::{Error, Result};
pub use message::Message;
pub use operation::{Operation, OperationKind};
pub use resource_state::ResourceState;
pub use urn::Urn;
pub use value::{PropertyMap, Value};

pub mod run {
    //! A run, for those who drive it by a loop of their own, as the model does; the bindings hold an
    //! [`Engine`](crate::Engine), which is such a loop.
    //!
    //! A [`Run`] decides, and [`Outside`] does. A loop makes both with [`Outside::new`], hands the run [`Input::Begin`] and
    //! from then on each request of the program and all that comes back, and does the actions that it gets, in their order:
    //!
    //! - [`Outside::act`] does all that takes no time.
    //! - Of [`Action::Do`], [`Outside::perform`] does the work, and the loop hands the outcome back as [`Input::Done`]: each when
    //!   it comes, in whatever order.
    //! - [`Action::Answer`] answers a request. What its flow still waits for is given up, as it is with
    //!   [`Action::Forgotten`].
    //!
    //! Where a plugin may call back, the loop also binds a [`PluginClient`](crate::plugin::PluginClient) to the operation's plugins.

    pub use crate::driver::actions::{Action, FlowId, Input, Moment, Request, Response, Wait, WaitId};
    pub use crate::driver::flow_states::{FlowState, RegistrationState, StepState};
    pub use crate::driver::outside::around::Outside;
    pub use crate::driver::outside::layers::time_limits::TakeLate;
    pub use crate::driver::outside_calls::*;
    pub use crate::driver::run::Run;
}
