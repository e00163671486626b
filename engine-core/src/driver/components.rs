//! Components and the stack, from their registration until their outputs are known.

use atomic_refcell::AtomicRefCell;

use crate::event::StepMetadata;
use crate::urn::{Urn, UrnMap, UrnSet};
use crate::value::PropertyMap;

/// See the module's text.
#[derive(Default)]
pub(crate) struct Components(AtomicRefCell<State>);

#[derive(Default)]
struct State {
    /// Those whose outputs were not registered yet.
    open: UrnMap<StepMetadata>,
    /// Those whose outputs were registered.
    with_outputs: UrnSet,
    root: Option<Urn>,
    /// The stack's outputs as the program gave them.
    stack_outputs: Option<PropertyMap>,
}

impl Components {
    /// Notes a component, or the stack, whose outputs are to come.
    pub(crate) fn open(&self, step: StepMetadata) {
        let mut state = self.0.borrow_mut();
        if step.urn.is_root_stack() {
            state.root = Some(step.urn.clone());
        }
        state.open.insert(step.urn.clone(), step);
    }

    /// The step of a component whose outputs are to come.
    pub(crate) fn find(&self, urn: &Urn) -> Option<StepMetadata> {
        self.0.borrow().open.get(urn).cloned()
    }

    /// Ends the step of a component: nothing more is to come.
    pub(crate) fn close(&self, urn: &Urn) -> Option<StepMetadata> {
        self.0.borrow_mut().open.remove(urn)
    }

    /// Ends the steps of all components, but for the stack's.
    pub(crate) fn close_all(&self) -> UrnMap<StepMetadata> {
        let mut state = self.0.borrow_mut();
        let root = state.root.clone();
        let stack = root.and_then(|root| state.open.remove_entry(&root));
        let others = std::mem::take(&mut state.open);
        state.open.extend(stack);
        others
    }

    /// Notes that the outputs of a component are registered; `false` when they were before.
    pub(crate) fn register_outputs(&self, urn: &Urn) -> bool {
        self.0.borrow_mut().with_outputs.insert(urn.clone())
    }

    /// The stack, once it is registered.
    pub(crate) fn root(&self) -> Option<Urn> {
        self.0.borrow().root.clone()
    }

    /// Notes which resource is the stack, before it is planned.
    pub(crate) fn set_root(&self, urn: Urn) {
        self.0.borrow_mut().root = Some(urn);
    }

    /// Keeps the stack's outputs until the end of the run.
    pub(crate) fn keep_stack_outputs(&self, outputs: PropertyMap) {
        self.0.borrow_mut().stack_outputs = Some(outputs);
    }

    /// The stack's outputs, if the program gave any.
    pub(crate) fn take_stack_outputs(&self) -> Option<PropertyMap> {
        self.0.borrow_mut().stack_outputs.take()
    }
}
