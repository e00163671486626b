//! What earlier runs left open: operations that were interrupted, and creates whose outcome is unknown.

pub(super) mod doubted_deletions;
pub(super) mod find_existing;
pub(super) mod pending;

#[cfg(test)]
mod doubted_deletions_tests;
#[cfg(test)]
mod told_creates_tests;
#[cfg(test)]
mod unresolved_creates_tests;
