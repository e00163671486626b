//! The end of a run: what follows the program's last registration, the compaction, the end of the providers.

mod closing;
pub(super) mod finish;
pub(super) mod selected_texts;

#[cfg(test)]
mod closing_tests;
