//! Provider resources: those that a program makes, and the default ones.

pub(in crate::plan) mod default_provider;
pub(in crate::plan) mod resource;
