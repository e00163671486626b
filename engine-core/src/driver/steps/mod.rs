//! Taking steps: each call is journalled before and after.

pub(super) mod adopt;
mod call_pace;
pub(super) mod delete;
pub(super) mod execute;
mod late_answers;
pub(super) mod late_calls;
pub(super) mod outcomes;
pub(super) mod planned;
pub(super) mod resource_states;
pub(super) mod retry;
pub(super) mod write_ahead;
