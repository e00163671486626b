//! Pauses between attempts. Whoever repeats something bounds it by its own measure of time.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// Pauses without end, each twice as long as the one before, up to `longest`. Without jitter: tests and simulations repeat exactly.
pub(crate) fn doubling(first: Duration, longest: Duration) -> ExponentialBackoff {
    ExponentialBuilder::new().with_min_delay(first).with_max_delay(longest).without_max_times().build()
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
