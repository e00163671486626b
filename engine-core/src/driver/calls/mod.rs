//! Provider calls: who answers, how many at a time, for how long, and what of the answer is kept.

pub(super) mod answer_validation;
pub(super) mod call_permits;
pub(super) mod class_permits;
pub(super) mod classes;
pub(super) mod closing;
pub(super) mod late;
pub(super) mod no_provider;
pub(super) mod providers;
pub(super) mod resolved_provider;
pub(super) mod serialize;
pub(super) mod shown_assets;

#[cfg(test)]
mod answer_validation_tests;
#[cfg(test)]
mod call_permits_tests;
#[cfg(test)]
mod classes_tests;
#[cfg(test)]
mod closing_tests;
