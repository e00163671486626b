//! Deletions that a replacement makes before itself (docs/rules 4.2): whose object one of them takes waits for it.

use futures::channel::oneshot;
use futures::future::FutureExt;

use crate::activity::ActivityKind;
use crate::plan::{Registration, Step};
use crate::state::ResourceNumber;
use crate::urn::Urn;

use crate::driver::context::Context;
use crate::driver::context::run_state::{Deleting, DeletionsOver};
use crate::driver::context::waits::EARLIER_DELETIONS;

/// The deletions of one replacement that are still to be made. When this is dropped, those count as not made.
pub(in crate::driver) struct DeletionsFirst<'a> {
    context: &'a Context,
    /// The resource that is replaced.
    urn: Urn,
    left: Vec<Step>,
    /// Who waits for one of them is woken when its sender is dropped.
    unmade: Vec<(ResourceNumber, oneshot::Sender<()>)>,
    /// Who waits is woken when this is dropped.
    over: Option<oneshot::Sender<()>>,
}

impl Context {
    /// Has the resources whose objects these steps delete wait, if they are registered meanwhile. To be called before
    /// another registration can be planned.
    pub(in crate::driver) fn begin_deletions(&self, urn: &Urn, steps: &[Step]) -> DeletionsFirst<'_> {
        let left: Vec<_> = steps.iter().filter(|step| step.keep_until_replaced).cloned().collect();
        let mut deletions = DeletionsFirst { context: self, urn: urn.clone(), left, unmade: Vec::new(), over: None };
        if !deletions.left.is_empty() {
            let (over, waiting) = oneshot::channel();
            let all = waiting.shared();
            let mut run_state = self.run_state();
            for number in deletions.left.iter().filter_map(number) {
                let (made, own) = oneshot::channel();
                deletions.unmade.push((number, made));
                run_state.deleting.insert(number, Deleting { own: own.shared(), all: all.clone() });
            }
            drop(run_state);
            deletions.over = Some(over);
        }
        deletions
    }

    /// The deletion, begun by the replacement of another resource, of the object that a registration goes on from.
    pub(in crate::driver) fn deletion_of(&self, registration: &Registration) -> Option<DeletionsOver> {
        let (number, _) = registration.old.as_ref()?;
        self.run_state().deleting.get(number).map(|deleting| deleting.all.clone())
    }
}

impl DeletionsFirst<'_> {
    /// Waits until what stood on a resource is deleted, where replacements of their own have begun that: the order of
    /// deletions holds between two replacements, too.
    pub(in crate::driver) async fn follow_dependents(&self, urn: &Urn) {
        while let Some(over) = self.deletion_of_dependent(urn) {
            // Ends with an error always: nothing is sent.
            let _ = self.context.wait_watched(ActivityKind::Dependency, urn, EARLIER_DELETIONS, over).await;
        }
    }

    fn deletion_of_dependent(&self, urn: &Urn) -> Option<DeletionsOver> {
        let run_state = self.context.run_state();
        let is_own = |deleted: ResourceNumber| self.left.iter().any(|step| number(step) == Some(deleted));
        let stands_on_it = |deleted: ResourceNumber| {
            let dependent = run_state.planner.base().get(deleted as usize);
            dependent.is_some_and(|dependent| dependent.references().any(|needed| needed == *urn))
        };
        let mut others = run_state.deleting.iter().filter(|(deleted, _)| !is_own(**deleted));
        others.find(|(deleted, _)| stands_on_it(**deleted)).map(|(_, deleting)| deleting.own.clone())
    }

    /// Notes that the deletion of a resource was made.
    pub(in crate::driver) fn made(&mut self, deletion: Option<ResourceNumber>) {
        let Some(made) = deletion else { return };
        self.left.retain(|step| number(step) != Some(made));
        self.context.run_state().deleting.remove(&made);
        self.unmade.retain(|(number, _)| *number != made);
        if self.left.is_empty() {
            self.over = None;
        }
    }
}

impl Drop for DeletionsFirst<'_> {
    fn drop(&mut self) {
        if self.left.is_empty() {
            return;
        }
        let mut run_state = self.context.run_state();
        for number in self.left.iter().filter_map(number) {
            run_state.deleting.remove(&number);
        }
        run_state.planner.take_back(&self.urn, &self.left);
    }
}

/// The resource that a step deletes before its replacement is made.
pub(in crate::driver) fn number(step: &Step) -> Option<ResourceNumber> {
    step.old.as_ref().filter(|_| step.keep_until_replaced).map(|(number, _)| *number)
}
