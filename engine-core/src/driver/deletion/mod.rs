//! Deleting what is no longer wanted, and what a replacement deletes before itself.

pub(super) mod deletions_first;
pub(super) mod leftovers;

#[cfg(test)]
mod deletion_tests;
#[cfg(test)]
mod deletions_first_tests;
