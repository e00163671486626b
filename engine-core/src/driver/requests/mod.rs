//! What the program and the host ask of a run: the methods that the SDKs call, by name, and what each leads to.

pub(super) mod call;
pub(super) mod depth;
pub(super) mod invoke;
pub(super) mod methods;
pub(super) mod outputs;
pub(super) mod register;
pub(super) mod serialize;

#[cfg(test)]
mod requests_tests;
