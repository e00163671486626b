//! Who serves a resource: the one place that tells packages of live objects, of the engine itself and of plugins apart.

use std::sync::Arc;

use crate::builtin;
use crate::provider::{DYNAMIC_PACKAGES, SerializedProvider, StoredProvider};
use crate::resource_state::ResourceState;
use crate::urn::package_of;

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedBy {
    /// A provider object of the program.
    LiveObject,
    /// The engine, for the types of its own package.
    Engine,
    /// A plugin: for a resource of its package, or for a dynamic resource that a component's plugin made.
    Plugin,
    /// A plugin, for the provider resource that it is configured by.
    ItsPlugin,
}

/// What begins the types of provider resources.
const PROVIDERS: &str = "pulumi:providers:";

/// Who serves the resources of a type.
#[must_use]
pub fn served_by(kind: &str) -> ServedBy {
    if let Some(package) = kind.strip_prefix(PROVIDERS) {
        let plugin = !DYNAMIC_PACKAGES.contains(&package) && package != builtin::PACKAGE;
        return if plugin { ServedBy::ItsPlugin } else { ServedBy::Engine };
    }
    match package_of(kind) {
        builtin::PACKAGE => ServedBy::Engine,
        package if DYNAMIC_PACKAGES.contains(&package) => ServedBy::LiveObject,
        _ => ServedBy::Plugin,
    }
}

impl ServedBy {
    /// Is it a plugin, for whatever resource?
    #[must_use]
    pub fn is_plugin(self) -> bool {
        matches!(self, Self::Plugin | Self::ItsPlugin)
    }
}

impl ResourceState {
    /// Who serves it; components are served by nobody, and count as the engine's.
    #[must_use]
    pub fn served_by(&self) -> ServedBy {
        match (self.custom, &self.stored_provider) {
            (false, _) => ServedBy::Engine,
            (true, StoredProvider::Code(_)) => ServedBy::Plugin,
            (true, _) => served_by(&self.kind),
        }
    }

    /// The code that serves it, if a component's plugin made it as a dynamic resource.
    #[must_use]
    pub fn code(&self) -> Option<&Arc<SerializedProvider>> {
        match &self.stored_provider {
            StoredProvider::Code(code) => Some(code),
            _ => None,
        }
    }

    /// Does the code of a dynamic resource run in the environment of the plugin that this provider resource stands for?
    #[must_use]
    pub fn lends_environment_to(&self, dynamic: &ResourceState) -> bool {
        dynamic.code().is_some()
            && self.served_by() == ServedBy::ItsPlugin
            && self.urn.provider_package().is_some_and(|package| dynamic.urn.packages_above().any(|it| it == package))
    }
}
