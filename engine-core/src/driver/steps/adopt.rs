//! Taking over an object: a row and nothing else.

use std::sync::Arc;

use crate::event::Op;
use crate::plan::Step;
use crate::provider::ProviderError;
use crate::resource_state::ResourceState;
use crate::state::Change;

use crate::driver::context::Context;
use crate::driver::steps::rows::{finished, is_pending, stamp};

impl Context {
    /// Writes down an object that was taken over: nothing happens to the object itself.
    pub(in crate::driver) async fn adopt(&self, step: &Step) -> Result<Arc<ResourceState>, ProviderError> {
        let mut row = finished(step)?;
        stamp(step.op, &mut row, self.now());
        let row = Arc::new(row);
        let changes = self.book_adopted(step, &row);
        if !self.operation.dry_run {
            self.record(changes).await?;
        }
        Ok(row)
    }

    fn book_adopted(&self, step: &Step, row: &Arc<ResourceState>) -> Vec<Change> {
        let mut run_state = self.run_state();
        // Whoever names the object has looked for it.
        let mut changes = run_state.resolve(&row.urn);
        changes.extend(match &step.old {
            Some((number, old)) if step.op == Op::ImportReplacement && !is_pending(&run_state, *number) => {
                run_state.put_replacement(Arc::clone(row), *number, old).into()
            }
            old => vec![run_state.put(Arc::clone(row), old.as_ref().map(|(number, _)| *number))],
        });
        changes
    }
}
