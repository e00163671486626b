//! The first line of a lease file: how often the stack was taken.

/// Digits of the epoch in the lease file: as many as any epoch has, so that its length never changes.
const EPOCH_DIGITS: usize = 20;

/// The epoch in the first line of a lease file; 0 when there is none.
pub(super) fn epoch_in(text: &str) -> u64 {
    text.lines().next().and_then(|line| line.trim().parse().ok()).unwrap_or_default()
}

/// The first line of a lease file.
pub(super) fn epoch_text(epoch: u64) -> String {
    format!("{epoch:0EPOCH_DIGITS$}\n")
}
