//! Whole runs over a scripted host, and what the other tests of the driver share.

mod activity_tests;
mod autonaming_tests;
mod builtin_tests;
mod driver_tests;
mod failure_tests;
pub(super) mod outside_world;
mod preview_tests;
mod reading_tests;
mod rules_tests;
pub(super) mod scripted;
pub(super) mod testing;
