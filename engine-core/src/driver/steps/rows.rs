//! Rows as steps make them.

use std::sync::Arc;

use crate::event::Op;
use crate::plan::{Step, copy_secrets, mark_outputs};
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::value::PropertyMap;

use crate::driver::context::Context;
use crate::driver::context::run_state::RunState;

impl Context {
    /// Gives a row the outputs that its provider told: secret is also what was secret in `like`.
    pub(in crate::driver) fn renew_outputs(
        &self,
        row: &mut ResourceState,
        mut outputs: PropertyMap,
        like: &PropertyMap,
    ) {
        copy_secrets(like, &mut outputs);
        // A provider gives plain values back: only now is known which of them are secret.
        self.learn_secrets_of(&outputs);
        row.outputs = Some(Arc::new(outputs));
        mark_outputs(row);
    }
}

/// Is the row's object deleted already?
pub(in crate::driver) fn is_pending(run_state: &RunState, number: ResourceNumber) -> bool {
    run_state.ledger.get(number).is_some_and(|row| row.pending_replacement)
}

/// The row that a step leads to, with the id that it keeps.
pub(in crate::driver) fn finished(step: &Step) -> Result<ResourceState, ProviderError> {
    let Some(new) = &step.new else {
        return Err(ProviderError::new(ProviderErrorKind::BadReturn, "a step without a row; this is a bug in maloko"));
    };
    Ok((**new).clone())
}

/// Notes when an object was made and changed.
pub(in crate::driver) fn stamp(op: Op, row: &mut ResourceState, now: String) {
    if op != Op::Update || row.created.is_empty() {
        row.created.clone_from(&now);
    }
    row.modified = now;
}
