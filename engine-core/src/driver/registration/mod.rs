//! A resource's way from its goal to its answer: made, changed, taken over or looked up.

mod adopted_types;
pub(super) mod adoptions;
pub(super) mod claim;
pub(super) mod component_code;
pub(super) mod construct;
pub(super) mod import;
pub(super) mod migrations;
mod noticed_classes;
pub(super) mod numbers;
pub(super) mod packages;
pub(super) mod provider_classes;
pub(super) mod read;
pub(super) mod register;
pub(super) mod registered;

#[cfg(test)]
mod adoptions_tests;
#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod provider_classes_tests;
