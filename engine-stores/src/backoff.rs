//! Pauses between attempts. Whoever repeats something bounds it by a measure of time, [`PATIENCE`] or its own.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// How long a request is made again while who is asked is busy, or cannot be reached.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// Pauses without end, each twice as long as the one before, up to `longest`. Without jitter: tests and simulations repeat exactly.
pub(crate) fn doubling(first: Duration, longest: Duration) -> ExponentialBackoff {
    ExponentialBuilder::new().with_min_delay(first).with_max_delay(longest).without_max_times().build()
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
