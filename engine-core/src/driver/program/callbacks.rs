//! The program's own functions that the engine calls: transforms and hooks, as far as the program has registered them.

use std::collections::HashMap;
use std::sync::Arc;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::urn::{Urn, UrnMap};
use crate::wire::{Callback, RegisterErrorHookRequest, RegisterResourceHookRequest};

use crate::driver::answers::RpcError;

/// A transform and where it was given: `None` for one of the stack's.
#[derive(Clone)]
pub(crate) struct Transform {
    pub(crate) function: Callback,
    pub(crate) of: Option<Urn>,
}

/// A hook on the operations of resources.
#[derive(Clone)]
pub(crate) struct Hook {
    pub(crate) function: Callback,
    pub(super) on_dry_run: bool,
    pub(super) ignore_errors: bool,
}

/// The functions that a program gives for a component which a plugin makes. The plugin is not told of them.
#[derive(Clone, Default)]
pub(crate) struct RemoteFunctions {
    pub(crate) transforms: Vec<Callback>,
    pub(crate) state_migrations: Vec<Callback>,
}

#[derive(Default)]
struct Functions {
    stack_transforms: Vec<Transform>,
    invoke_transforms: Vec<Callback>,
    /// The transforms that apply below a resource: its own, then those of its ancestors, the nearest first.
    inherited: UrnMap<Arc<[Transform]>>,
    hooks: HashMap<String, Hook>,
    error_hooks: HashMap<String, Callback>,
    /// What the program gave for components that plugins make: used when a plugin registers the component.
    of_remote: UrnMap<RemoteFunctions>,
}

/// What the program has registered so far. Kept per run; the functions themselves are the host's.
#[derive(Default)]
pub(crate) struct Callbacks(AtomicRefCell<Functions>);

impl Callbacks {
    fn functions(&self) -> AtomicRefMut<'_, Functions> {
        self.0.borrow_mut()
    }

    pub(crate) fn add_stack_transform(&self, callback: Callback) {
        self.functions().stack_transforms.push(Transform { function: callback, of: None });
    }

    pub(crate) fn add_invoke_transform(&self, callback: Callback) {
        self.functions().invoke_transforms.push(callback);
    }

    pub(crate) fn add_hook(&self, request: RegisterResourceHookRequest) -> Result<(), RpcError> {
        let RegisterResourceHookRequest { name, callback, on_dry_run, ignore_errors } = request;
        let hook = Hook { function: callback.unwrap_or_default(), on_dry_run, ignore_errors };
        match self.functions().hooks.insert(name.clone(), hook) {
            None => Ok(()),
            Some(_) => Err(registered_twice("resource hook", &name)),
        }
    }

    pub(crate) fn add_error_hook(&self, request: RegisterErrorHookRequest) -> Result<(), RpcError> {
        let function = request.callback.unwrap_or_default();
        match self.functions().error_hooks.insert(request.name.clone(), function) {
            None => Ok(()),
            Some(_) => Err(registered_twice("error hook", &request.name)),
        }
    }

    pub(super) fn hook(&self, name: &str) -> Option<Hook> {
        self.functions().hooks.get(name).cloned()
    }

    pub(super) fn error_hook(&self, name: &str) -> Option<Callback> {
        self.functions().error_hooks.get(name).cloned()
    }

    pub(super) fn invoke_transforms(&self) -> Vec<Callback> {
        self.functions().invoke_transforms.clone()
    }

    /// Keeps what a program gave for a component until a plugin registers it.
    pub(crate) fn keep_for_remote(&self, urn: &Urn, functions: RemoteFunctions) {
        if !functions.transforms.is_empty() || !functions.state_migrations.is_empty() {
            self.functions().of_remote.insert(urn.clone(), functions);
        }
    }

    /// What a program gave for a component that a plugin registers now.
    pub(crate) fn take_for_remote(&self, urn: &Urn) -> RemoteFunctions {
        self.functions().of_remote.remove(urn).unwrap_or_default()
    }

    /// Are there any for components that plugins make?
    pub(crate) fn has_for_remote(&self) -> bool {
        !self.functions().of_remote.is_empty()
    }

    /// Has the program transforms that may apply to a registration which has none of its own?
    pub(super) fn has_transforms(&self) -> bool {
        let functions = self.functions();
        !(functions.stack_transforms.is_empty() && functions.inherited.is_empty())
    }

    /// The transforms of a registration in their order: its own, its ancestors' from the nearest one up, the stack's.
    /// Remembers them for its children.
    pub(crate) fn transforms_of(&self, urn: &Urn, parent: Option<&Urn>, own: &[Callback]) -> Vec<Transform> {
        let mut functions = self.functions();
        let inherited = parent.and_then(|parent| functions.inherited.get(parent).cloned());
        if own.is_empty() && inherited.is_none() {
            return functions.stack_transforms.clone();
        }
        let below: Arc<[Transform]> = match inherited {
            Some(inherited) if own.is_empty() => inherited,
            inherited => {
                let own = own.iter().map(|own| Transform { function: own.clone(), of: Some(urn.clone()) });
                own.chain(inherited.iter().flat_map(|list| list.iter().cloned())).collect()
            }
        };
        functions.inherited.insert(urn.clone(), Arc::clone(&below));
        below.iter().chain(&functions.stack_transforms).cloned().collect()
    }
}

fn registered_twice(what: &str, name: &str) -> RpcError {
    RpcError { code: 6, message: format!("a {what} named '{name}' is registered already; give each a name of its own") }
}
