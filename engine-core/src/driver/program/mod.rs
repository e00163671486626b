//! The border with the program: what it asks of the engine, and its functions that the engine calls.

pub(super) mod callbacks;
pub(super) mod depth;
pub(super) mod hooks;
pub(super) mod numbers;
pub(super) mod requests;
pub(super) mod transforms;

#[cfg(test)]
mod hooks_tests;
#[cfg(test)]
mod requests_tests;
#[cfg(test)]
mod transforms_tests;
