//! Who answers for a resource: a live object of the program, or the engine itself.

use std::sync::Arc;

use crate::autonaming::Autonaming;
use crate::builtin;
use crate::plan::for_provider;
use crate::provider::{
    Capabilities, Extension, ObjectId, ProviderDescription, ProviderError, ProviderErrorKind, ProviderReference,
    StoredProvider,
};
use crate::value::PropertyMap;

use crate::driver::calls::class_permits::ClassPermits;
use crate::driver::calls::component_code::ComponentCode;
use crate::driver::calls::configurations::ObjectConfiguration;
use crate::driver::calls::plugins::PluginProvider;
use crate::driver::calls::provider_resources::ProviderResource;

/// The class (or constant) of a reference, as messages name it.
pub(super) fn class_of(reference: &ProviderReference) -> String {
    if reference.name.is_empty() {
        "(an object literal)".to_owned()
    } else if reference.module.is_empty() {
        reference.name.clone()
    } else {
        reference.place()
    }
}

/// What serves a resource.
#[derive(Clone)]
pub(crate) struct ResolvedProvider {
    pub(crate) server: ProviderKind,
    pub(crate) capabilities: Capabilities,
    /// Which of its objects' names the engine fills in.
    pub(crate) autonaming: Option<Autonaming>,
    /// The turns of its class, where that limits its calls.
    pub(crate) class_permits: Option<Arc<ClassPermits>>,
    /// The code that its plugin is to run.
    pub(crate) code: Option<ComponentCode>,
    /// What its plugin has to be extended by.
    pub(crate) extension: Option<Arc<Extension>>,
}

#[derive(Clone)]
pub(crate) enum ProviderKind {
    /// A live object, what stands for it in the state, and what it is configured with.
    Live { object: ObjectId, reference: Arc<ProviderReference>, configuration: Arc<ObjectConfiguration> },
    /// The engine, for a type of the built-in package.
    BuiltIn { kind: Arc<str> },
    /// The plugin of its package, by the provider resource that configures it.
    Plugin(Arc<PluginProvider>),
    /// The plugin of its package, for a provider resource.
    Provider(Arc<ProviderResource>),
}

/// What the engine and plugins have: everything but what only live objects may have.
const EVERYTHING: Capabilities = Capabilities {
    configure: false,
    check: true,
    diff: true,
    create: true,
    read: true,
    update: true,
    delete: true,
    find: false,
    close: false,
};

impl ResolvedProvider {
    /// By a live object.
    pub(crate) fn live(
        object: ObjectId,
        description: &ProviderDescription,
        class_permits: Option<Arc<ClassPermits>>,
        configuration: Arc<ObjectConfiguration>,
    ) -> Self {
        let reference = Arc::clone(&description.reference);
        Self {
            server: ProviderKind::Live { object, reference, configuration },
            capabilities: description.capabilities,
            autonaming: description.autonaming.clone(),
            class_permits,
            code: None,
            extension: None,
        }
    }

    /// By the engine; `None` when the type is none of its own.
    pub(crate) fn built_in(kind: &str) -> Option<Self> {
        builtin::serves(kind).then(|| Self {
            server: ProviderKind::BuiltIn { kind: kind.into() },
            capabilities: EVERYTHING,
            autonaming: None,
            class_permits: None,
            code: None,
            extension: None,
        })
    }

    /// By a plugin.
    pub(crate) fn plugin(provider: Arc<PluginProvider>) -> Self {
        let server = ProviderKind::Plugin(provider);
        Self { server, capabilities: EVERYTHING, autonaming: None, class_permits: None, code: None, extension: None }
    }

    /// The same, by a plugin that is extended for that.
    pub(crate) fn with_extension(self, extension: Option<Arc<Extension>>) -> Self {
        Self { extension, ..self }
    }

    /// By a plugin that runs code.
    pub(crate) fn of_component(provider: Arc<PluginProvider>, code: ComponentCode) -> Self {
        Self { code: Some(code), ..Self::plugin(provider) }
    }

    /// Of a provider resource.
    pub(super) fn provider_resource(resource: Arc<ProviderResource>) -> Self {
        let server = ProviderKind::Provider(resource);
        Self { server, capabilities: EVERYTHING, autonaming: None, class_permits: None, code: None, extension: None }
    }

    /// The reference to the program's own provider resource that configures its object, where that is one.
    pub(crate) fn explicit_provider(&self) -> Option<&str> {
        match &self.server {
            ProviderKind::Live { configuration, .. } => {
                Some(configuration.reference.as_str()).filter(|reference| !reference.is_empty())
            }
            _ => None,
        }
    }

    /// Does a plugin serve the resource?
    pub(crate) fn is_plugin(&self) -> bool {
        matches!(self.server, ProviderKind::Plugin(_))
    }

    /// The class (or constant) that the object is of, as references name it; `None` for the engine itself.
    pub(crate) fn class(&self) -> Option<String> {
        match &self.server {
            ProviderKind::Live { reference, .. } => Some(class_of(reference)),
            ProviderKind::BuiltIn { .. } | ProviderKind::Plugin(_) | ProviderKind::Provider(_) => None,
        }
    }

    /// Has it that method?
    pub(crate) fn can_read(&self) -> bool {
        self.capabilities.read
    }

    /// Refuses a create that its class has no method for. Asked before the first step of a registration, because a
    /// replacement may begin with a deletion, and before a record that would name an object as perhaps made.
    ///
    /// # Errors
    /// The class lacks `create`.
    pub(crate) fn guard_create(&self) -> Result<(), ProviderError> {
        if self.capabilities.create {
            return Ok(());
        }
        let class = self.class().unwrap_or_default();
        let message = format!(
            "its provider {class} has no `create`, so that its object cannot be made: give the class a `create`, or \
             read an object that is there (`get`, or the resource option `import`)"
        );
        Err(ProviderError::new(ProviderErrorKind::NoMethod, message))
    }

    /// Can it look for the object of an earlier `create`?
    pub(crate) fn can_find(&self) -> bool {
        self.capabilities.find
    }

    /// Is it the engine itself?
    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.server, ProviderKind::BuiltIn { .. })
    }

    /// What stands for it in the state.
    pub(crate) fn stored(&self) -> StoredProvider {
        match (&self.server, &self.code) {
            (ProviderKind::Live { reference, .. }, _) => StoredProvider::Reference(Arc::clone(reference)),
            (_, Some(code)) => code.stored(),
            (_, None) => StoredProvider::Absent,
        }
    }

    /// Properties as it is shown them: live objects see no secrets and no references.
    pub(crate) fn shown(&self, properties: &PropertyMap) -> PropertyMap {
        match &self.server {
            ProviderKind::Live { .. } => for_provider(properties),
            _ => properties.clone(),
        }
    }
}
