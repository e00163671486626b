//! Objects that outlive a run although they are to go, and resources that wait for their object: what is left of replacements
//! where a selection or a failure kept a run from its end.

use crate::event::{Outcome, Severity};
use crate::message;
use crate::message::Command;
use crate::operation::OperationKind;
use crate::plan::first_few;
use crate::resource_state::ResourceState;

use crate::driver::deletion::Deletion;

/// So many are named in a line.
const NAMED: usize = 5;

/// What waits at the end of a run.
#[derive(Default)]
pub(crate) struct WaitingObjects {
    /// Objects that were replaced and are not deleted yet.
    old_objects: Vec<String>,
    /// Resources whose object was deleted first, and not made again yet.
    without_object: Vec<String>,
}

impl WaitingObjects {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.old_objects.len() + self.without_object.len()
    }
}

impl Deletion {
    /// What waits now, by what it is called in messages. An operation that is not to delete anything leaves it alone.
    pub(crate) fn waiting(&self) -> WaitingObjects {
        if !matches!(self.operation.kind, OperationKind::Update | OperationKind::Destroy) {
            return WaitingObjects::default();
        }
        let mut waiting = WaitingObjects::default();
        for (_, resource) in self.journal.ledger().resources() {
            if resource.waits_for_deletion() {
                waiting.old_objects.push(named(resource));
            } else if resource.waits_for_object() {
                waiting.without_object.push(resource.urn.name().to_owned());
            }
        }
        waiting
    }

    /// Says what waits, unless the preview of the run has just done so.
    pub(crate) fn tell_of_waiting(&self, waiting: &WaitingObjects) {
        if self.operation.previewed && self.stop.outcome() == Outcome::Succeeded {
            return;
        }
        let is_selected = !self.operation.targets.is_empty() || !self.operation.excludes.is_empty();
        let next = |what: &str| {
            let (before, after) = if is_selected { ("an ", " without this selection") } else { ("the next ", "") };
            message![before, Command::new("up"), format!("{after} {what}")]
        };
        if !waiting.old_objects.is_empty() {
            let what =
                of_number(waiting.old_objects.len(), "replaced object still waits", "replaced objects still wait");
            let text = message![
                format!("{what} for deletion: {}; ", first_few(&waiting.old_objects, NAMED)),
                next("deletes what waits")
            ];
            self.reports.diagnose(None, Severity::Warning, text);
        }
        if !waiting.without_object.is_empty() {
            let what = of_number(
                waiting.without_object.len(),
                "resource has no object, because the old one was deleted for a replacement that was not made",
                "resources have no object, because the old ones were deleted for replacements that were not made",
            );
            let text = message![
                format!("{what}: {}; ", first_few(&waiting.without_object, NAMED)),
                next("makes what is missing")
            ];
            self.reports.diagnose(None, Severity::Warning, text);
        }
    }
}

fn named(resource: &ResourceState) -> String {
    format!("{} (id '{}')", resource.urn.name(), resource.id)
}

fn of_number(number: usize, one: &str, several: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {several}") }
}
