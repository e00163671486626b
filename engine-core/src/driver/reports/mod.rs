//! What a run tells: its steps, each when it is durable, and what it refuses or fails at.

pub(super) mod durable_events;
pub(super) mod failures;
pub(super) mod notices;
