//! The border to provider plugins: processes that serve the resources of a package.
//!
//! A plugin is numbered like a live object, so that limits, cancellation and faults are the same for both; what differs is
//! who makes it: the engine asks for a package, and a [`PluginHost`] finds and starts its plugin.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};

use async_trait::async_trait;

use crate::event::Severity;
use crate::provider::{
    Answer, CheckFailure, DiffAnswer, ExtensionParameter, ObjectId, ProviderCall, ProviderError, ProviderErrorKind,
};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::PropertyDependencies;
use crate::wire::provider::{CallRequest, ConstructRequest};

/// Numbers of plugins begin here; those of live objects are counted up from 0.
pub const FIRST_PLUGIN: ObjectId = 1 << 48;

/// A package, as a program or the state of a provider asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageRequest {
    /// The package's name, the first part of its types.
    pub name: String,
    /// The version of the package; empty for any.
    pub version: String,
    /// Where its plugin comes from; empty for the usual places.
    pub download_url: String,
    /// SHA-256 of the plugin's archive, in hexadecimal digits by platform (`linux-amd64`).
    pub checksums: BTreeMap<String, String>,
    /// What makes the package of another one's plugin.
    pub parameter: Option<PackageParameter>,
    /// For the code of dynamic resources: the packages of the components whose plugins made it, the likeliest first, or
    /// [`PackageRequest::of_caller`]. The SDK's server for such code runs in the environment of one of them. Else empty.
    pub environments: Vec<PackageRequest>,
}

/// What makes a package of another package's plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageParameter {
    /// Name of the package whose plugin it is.
    pub plugin: String,
    /// Version of that one; empty for any.
    pub version: String,
    /// What the plugin makes the package from.
    pub value: Vec<u8>,
}

/// Stands among [`PackageRequest::environments`] for the process that called the command line.
const CALLER: &str = "client";

impl PackageRequest {
    /// The environment of the process that called the command line, whose program is inline.
    #[must_use]
    pub fn of_caller() -> Self {
        Self { name: CALLER.to_owned(), ..Self::default() }
    }

    /// Is it that environment?
    #[must_use]
    pub fn is_of_caller(&self) -> bool {
        self.name == CALLER && self.environments.is_empty() && self.version.is_empty()
    }

    /// The package whose plugin serves it, and that package's version.
    #[must_use]
    pub fn plugin(&self) -> (&str, &str) {
        match &self.parameter {
            Some(parameter) => (&parameter.plugin, &parameter.version),
            None => (&self.name, &self.version),
        }
    }
}

/// A question to a plugin that is not about a resource of its own.
#[derive(Clone, Debug)]
pub enum PluginQuestion {
    /// Checks the inputs of a provider resource.
    CheckConfig {
        /// The provider resource.
        urn: Urn,
        /// Old inputs; empty when there is no old resource.
        olds: PropertyMap,
        /// New inputs.
        news: PropertyMap,
    },
    /// Says how the configuration of a provider resource differs.
    DiffConfig {
        /// The provider resource.
        urn: Urn,
        /// Old outputs.
        olds: PropertyMap,
        /// Old inputs.
        old_inputs: PropertyMap,
        /// New inputs.
        news: PropertyMap,
        /// Paths whose changes are ignored.
        ignore_changes: Vec<String>,
    },
    /// Hands the configuration over.
    Configure {
        /// The provider resource.
        urn: Urn,
        /// Its id; `None` in a preview that makes it.
        id: Option<String>,
        /// Its inputs.
        inputs: PropertyMap,
    },
    /// Has it serve a package that extends its own.
    Extend(ExtensionParameter),
    /// Calls a function.
    Invoke {
        /// Its token.
        token: String,
        /// Its arguments.
        arguments: PropertyMap,
        /// Is it a preview?
        preview: bool,
    },
    /// Makes a component.
    Construct {
        /// The component, without its inputs and without the address of the monitor.
        request: Box<ConstructRequest>,
        /// Its inputs, with output values.
        inputs: PropertyMap,
    },
    /// Calls a method of a resource.
    Call {
        /// The method, without its arguments and without the address of the monitor.
        request: Box<CallRequest>,
        /// Its arguments, with output values.
        arguments: PropertyMap,
    },
}

