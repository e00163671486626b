//! What all leases have in common, whatever keeps them: how long a silent holder is waited for.

use std::time::Duration;

/// How long that is where an address does not say it.
pub(crate) const DEFAULT_PATIENCE: Duration = Duration::from_secs(30);
/// What `lease=SECONDS` of an address is, for messages.
pub(crate) const PATIENCE_IS: &str =
    "the number of seconds, from 5 to 60, after which a silent holder of a lock is replaced";

/// The value of `lease=SECONDS`; `None` where it is none.
pub(crate) fn patience(seconds: &str) -> Option<Duration> {
    seconds.parse().ok().filter(|seconds| (5..=60).contains(seconds)).map(Duration::from_secs)
}
