//! What the engine puts around the host's provider calls.

pub(super) mod bounded;
pub(super) mod in_flight;
pub(in crate::driver) mod plugins;
pub(crate) mod time_limits;
