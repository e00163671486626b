//! Taking over an object: a resource state and nothing else.

use std::sync::Arc;

use crate::event::Op;
use crate::plan::Step;
use crate::provider::ProviderError;
use crate::resource_state::ResourceState;
use crate::state::Change;

use crate::driver::steps::Outcomes;
use crate::driver::steps::resource_states::{finished, stamp};
use crate::driver::views::called_for;

impl Outcomes {
    /// Writes down an object that was taken over: nothing happens to the object itself.
    pub(crate) async fn adopt(&self, step: &Step) -> Result<Arc<ResourceState>, ProviderError> {
        let mut resource = finished(step)?;
        stamp(step.op, &mut resource, self.exchange.now());
        let resource = Arc::new(resource);
        let changes = self.book_adopted(step, &resource);
        if !self.operation.dry_run {
            self.journal.record(changes).await?;
        }
        Ok(resource)
    }

    fn book_adopted(&self, step: &Step, resource: &Arc<ResourceState>) -> Vec<Change> {
        // Whoever names the object has looked for it.
        let mut changes = self.journal.resolve(&resource.urn);
        changes.extend(match &step.old {
            Some((number, old)) if step.op == Op::ImportReplacement && !self.journal.is_pending(*number) => {
                self.journal.put_replacement(Arc::clone(resource), *number, old).into()
            }
            old => vec![self.journal.put(Arc::clone(resource), old.as_ref().map(|(number, _)| *number))],
        });
        changes.extend(self.views.settle(&step.urn, called_for(step.op)));
        changes
    }
}
