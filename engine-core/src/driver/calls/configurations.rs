//! What live objects are configured with: the stack's configuration, or the inputs of a provider resource that the
//! program made for their package and names for a resource. An object is configured once for each of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atomic_refcell::AtomicRefCell;

use crate::operation::Operation;
use crate::plan::for_provider;
use crate::provider::{ConfigurationId, DYNAMIC_PACKAGES, ObjectId, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::urn::{Urn, reference_parts};
use crate::value::{PropertyMap, Value};

use crate::driver::calls::plugins::{PluginProviders, normal, without_internal};
use crate::driver::permits::Once;

/// One of the configurations of a run.
pub(crate) struct ObjectConfiguration {
    /// Its number in the run.
    pub(crate) number: ConfigurationId,
    /// The reference to its provider resource; empty for the stack's configuration.
    pub(crate) reference: String,
    /// By full keys; `None` where something of it is not known yet, in a preview.
    pub(crate) values: Option<Arc<PropertyMap>>,
}

/// The configuring of an object.
pub(crate) struct ConfigureOnce {
    /// The first resource that needed it.
    urn: Urn,
    /// Empty until `configure` has returned or raised.
    pub(crate) outcome: Once<Result<(), ProviderError>>,
    is_closed: AtomicBool,
}

/// The configurations of one run, and the objects that they were handed to.
pub(crate) struct Configurations {
    of_stack: Arc<ObjectConfiguration>,
    explicit: AtomicRefCell<Explicit>,
    configured: AtomicRefCell<HashMap<(ObjectId, ConfigurationId), Arc<ConfigureOnce>, foldhash::fast::FixedState>>,
    dry_run: bool,
}

#[derive(Default)]
struct Explicit {
    by_reference: BTreeMap<String, Arc<ObjectConfiguration>>,
    last_number: ConfigurationId,
}

impl Configurations {
    pub(crate) fn new(operation: &Operation) -> Self {
        let values = operation.config.iter().map(|(key, entry)| (key.clone(), Value::from(entry.value.as_str())));
        let of_stack = ObjectConfiguration {
            number: ConfigurationId::default(),
            reference: String::new(),
            values: Some(Arc::new(values.collect())),
        };
        Self {
            of_stack: Arc::new(of_stack),
            explicit: AtomicRefCell::default(),
            configured: AtomicRefCell::default(),
            dry_run: operation.dry_run,
        }
    }

    /// The stack's configuration.
    pub(super) fn of_stack(&self) -> Arc<ObjectConfiguration> {
        Arc::clone(&self.of_stack)
    }

    /// Takes note of a provider resource that the run has registered, and of its inputs.
    pub(crate) fn note(&self, resource: &ResourceState, inputs: &PropertyMap) {
        if !resource.urn.provider_package().is_some_and(|package| DYNAMIC_PACKAGES.contains(&package)) {
            return;
        }
        let reference = normal(&resource.as_provider_reference());
        if !is_default(&reference) {
            self.add(reference, inputs);
        }
    }

    /// What the objects of resources are configured with that refer to this provider resource: as this run registered it,
    /// else as the run found it.
    pub(crate) fn of(
        &self,
        reference: &str,
        plugins: &PluginProviders,
    ) -> Result<Arc<ObjectConfiguration>, ProviderError> {
        if is_default(reference) {
            return Ok(self.of_stack());
        }
        let reference = normal(reference);
        if let Some(known) = self.explicit.borrow().by_reference.get(&reference) {
            return Ok(Arc::clone(known));
        }
        let Some(resource) = plugins.resource(&reference) else {
            let message = format!("its provider '{reference}' is neither in the state nor in the program");
            return Err(ProviderError::new(ProviderErrorKind::NoProvider, message));
        };
        let inputs = Arc::clone(&resource.inputs);
        Ok(self.add(reference, &inputs))
    }

    fn add(&self, reference: String, inputs: &PropertyMap) -> Arc<ObjectConfiguration> {
        let unknown = self.dry_run && inputs.values().any(Value::contains_unknown);
        let values = (!unknown).then(|| Arc::new(for_provider(&without_internal(inputs))));
        let mut explicit = self.explicit.borrow_mut();
        explicit.last_number += 1;
        let configuration = ObjectConfiguration { number: explicit.last_number, reference: reference.clone(), values };
        let configuration = Arc::new(configuration);
        explicit.by_reference.insert(reference, Arc::clone(&configuration));
        configuration
    }

    /// The configuring of an object, begun or not.
    pub(super) fn configuring(
        &self,
        object: ObjectId,
        configuration: &ObjectConfiguration,
        urn: &Urn,
    ) -> Arc<ConfigureOnce> {
        let first = || {
            let (outcome, is_closed) = (Once::default(), AtomicBool::new(false));
            Arc::new(ConfigureOnce { urn: urn.clone(), outcome, is_closed })
        };
        let mut configured = self.configured.borrow_mut();
        Arc::clone(configured.entry((object, configuration.number)).or_insert_with(first))
    }

    /// What was configured and not taken before, each with the resource on whose behalf it was.
    pub(super) fn take_configured(&self) -> Vec<(ObjectId, ConfigurationId, Urn)> {
        // They stay known as configured: a call that was given up before it began must not configure an object again.
        let configured = self.configured.borrow();
        let configured = configured.iter().filter(|(_, it)| matches!(it.outcome.get(), Some(Ok(()))));
        let mut taken: Vec<_> = configured
            .filter(|(_, it)| !it.is_closed.swap(true, Ordering::AcqRel))
            .map(|((object, configuration), it)| (*object, *configuration, it.urn.clone()))
            .collect();
        taken.sort_unstable();
        taken
    }
}

/// Is it the provider resource that the engine keeps for the stack's configuration, or none at all?
fn is_default(reference: &str) -> bool {
    let Some((urn, _)) = reference_parts(reference) else { return true };
    let Some((place, name)) = reference_parts(urn) else { return true };
    name == "default" && !place.contains('$')
}
