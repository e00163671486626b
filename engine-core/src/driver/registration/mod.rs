//! A resource's way from its registration to its answer: made, changed, taken over or looked up.

pub(super) mod adoptions;
pub(super) mod import;
pub(super) mod migrations;
pub(super) mod planned;
pub(super) mod read;
pub(super) mod register;
pub(super) mod registered;

#[cfg(test)]
mod adoptions_tests;
#[cfg(test)]
mod import_tests;
