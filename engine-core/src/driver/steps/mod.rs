//! Taking steps: each call is journalled before and after, and told of when it is durable.

pub(super) mod durable_events;
pub(super) mod execute;
pub(super) mod write_ahead;