/// The answer to a [`PluginQuestion`], by its kind.
#[derive(Clone, Debug)]
pub enum PluginAnswer {
    /// To `CheckConfig`.
    Checked {
        /// The inputs to go on with.
        inputs: PropertyMap,
        /// Empty when all is well.
        failures: Vec<CheckFailure>,
    },
    /// To `DiffConfig`.
    Diffed(DiffAnswer),
    /// To `Configure`.
    Configured,
    /// To `Extend`.
    Extended,
    /// To `Construct`.
    Constructed {
        /// The component.
        urn: Urn,
        /// Its outputs.
        outputs: PropertyMap,
        /// What each output depends on.
        dependencies: BTreeMap<String, PropertyDependencies>,
    },
    /// To `Call`.
    Called {
        /// The result.
        result: PropertyMap,
        /// What each member of the result depends on.
        dependencies: BTreeMap<String, PropertyDependencies>,
        /// What is wrong with the arguments; empty when all is well.
        failures: Vec<CheckFailure>,
    },
    /// To `Invoke`.
    Returned {
        /// The result.
        result: PropertyMap,
        /// What is wrong with the arguments; empty when all is well.
        failures: Vec<CheckFailure>,
    },
}

/// The methods of the resource monitor, which [`PluginClient::answer`] takes.
pub const MONITOR_METHODS: [&str; 14] = [
    "RegisterResource",
    "RegisterResourceOutputs",
    "ReadResource",
    "ExistsResource",
    "Invoke",
    "Call",
    "RegisterStackTransform",
    "RegisterStackInvokeTransform",
    "RegisterResourceHook",
    "RegisterErrorHook",
    "RegisterPackage",
    "SignalAndWaitForShutdown",
    "GetDeploymentInfo",
    "SupportsFeature",
];

/// What plugins call back: the engine that they serve.
#[async_trait]
pub trait PluginClient: Send + Sync {
    /// Shows a message, without the secrets that the run knows; `urn` empty: it is about no resource.
    fn say(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool);

    /// Hears that a plugin is taken from a folder of `$PATH`.
    fn found_on_path(&self, _executable: &str, _file: &str) {}

    /// Answers a method of the resource monitor or the engine service, with and for protobuf bytes. An error has a gRPC
    /// status code and a text.
    async fn answer(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, (i32, String)>;
}

/// Finds, starts and calls the plugins of a run.
#[async_trait]
pub trait PluginHost: Send + Sync {
    /// Tells which engine the plugins serve: what they say and ask goes there.
    fn bind(&self, engine: Weak<dyn PluginClient>);

    /// Starts the plugin of a package for a provider resource; the number is [`FIRST_PLUGIN`] or more.
    ///
    /// # Errors
    /// [`ProviderErrorKind::NoProvider`]: there is no such plugin, or it does not come up.
    async fn start(&self, package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError>;

    /// Asks a plugin something that is not about a resource of its own.
    async fn ask(&self, plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError>;

    /// Calls a method of a plugin. Properties are shown whole: with secrets, references and unknowns.
    async fn call(&self, plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError>;

    /// Calls a function that a plugin registered, such as a hook, with and for protobuf bytes. `target` is where the plugin
    /// serves its functions.
    async fn call_back(&self, target: &str, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError>;

    /// The schema of a package as JSON, from its plugin, which is not configured for that.
    ///
    /// # Errors
    /// [`ProviderErrorKind::NoProvider`]: there is no such plugin, it does not come up, or it has no schema.
    async fn schema(&self, package: &PackageRequest) -> Result<Arc<[u8]>, ProviderError> {
        Err(no_plugins(&format!("the schema of the package '{}' is that of one", package.name)))
    }

    /// Asks all plugins to end what they do.
    fn cancel(&self);

    /// Ends one plugin.
    async fn stop(&self, plugin: ObjectId);

    /// Ends all plugins.
    async fn stop_all(&self);
}

/// The plugin host of an operation.
#[derive(Clone)]
pub struct PluginsOfRun(pub Arc<dyn PluginHost>);

impl Default for PluginsOfRun {
    fn default() -> Self {
        Self(Arc::new(NoPlugins))
    }
}

impl fmt::Debug for PluginsOfRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PluginsOfRun")
    }
}

/// The host of runs that have no plugins.
pub struct NoPlugins;

fn no_plugins(what: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::NoProvider, format!("this run has no plugins: {what}"))
}

#[async_trait]
impl PluginHost for NoPlugins {
    fn bind(&self, _engine: Weak<dyn PluginClient>) {}

    async fn start(&self, package: &PackageRequest, _provider: &Urn) -> Result<ObjectId, ProviderError> {
        Err(no_plugins(&format!(
            "the package '{}' is served by one, and nothing was given that could start it",
            package.name
        )))
    }

    async fn ask(&self, _plugin: ObjectId, _question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        Err(no_plugins("nothing can be asked"))
    }

    async fn call(&self, _plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        Err(no_plugins(&format!("there is none that could {}", call.method.name())))
    }

    async fn call_back(&self, target: &str, _token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(no_plugins(&format!("none serves functions at '{target}'")))
    }

    fn cancel(&self) {}

    async fn stop(&self, _plugin: ObjectId) {}

    async fn stop_all(&self) {}
}
