//! Taking steps: each call is journalled before and after.

pub(super) mod adopt;
pub(super) mod create_records;
pub(super) mod delete;
pub(super) mod execute;
pub(super) mod journal;
pub(super) mod late_answers;
pub(super) mod outcomes;
pub(super) mod planned;
pub(super) mod resource_states;
pub(super) mod retry;
pub(super) mod write_ahead;
