//! The beginning of a run.

use crate::error::Reason;
use crate::event::{Event, Severity};
use crate::operation::Operation;
use crate::state::Snapshot;

use crate::driver::flows::Flows;
use crate::driver::stop::Failure;

impl Flows {
    /// Does what comes before the program's first request.
    pub(crate) fn begin_operation(&self) {
        let doors = &self.doors;
        let operation = &doors.operation;
        learn_secrets(operation, &doors.base);
        for _ in operation.policies.packs() {
            doors.exchange.emit(Event::PolicyLoad);
        }
        let config = operation.config.iter();
        let hidden = |secret: bool, value: &str| if secret { "[secret]".to_owned() } else { value.to_owned() };
        let prelude = config.map(|(key, entry)| (key.clone(), hidden(entry.secret, &entry.value))).collect();
        doors.exchange.emit(Event::Prelude(prelude));
        let unusable = [
            operation.call_limit().err(),
            operation.warns_of_undeclared_outputs().err(),
            operation.tells_of_changed_code().err(),
        ];
        for message in unusable.into_iter().flatten() {
            doors.reports.diagnose(None, Severity::Error, message.clone());
            doors.stop.fail(Failure::new(Reason::Configuration, message), true);
        }
        doors.unresolved.tell_of_interrupted_operations();
        self.selected.refuse_ambiguous_targets();
    }
}

/// Has the secrets of the configuration and of the state hidden.
fn learn_secrets(operation: &Operation, snapshot: &Snapshot) {
    let redactor = &operation.redactor;
    for entry in operation.config.values().filter(|entry| entry.secret) {
        redactor.learn(&entry.value);
    }
    let pending = snapshot.pending.iter().map(|pending| &pending.resource);
    let unresolved_creates = snapshot.unresolved_creates.iter().map(|unresolved| &unresolved.resource);
    for resource in snapshot.resources.iter().chain(pending).chain(unresolved_creates) {
        for properties in std::iter::once(&resource.inputs).chain(&resource.outputs) {
            redactor.learn_properties(properties);
        }
    }
}
