//! Deleting what is no longer wanted, and what a replacement deletes before itself.

pub(super) mod deletes;
pub(super) mod deletions_first;

#[cfg(test)]
mod deletion_tests;
#[cfg(test)]
mod deletions_first_tests;
