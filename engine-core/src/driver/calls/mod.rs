//! The way to a provider: who answers, how many calls its class allows, and what of the answer is kept.

pub(super) mod answer_validation;
pub(super) mod class_permits;
pub(super) mod component_code;
pub(super) mod configurations;
mod extensions;
pub(super) mod no_provider;
pub(super) mod plugins;
pub(super) mod provider_plugins;
pub(super) mod provider_resources;
pub(super) mod providers;
pub(super) mod resolved_provider;
pub(super) mod shown_assets;

#[cfg(test)]
mod answer_validation_tests;
#[cfg(test)]
mod component_code_tests;
