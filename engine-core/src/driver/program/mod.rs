//! The functions of the program that the engine calls: transforms and hooks.

pub(super) mod call_back;
pub(super) mod hooks;
pub(super) mod transforms;

#[cfg(test)]
mod hooks_tests;
#[cfg(test)]
mod transforms_tests;
