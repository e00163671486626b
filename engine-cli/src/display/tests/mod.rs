//! The displays, driven with made-up runs.

mod diff;
mod failures;
mod hygiene;
mod json;
mod order;
mod plain;
mod reasons;
mod step_line;
mod story;
mod summary;
mod terminal;
mod tree;
mod words;
mod worker;
