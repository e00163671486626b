//! Who serves a resource: the one place that tells packages of live objects, of the engine itself and of plugins apart.

use crate::builtin;
use crate::provider::DYNAMIC_PACKAGES;
use crate::resource_state::ResourceState;
use crate::urn::package_of;

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedBy {
    /// A provider object of the program.
    LiveObject,
    /// The engine, for the types of its own package.
    Engine,
    /// A plugin, for a resource of its package.
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
        if self.custom { served_by(&self.kind) } else { ServedBy::Engine }
    }
}
