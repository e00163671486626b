//! What a run notices, said once and at its end: a log of a healthy run has one line of it at most.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::event::Severity;
use crate::message;
use crate::message::{Command, Message};
use crate::operation::{Operation, UNDECLARED_OUTPUTS};
use crate::state::Snapshot;
use crate::urn::Urn;

use crate::driver::notice::Notice;
use crate::driver::reports::Reports;

/// So many outputs of a class are named.
const NAMED: usize = 10;

/// What a run notices, told once and at its end.
pub(crate) struct Notices {
    operation: Arc<Operation>,
    base: Arc<Snapshot>,
    reports: Arc<Reports>,
    noticed: AtomicRefCell<NoticeList>,
}

/// What was noticed in this run.
#[derive(Default)]
struct NoticeList {
    /// Outputs that providers returned and the program cannot read, by the class that does not declare them.
    undeclared: BTreeMap<String, BTreeSet<String>>,
    /// How the program's language declares an output.
    how_to_declare: String,
    /// What the host has to say of the program.
    said: BTreeSet<String>,
    /// Plugins that a folder of `$PATH` has: the file by the executable's name.
    plugins_on_path: BTreeMap<String, String>,
    /// Creates that passed their operation key on: their objects are not made twice.
    used_keys: BTreeSet<Urn>,
}

impl Notices {
    pub(crate) fn new(operation: &Arc<Operation>, base: &Arc<Snapshot>, reports: &Arc<Reports>) -> Self {
        Self {
            operation: Arc::clone(operation),
            base: Arc::clone(base),
            reports: Arc::clone(reports),
            noticed: AtomicRefCell::default(),
        }
    }

    fn noticed(&self) -> AtomicRefMut<'_, NoticeList> {
        self.noticed.borrow_mut()
    }

    /// Did a create pass its operation key on? Then its object is not made twice.
    pub(crate) fn has_used_key(&self, urn: &Urn) -> bool {
        self.noticed().used_keys.contains(urn)
    }

    /// Takes note of something that is said at the end.
    pub(crate) fn note(&self, notice: Notice) {
        match notice {
            Notice::Undeclared { urn, class, outputs, how } => self.note_undeclared(&urn, class, outputs, &how),
            Notice::PluginOnPath { executable, file } => {
                self.noticed().plugins_on_path.insert(executable, file);
            }
            Notice::Said(text) => {
                self.noticed().said.insert(text);
            }
            Notice::UsedKey(urn) => {
                self.noticed().used_keys.insert(urn);
            }
        }
    }

    fn note_undeclared(&self, urn: &Urn, class: String, mut outputs: Vec<String>, how: &str) {
        // Each resource has its id, declared or not.
        outputs.retain(|name| name != "id");
        let is_told = self.operation.warns_of_undeclared_outputs().unwrap_or(true);
        if outputs.is_empty() || !is_told || self.stack_has_told(urn, &outputs) {
            return;
        }
        let mut notices = self.noticed();
        how.clone_into(&mut notices.how_to_declare);
        notices.undeclared.entry(class).or_default().extend(outputs);
    }

    /// Has a resource of that type these outputs in the state? Then an earlier run of the stack has said it.
    fn stack_has_told(&self, urn: &Urn, names: &[String]) -> bool {
        self.base.resources.iter().any(|resource| {
            let outputs = resource.outputs_or_empty();
            resource.kind == urn.own_type() && names.iter().all(|name| outputs.contains_key(name))
        })
    }

    /// Says it. What a preview noticed is left to the run that follows it.
    pub(crate) fn tell_of_notices(&self) {
        if self.operation.precedes_run {
            return;
        }
        let text = text_of(&self.noticed());
        if let Some(text) = text {
            self.reports.diagnose(None, Severity::Warning, text);
        }
    }
}

fn text_of(notices: &NoticeList) -> Option<Message> {
    let plugins = notices.plugins_on_path.iter().map(|(executable, file)| format!("{executable} ({file})"));
    let plugins: Vec<String> = plugins.collect();
    let classes = notices.undeclared.iter().map(|(class, outputs)| {
        let outputs: Vec<&String> = outputs.iter().collect();
        format!("{class} ({})", crate::plan::first_few(&outputs, NAMED))
    });
    let classes: Vec<String> = classes.collect();
    let from_path = (!plugins.is_empty()).then(|| format!("plugins from $PATH: {}", plugins.join(", ")));
    let undeclared = (!classes.is_empty()).then(|| {
        message![
            format!(
                "outputs that classes do not declare, so the program cannot read them: {}. To read one, {}; ",
                classes.join(", "),
                notices.how_to_declare
            ),
            Command::new("config set").value(UNDECLARED_OUTPUTS).with("ignore"),
            " hides this"
        ]
    });
    let said = notices.said.iter().cloned().chain(from_path).map(Message::from);
    let all: Vec<Message> = said.chain(undeclared).collect();
    (!all.is_empty()).then(|| Message::join(&all, "; "))
}

#[cfg(test)]
#[path = "notices_tests.rs"]
mod tests;
