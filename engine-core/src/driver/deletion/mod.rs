//! Deleting what is no longer wanted, and what a replacement deletes before itself.

pub(super) mod deletions_first;
pub(super) mod leftovers;
pub(super) mod protected;
pub(super) mod waiting;

#[cfg(test)]
mod deletion_tests;
#[cfg(test)]
mod deletions_first_tests;
#[cfg(test)]
mod waiting_tests;
