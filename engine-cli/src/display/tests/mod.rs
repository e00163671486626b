//! The displays, driven with made-up runs.

mod diff;
mod hygiene;
mod json;
mod plain;
mod story;
mod summary;
mod terminal;
mod tree;
mod words;
mod worker;
