//! Making the state as the world is.

pub(super) mod read_objects;
pub(super) mod refresh_first;

#[cfg(test)]
mod refresh_first_tests;
