//! Stacks of tests on real clouds: what they leave, and what is said of it.

pub(crate) mod ledger;
pub(crate) mod unresolved;
