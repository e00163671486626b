//! The beginning of a run.

use crate::event::{Event, Severity};
use crate::operation::Operation;
use crate::state::Snapshot;

use crate::driver::context::Context;
use crate::driver::stop::Failure;

impl Context {
    /// Does what comes before the program's first request.
    pub(in crate::driver) fn begin_operation(&self) {
        let operation = &self.operation;
        learn_secrets(operation, &self.base);
        let config = operation.config.iter();
        let hidden = |secret: bool, value: &str| if secret { "[secret]".to_owned() } else { value.to_owned() };
        let prelude = config.map(|(key, entry)| (key.clone(), hidden(entry.secret, &entry.value))).collect();
        self.exchange.tell(Event::Prelude(prelude));
        let unusable = [
            operation.call_limit().err(),
            operation.warns_of_undeclared_outputs().err(),
            operation.tells_of_changed_code().err(),
        ];
        for message in unusable.into_iter().flatten() {
            self.diagnose(None, Severity::Error, message.clone());
            self.stop.fail(Failure::new(message), true);
        }
        self.tell_of_interrupted_operations();
        self.refuse_ambiguous_targets();
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
