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

pub use crate::driver::actions::{
    Action, Closable, FlowId, Input, Moment, Outcome, Request, Response, Ticket, Wait, Work,
};
pub use crate::driver::outside::around::Outside;
pub use crate::driver::outside::layers::time_limits::TakeLate;
pub use crate::driver::run::Run;
