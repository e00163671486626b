//! Deletions that a replacement makes before itself (docs/rules 4.2): whose object one of them takes waits for it.

use std::sync::Arc;

use atomic_refcell::AtomicRefCell;
use futures::channel::oneshot;
use futures::future::{FutureExt, Shared};

use crate::activity::ActivityKind;
use crate::hash::FixedMap;
use crate::plan::{Registration, Step};
use crate::state::ResourceNumber;
use crate::urn::Urn;

use crate::driver::doors::Doors;
use crate::driver::planning::Planning;
use crate::driver::watched_waits::{EARLIER_DELETIONS, WatchedWaits};

/// The deletions of one replacement that are still to be made. When this is dropped, those count as not made.
pub(crate) struct DeletionsFirst<'a> {
    owner: &'a EarlierDeletions,
    /// The resource that is replaced.
    urn: Urn,
    left: Vec<Step>,
    /// Who waits for one of them is woken when its sender is dropped.
    unmade: Vec<(ResourceNumber, oneshot::Sender<()>)>,
    /// Who waits is woken when this is dropped.
    over: Option<oneshot::Sender<()>>,
}

/// Ends when a deletion, or those of one replacement, are over.
pub(crate) type DeletionsOver = Shared<oneshot::Receiver<()>>;

/// A deletion that a replacement is making.
struct DeletionUnderWay {
    /// This deletion.
    own: DeletionsOver,
    /// All deletions of the replacement.
    all: DeletionsOver,
}

/// The deletions that replacements make before themselves.
pub(crate) struct EarlierDeletions {
    planning: Arc<Planning>,
    waits: Arc<WatchedWaits>,
    /// The resources whose objects a replacement of another resource is deleting.
    deleting: AtomicRefCell<FixedMap<ResourceNumber, DeletionUnderWay>>,
}

impl EarlierDeletions {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            planning: Arc::clone(&doors.planning),
            waits: Arc::clone(&doors.waits),
            deleting: AtomicRefCell::default(),
        }
    }

    /// Has the resources whose objects these steps delete wait, if they are registered meanwhile. To be called before
    /// another registration can be planned.
    pub(crate) fn begin_deletions(&self, urn: &Urn, steps: &[Step]) -> DeletionsFirst<'_> {
        let left: Vec<_> = steps.iter().filter(|step| step.keep_until_replaced).cloned().collect();
        let mut deletions = DeletionsFirst { owner: self, urn: urn.clone(), left, unmade: Vec::new(), over: None };
        if !deletions.left.is_empty() {
            let (over, waiting) = oneshot::channel();
            let all = waiting.shared();
            let mut deleting = self.deleting.borrow_mut();
            for number in deletions.left.iter().filter_map(number) {
                let (made, own) = oneshot::channel();
                deletions.unmade.push((number, made));
                deleting.insert(number, DeletionUnderWay { own: own.shared(), all: all.clone() });
            }
            deletions.over = Some(over);
        }
        deletions
    }

    /// The deletion, begun by the replacement of another resource, of the object that a registration goes on from.
    pub(crate) fn deletion_of(&self, registration: &Registration) -> Option<DeletionsOver> {
        let (number, _) = registration.old.as_ref()?;
        self.deleting.borrow().get(number).map(|deleting| deleting.all.clone())
    }
}

impl DeletionsFirst<'_> {
    /// Waits until what stood on a resource is deleted, where replacements of their own have begun that: the order of
    /// deletions holds between two replacements, too.
    pub(crate) async fn follow_dependents(&self, urn: &Urn) {
        while let Some(over) = self.deletion_of_dependent(urn) {
            // Ends with an error always: nothing is sent.
            let _ = self.owner.waits.wait_watched(ActivityKind::Dependency, urn, EARLIER_DELETIONS, over).await;
        }
    }

    fn deletion_of_dependent(&self, urn: &Urn) -> Option<DeletionsOver> {
        let (deleting, planner) = (self.owner.deleting.borrow(), self.owner.planning.planner());
        let is_own = |deleted: ResourceNumber| self.left.iter().any(|step| number(step) == Some(deleted));
        let stands_on_it = |deleted: ResourceNumber| {
            let dependent = planner.base().get(deleted as usize);
            dependent.is_some_and(|dependent| dependent.references().any(|needed| needed == *urn))
        };
        let mut others = deleting.iter().filter(|(deleted, _)| !is_own(**deleted));
        others.find(|(deleted, _)| stands_on_it(**deleted)).map(|(_, deleting)| deleting.own.clone())
    }

    /// Notes that the deletion of a resource was made.
    pub(crate) fn made(&mut self, deletion: Option<ResourceNumber>) {
        let Some(made) = deletion else { return };
        self.left.retain(|step| number(step) != Some(made));
        self.owner.deleting.borrow_mut().remove(&made);
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
        for number in self.left.iter().filter_map(number) {
            self.owner.deleting.borrow_mut().remove(&number);
        }
        self.owner.planning.planner().take_back(&self.urn, &self.left);
    }
}

/// The resource that a step deletes before its replacement is made.
pub(crate) fn number(step: &Step) -> Option<ResourceNumber> {
    step.old.as_ref().filter(|_| step.keep_until_replaced).map(|(number, _)| *number)
}
