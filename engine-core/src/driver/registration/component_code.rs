//! Dynamic resources that components' plugins and inline programs of callers make: their providers are code, which a plugin of
//! the SDK's runs.

use std::sync::Arc;

use crate::operation::Operation;
use crate::plan::{Goal, Registration, serialised_provider};
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::urn::{Urn, reference_parts};
use crate::value::PROVIDER_KEY;

use crate::driver::calls::component_code::ComponentCode;
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::doors::Doors;
use crate::driver::journal::Journal;

/// Who runs the code of resources that a component's plugin made.
pub(crate) struct ComponentCodes {
    operation: Arc<Operation>,
    providers: Arc<Providers>,
    journal: Arc<Journal>,
}

impl ComponentCodes {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            providers: Arc::clone(&doors.providers),
            journal: Arc::clone(&doors.journal),
        }
    }

    /// Refuses code in place of a provider object, other than from the plugin of a component around the resource, and from the
    /// process that called the command line.
    pub(crate) fn guard_code(&self, goal: &Goal) -> Result<(), String> {
        let Some(code) = &goal.code else { return Ok(()) };
        self.providers.learn_code(code);
        let is_known = self.operation.caller_code || self.component_around(goal).is_some();
        if is_known { Ok(()) } else { Err(serialised_provider()) }
    }

    /// The provider resource whose plugin makes the nearest component around a resource in this run.
    fn component_around(&self, goal: &Goal) -> Option<String> {
        let mut above = goal.parent.clone();
        while let Some(urn) = above {
            if let Some(provider) = self.providers.plugins.provider_of_component(&urn) {
                return Some(provider);
            }
            above = self.journal.resource(&urn).and_then(|(_, resource)| resource.parent.clone());
        }
        None
    }

    /// What runs the code of a resource: in the environment of the component's plugin that registers it, or of the caller.
    pub(super) fn server_of_code(
        &self,
        urn: &Urn,
        registration: &Registration,
    ) -> Result<ResolvedProvider, ProviderError> {
        let no_provider = |reason: String| ProviderError::new(ProviderErrorKind::NoProvider, reason);
        let (goal, provider) = (&registration.goal, &registration.provider);
        let component = self.component_around(goal);
        let Some(code) = goal.code.as_ref().filter(|_| component.is_some() || self.operation.caller_code) else {
            return Err(no_provider(serialised_provider()));
        };
        let former = registration.old.as_ref().and_then(|(_, old)| old.code().cloned());
        if code.is_unknown() && !self.operation.dry_run {
            return Err(no_provider("its provider is not known although this is no preview".to_owned()));
        }
        let is_ignored = goal.ignore_changes.iter().any(|path| path == PROVIDER_KEY);
        let today = former.clone().filter(|_| is_ignored).unwrap_or_else(|| Arc::clone(code));
        let resource = reference_parts(provider)
            .and_then(|(provider, _)| self.journal.resource(&Urn::unchecked(provider)).map(|(_, resource)| resource));
        let inputs = resource.map(|resource| Arc::clone(&resource.inputs)).unwrap_or_default();
        let plugin = match component {
            Some(component) => self.providers.plugins.of_component(urn, &component, provider, &inputs)?,
            None => self.providers.plugins.of_caller(urn, provider, &inputs)?,
        };
        Ok(ResolvedProvider::of_component(plugin, ComponentCode::new(today, former)))
    }
}
