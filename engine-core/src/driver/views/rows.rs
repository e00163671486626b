//! Where the views of a resource stand in the state, and what a step makes of them.

use std::sync::Arc;

use crate::event::Op;
use crate::plan::Step;
use crate::resource_state::ResourceState;
use crate::state::{Change, ResourceNumber};
use crate::urn::Urn;

use super::published::PublishedStep;
use super::{CalledFor, UntoldStep, Views};

type NumberedView = (ResourceNumber, Arc<ResourceState>);

impl Views {
    /// The views of a resource as they are now, under its former URN, too.
    pub(super) fn rows_of(&self, owner: &Urn) -> Vec<NumberedView> {
        let numbers = |owner: &Urn| self.state.borrow().rows.get(owner).cloned().unwrap_or_default();
        let mut found = numbers(owner);
        if let Some(former) = self.planning.planner().formerly(owner).cloned() {
            found.extend(numbers(&former));
        }
        found.into_iter().filter_map(|number| self.journal.numbered(number).map(|view| (number, view))).collect()
    }

    /// Makes the change of a step that the plugin took, and notes what is to be shown of it.
    pub(super) fn book(&self, owner: &Urn, published: PublishedStep, called_for: CalledFor) -> Vec<Change> {
        let PublishedStep { op, urn, new, error, is_partial, keys, diffs, detailed_diff } = published;
        let new = new.map(Arc::new);
        let goes_late = called_for == CalledFor::OldObject || matches!(op, Op::DeleteReplaced | Op::DiscardReplaced);
        let old = self.row_for(owner, &urn, goes_late);
        let (shown_op, note) = if called_for == CalledFor::Refresh { (Op::Refresh, op.name()) } else { (op, "") };
        let step = Step { keys, diffs, detailed_diff, note, ..Step::new(shown_op, &urn, old.clone(), new.clone()) };
        let changes = match (error.is_empty() || is_partial, op, new.clone()) {
            // A replacement as a whole is told for people; its parts have steps of their own.
            (false, ..) | (_, Op::Replace, _) => Vec::new(),
            (_, Op::CreateReplacement | Op::ReadReplacement | Op::ImportReplacement, Some(new)) => {
                let replaced = old.map(|(number, view)| self.set_aside(number, &view));
                let put = self.put(owner, new, None);
                replaced.into_iter().chain([put]).collect()
            }
            (_, _, Some(new)) => match old {
                Some((_, view)) if *view == *new => Vec::new(),
                // What refers to it, and it to others, stays in its order.
                Some((number, _)) if called_for == CalledFor::Refresh => vec![self.planning.renew(number, new)],
                old => vec![self.put(owner, new, old.map(|(number, _)| number))],
            },
            (_, _, None) => old.map(|(number, _)| self.drop_row(owner, number)).into_iter().collect(),
        };
        self.note(owner, UntoldStep { step, resource: new, error });
        changes
    }

    /// The row that a step is about; of two, the one that waits for its deletion where the step is about that.
    fn row_for(&self, owner: &Urn, urn: &Urn, goes_late: bool) -> Option<NumberedView> {
        let is_it = |view: &ResourceState| view.kind == urn.own_type() && view.urn.name() == urn.name();
        let mut rows: Vec<NumberedView> = self.rows_of(owner).into_iter().filter(|(_, view)| is_it(view)).collect();
        if !goes_late {
            return rows.into_iter().find(|(_, view)| !view.delete);
        }
        rows.sort_by_key(|(_, view)| !view.delete);
        rows.into_iter().next()
    }

    /// Has the views of an object wait for their deletion, as the object does.
    pub(super) fn leave_to_old_object(&self, owner: &Urn) -> Vec<Change> {
        let living = self.rows_of(owner).into_iter().filter(|(_, view)| !view.delete);
        living.map(|(number, view)| self.set_aside(number, &view)).collect()
    }

    fn set_aside(&self, number: ResourceNumber, view: &ResourceState) -> Change {
        self.journal.set(number, Arc::new(ResourceState { delete: true, ..view.clone() }))
    }

    fn put(&self, owner: &Urn, view: Arc<ResourceState>, in_place_of: Option<ResourceNumber>) -> Change {
        let change = self.journal.put(view, in_place_of);
        let number = self.journal.last_number();
        self.state.borrow_mut().rows.entry(owner.clone()).or_default().push(number);
        change
    }

    /// Takes a view out of the state.
    pub(super) fn drop_row(&self, owner: &Urn, number: ResourceNumber) -> Change {
        if let Some(rows) = self.state.borrow_mut().rows.get_mut(owner) {
            rows.retain(|other| *other != number);
        }
        self.planning.vanish(number)
    }
}
