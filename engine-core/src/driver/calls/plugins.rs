//! The provider resources whose packages are served by plugins, and the plugins that are started for them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atomic_refcell::AtomicRefCell;
use base64::Engine as _;
use semver::Version;

use crate::message;
use crate::message::Command;
use crate::operation::Operation;
use crate::plugin::{PackageParameter, PackageRequest, PluginQuestion};
use crate::provider::{Answer, DiffAnswer, Extension, Method, ObjectId, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::Snapshot;
use crate::urn::{Urn, UrnMap, reference_parts};
use crate::value::{PropertyMap, UNKNOWN_TEXTS, Value};

use crate::driver::answers::RpcError;
use crate::driver::calls::extensions::ExtendedPlugin;
use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::{AskPlugin, StartPlugin};
use crate::driver::permits::Once;

/// A provider resource's plugin, once it is needed.
pub(crate) struct PluginProvider {
    /// The provider resource.
    pub(crate) urn: Urn,
    configuration: Configuration,
    /// Its plugin, or why there is none. A plugin that a registration started is there from the beginning.
    started: Once<Result<ObjectId, ProviderError>>,
    configured: Once<Result<(), ProviderError>>,
    /// What its plugin was extended by.
    extended: ExtendedPlugin,
    /// Did anybody ask for it to be ready?
    was_needed: AtomicBool,
}

impl PluginProvider {
    fn new(urn: &Urn, configuration: Configuration, started: Once<Result<ObjectId, ProviderError>>) -> Arc<Self> {
        Arc::new(Self {
            urn: urn.clone(),
            configuration,
            started,
            configured: Once::default(),
            extended: ExtendedPlugin::default(),
            was_needed: AtomicBool::new(false),
        })
    }

    /// The package that it is of; `None` where its configuration is not known yet.
    fn package(&self) -> Option<&PackageRequest> {
        match &self.configuration {
            Configuration::Known { package, .. } => Some(package),
            Configuration::Unknown => None,
        }
    }

    /// The inputs of the provider resource as its plugin has them; `None` where they are not known yet.
    pub(crate) fn inputs(&self) -> Option<Arc<PropertyMap>> {
        match &self.configuration {
            Configuration::Known { inputs, .. } => Some(Arc::clone(inputs)),
            Configuration::Unknown => None,
        }
    }
}

/// What a plugin is configured with.
enum Configuration {
    /// Something of it is not known yet, in a preview: nothing can be asked.
    Unknown,
    /// These inputs, with the id of the provider resource; `None` in a preview that makes it.
    Known { package: Box<PackageRequest>, id: Option<String>, inputs: Arc<PropertyMap> },
}

/// The plugins of one run by the references to their provider resources.
pub(crate) struct PluginProviders {
    pub(crate) exchange: Arc<Exchange>,
    by_reference: AtomicRefCell<BTreeMap<ProviderKey, Arc<PluginProvider>>>,
    /// The states of provider resources that the run began with, by reference.
    resources: BTreeMap<String, Arc<ResourceState>>,
    /// By package.
    defaults: AtomicRefCell<BTreeMap<PackageRequest, Arc<DefaultProvider>>>,
    /// What the program registered, with what extends it.
    packages: AtomicRefCell<Vec<RegisteredPackage>>,
    /// What the program's language says that it uses, by name.
    required: AtomicRefCell<BTreeMap<String, PackageRequest>>,
    /// The provider resources of the components that plugins made in this run, by reference.
    components: AtomicRefCell<UrnMap<String>>,
    /// In which environments the code of resources runs that components registered in this run.
    environments: AtomicRefCell<UrnMap<Vec<PackageRequest>>>,
    dry_run: bool,
    caller_code: bool,
    was_started: AtomicBool,
}

/// The reference to a provider resource, and the packages in whose plugins' environments its plugin runs: none but for code
/// of components.
type ProviderKey = (String, Vec<PackageRequest>);

/// The reference to a default provider resource, or why there is none.
pub(crate) type DefaultProvider = Once<Result<String, RpcError>>;

/// The package whose plugin serves what the program registered, and what extends that.
pub(crate) type RegisteredPackage = (PackageRequest, Option<Arc<Extension>>);

/// What begins the references to packages that the program registers.
const PACKAGE: &str = "maloko:package:";

/// A reference with one form for ids that are not known yet.
pub(super) fn normal(reference: &str) -> String {
    match reference_parts(reference) {
        Some((urn, id)) if UNKNOWN_TEXTS.contains(&id) => format!("{urn}::"),
        _ => reference.to_owned(),
    }
}

impl PluginProviders {
    pub(crate) fn new(exchange: Arc<Exchange>, operation: &Operation, base: &Snapshot) -> Self {
        let providers =
            base.resources.iter().filter(|resource| resource.custom && resource.urn.provider_package().is_some());
        let resources = providers.map(|resource| (resource.as_provider_reference(), Arc::clone(resource))).collect();
        Self {
            exchange,
            by_reference: AtomicRefCell::default(),
            resources,
            defaults: AtomicRefCell::default(),
            packages: AtomicRefCell::default(),
            required: AtomicRefCell::default(),
            components: AtomicRefCell::default(),
            environments: AtomicRefCell::default(),
            dry_run: operation.dry_run,
            caller_code: operation.caller_code,
            was_started: AtomicBool::new(false),
        }
    }

    /// Starts a plugin for a provider resource that is registered.
    pub(crate) async fn start(&self, package: &PackageRequest, urn: &Urn) -> Result<ObjectId, ProviderError> {
        self.was_started.store(true, Ordering::Relaxed);
        self.exchange.ask(StartPlugin(Box::new(package.clone()), urn.clone())).await
    }

    /// Takes note of a provider resource that was registered, with its plugin and what that is configured with.
    pub(crate) fn register(
        &self,
        resource: &ResourceState,
        plugin: ObjectId,
        inputs: &Arc<PropertyMap>,
    ) -> Arc<PluginProvider> {
        let unknown = self.dry_run && inputs.values().any(Value::contains_unknown);
        let configuration = if unknown {
            Configuration::Unknown
        } else {
            let id = (!resource.id.is_empty()).then(|| resource.id.clone());
            let inputs = Arc::new(without_internal(inputs));
            Configuration::Known { package: Box::new(package_of_resource(resource)), id, inputs }
        };
        let provider = PluginProvider::new(&resource.urn, configuration, Once::done(Ok(plugin)));
        let reference = resource.as_provider_reference();
        self.by_reference.borrow_mut().insert((reference, Vec::new()), Arc::clone(&provider));
        provider
    }

    /// The state of a provider resource that the run began with.
    pub(crate) fn resource(&self, reference: &str) -> Option<&Arc<ResourceState>> {
        self.resources.get(reference)
    }

    /// The outcome of registering the default provider resource of a package: its reference.
    pub(crate) fn default_provider(&self, package: &PackageRequest) -> Arc<DefaultProvider> {
        let mut defaults = self.defaults.borrow_mut();
        Arc::clone(defaults.entry(package.clone()).or_default())
    }

    /// Takes note of the provider resource that makes a component.
    pub(crate) fn note_component(&self, urn: &Urn, provider: &str) {
        self.components.borrow_mut().insert(urn.clone(), provider.to_owned());
    }

    /// The provider resource that made a component in this run, by its reference.
    pub(crate) fn provider_of_component(&self, urn: &Urn) -> Option<String> {
        self.components.borrow().get(urn).cloned()
    }

    /// Takes note of a package that the program registers, or of what extends that; equal ones have one reference.
    pub(crate) fn add_package(&self, registered: RegisteredPackage) -> String {
        let mut packages = self.packages.borrow_mut();
        let number = packages.iter().position(|known| *known == registered).unwrap_or_else(|| {
            packages.push(registered);
            packages.len() - 1
        });
        format!("{PACKAGE}{number}")
    }

    /// A package that the program registered, with what extends it.
    pub(crate) fn package(&self, reference: &str) -> Option<RegisteredPackage> {
        let number: usize = reference.strip_prefix(PACKAGE)?.parse().ok()?;
        self.packages.borrow().get(number).cloned()
    }

    /// Takes note of what the program uses. Of one package in several versions it is the newest.
    pub(crate) fn require(&self, packages: Vec<PackageRequest>) {
        let version = |package: &PackageRequest| Version::parse(&package.version).ok();
        let mut required = self.required.borrow_mut();
        for package in packages {
            match required.get(&package.name) {
                Some(known) if version(known) >= version(&package) => {}
                _ => drop(required.insert(package.name.clone(), package)),
            }
        }
    }

    /// The package that a provider resource is to serve: one that nobody names a version of is the one that the program's
    /// language says it uses.
    pub(crate) fn as_required(&self, package: &PackageRequest) -> PackageRequest {
        let required = self.required.borrow();
        let Some(required) = required.get(&package.name).filter(|_| package.version.is_empty()) else {
            return package.clone();
        };
        let mut settled = PackageRequest { environments: package.environments.clone(), ..required.clone() };
        if !package.download_url.is_empty() {
            settled.download_url.clone_from(&package.download_url);
        }
        if !package.checksums.is_empty() {
            settled.checksums.clone_from(&package.checksums);
        }
        if package.parameter.is_some() {
            settled.parameter.clone_from(&package.parameter);
        }
        settled
    }

    /// The plugin of a provider resource: of one that this run registered, else of a resource that it began with.
    pub(crate) fn of(&self, reference: &str) -> Result<Arc<PluginProvider>, ProviderError> {
        self.in_environment(reference, Vec::new(), None)
    }

    /// The plugin that serves a resource.
    pub(super) fn of_resource(&self, resource: &ResourceState) -> Result<Arc<PluginProvider>, ProviderError> {
        match resource.code() {
            None => self.of(&resource.provider),
            Some(_) => self.in_environment(&resource.provider, self.environments_of(&resource.urn)?, None),
        }
    }

    /// The plugin that runs the code of a resource which a component's plugin registers. `inputs` are those of its provider
    /// resource.
    pub(crate) fn of_component(
        &self,
        urn: &Urn,
        component: &str,
        reference: &str,
        inputs: &Arc<PropertyMap>,
    ) -> Result<Arc<PluginProvider>, ProviderError> {
        let package = self.of(component)?.package().cloned();
        let environments = vec![package.ok_or_else(|| no_environment(urn))?];
        self.environments.borrow_mut().insert(urn.clone(), environments.clone());
        self.in_environment(reference, environments, Some(inputs))
    }

    /// The plugin that runs the code of a resource of an inline program.
    pub(crate) fn of_caller(
        &self,
        urn: &Urn,
        reference: &str,
        inputs: &Arc<PropertyMap>,
    ) -> Result<Arc<PluginProvider>, ProviderError> {
        let environments = vec![PackageRequest::of_caller()];
        self.environments.borrow_mut().insert(urn.clone(), environments.clone());
        self.in_environment(reference, environments, Some(inputs))
    }

    /// The packages whose plugins have what the code of a resource needs, the likeliest first: that of the component which this
    /// run made, else those of the types above it, as the state has them, else the caller.
    fn environments_of(&self, urn: &Urn) -> Result<Vec<PackageRequest>, ProviderError> {
        if let Some(known) = self.environments.borrow().get(urn) {
            return Ok(known.clone());
        }
        let known = self.by_reference.borrow();
        let registered: Vec<PackageRequest> = known.values().filter_map(|it| it.package().cloned()).collect();
        let mut found = Vec::new();
        for above in urn.packages_above() {
            let of_package = |package: &PackageRequest| package.name == above && package.environments.is_empty();
            let in_state = self.resources.values().filter(|resource| resource.urn.provider_package() == Some(above));
            let mut packages: Vec<PackageRequest> = in_state.map(|resource| package_of_resource(resource)).collect();
            packages.extend(registered.iter().filter(|package| of_package(package)).cloned());
            packages.sort_by_key(|package| Reverse(Version::parse(&package.version).ok()));
            found.extend(packages);
        }
        found.dedup();
        if found.is_empty() && self.caller_code {
            found.push(PackageRequest::of_caller());
        }
        if found.is_empty() { Err(no_environment(urn)) } else { Ok(found) }
    }

    fn in_environment(
        &self,
        reference: &str,
        environments: Vec<PackageRequest>,
        inputs: Option<&Arc<PropertyMap>>,
    ) -> Result<Arc<PluginProvider>, ProviderError> {
        let reference = normal(reference);
        let key = (reference, environments);
        if let Some(known) = self.by_reference.borrow().get(&key) {
            return Ok(Arc::clone(known));
        }
        let (reference, environments) = key;
        let resource = self.resources.get(&reference);
        let (urn, id) = reference_parts(&reference).unwrap_or_default();
        let Some(inputs) = inputs.or_else(|| resource.map(|resource| &resource.inputs)) else {
            let message = if reference.is_empty() {
                "its resource names no provider: was it written by another tool?".to_owned()
            } else {
                format!("its provider '{reference}' is neither in the state nor in the program")
            };
            return Err(ProviderError::new(ProviderErrorKind::NoProvider, message));
        };
        let urn = Urn::unchecked(urn);
        let package = package_of_inputs(urn.provider_package().unwrap_or_default(), inputs);
        let configuration = Configuration::Known {
            package: Box::new(PackageRequest { environments: environments.clone(), ..package }),
            id: (!id.is_empty()).then(|| id.to_owned()),
            inputs: Arc::new(without_internal(inputs)),
        };
        let provider = PluginProvider::new(&urn, configuration, Once::default());
        self.by_reference.borrow_mut().insert((reference.clone(), environments), Arc::clone(&provider));
        Ok(provider)
    }

    /// All whose plugins were asked for.
    pub(crate) fn all(&self) -> Vec<Arc<PluginProvider>> {
        let known = self.by_reference.borrow();
        known.values().filter(|provider| provider.was_needed.load(Ordering::Relaxed)).cloned().collect()
    }

    /// Was any plugin asked for?
    pub(crate) fn were_needed(&self) -> bool {
        !self.by_reference.borrow().is_empty() || self.was_started.load(Ordering::Relaxed)
    }

    /// The number of a provider's plugin, started and configured; `None` where its configuration is not known yet.
    pub(crate) async fn ready(&self, provider: &PluginProvider) -> Result<Option<ObjectId>, ProviderError> {
        let Configuration::Known { package, id, inputs } = &provider.configuration else { return Ok(None) };
        provider.was_needed.store(true, Ordering::Relaxed);
        let started = provider.started.get_or_do(async || {
            let started = self.exchange.ask(StartPlugin(Box::new((**package).clone()), provider.urn.clone())).await;
            started.map_err(|mut error| {
                error.message = format!("its provider cannot be loaded: {}", error.message).into();
                error
            })
        });
        let plugin = started.await?;
        let configured = provider.configured.get_or_do(async || {
            let (urn, id, inputs) = (provider.urn.clone(), id.clone(), (**inputs).clone());
            self.exchange
                .ask(AskPlugin(plugin, Box::new(PluginQuestion::Configure { urn, id, inputs })))
                .await
                .map(|_| ())
        });
        configured.await?;
        Ok(Some(plugin))
    }

    /// The same once the plugin serves what extends its package, too.
    pub(crate) async fn ready_for(
        &self,
        provider: &PluginProvider,
        extension: Option<&Extension>,
    ) -> Result<Option<ObjectId>, ProviderError> {
        let plugin = self.ready(provider).await?;
        if let (Some(plugin), Some(extension)) = (plugin, extension) {
            provider.extended.extend(&self.exchange, plugin, extension).await?;
        }
        Ok(plugin)
    }
}

/// There is no plugin that could run the code of a resource.
fn no_environment(urn: &Urn) -> ProviderError {
    let above: Vec<&str> = urn.packages_above().collect();
    let message = message![
        format!(
            "no plugin can run the code of '{urn}': a component's plugin made it, and neither the state nor the program has a \
             provider of a package above it ({}). Run ",
            above.join(", ")
        ),
        Command::new("up"),
        " with the program that makes the component, or, if the object is already gone, ",
        Command::new("state delete").quoted(urn)
    ];
    ProviderError::new(ProviderErrorKind::NoProvider, message)
}

/// The member of a provider resource's inputs that is the engine's own.
pub(crate) const INTERNAL: &str = "__internal";

/// Inputs of a provider resource as its plugin is told them.
pub(crate) fn without_internal(inputs: &PropertyMap) -> PropertyMap {
    inputs.iter().filter(|(key, _)| *key != INTERNAL).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The package that the state of a provider resource is of. Old states have at the top what new ones have in
/// `__internal`.
#[must_use]
pub fn package_of_resource(resource: &ResourceState) -> PackageRequest {
    package_of_inputs(resource.urn.provider_package().unwrap_or_default(), &resource.inputs)
}

/// The package of a provider resource with these inputs.
pub(super) fn package_of_inputs(name: &str, inputs: &PropertyMap) -> PackageRequest {
    let empty = PropertyMap::new();
    let internal = match inputs.get(INTERNAL).map(Value::plain) {
        Some(Value::Object(members)) => members,
        _ => empty,
    };
    let text = |properties: &PropertyMap, key: &str| match properties.get(key).map(Value::plain) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let own = |key: &str| {
        let found = text(&internal, key);
        if found.is_empty() { text(inputs, key) } else { found }
    };
    let checksums = match internal.get("pluginChecksums") {
        Some(Value::Object(members)) => {
            members.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
        }
        _ => BTreeMap::new(),
    };
    let parameter = own("parameterization");
    PackageRequest {
        name: name.to_owned(),
        version: text(inputs, "version"),
        download_url: own("pluginDownloadURL"),
        checksums,
        environments: Vec::new(),
        parameter: (!parameter.is_empty()).then(|| PackageParameter {
            plugin: text(&internal, "name"),
            version: text(&internal, "version"),
            value: base64::engine::general_purpose::STANDARD.decode(parameter).unwrap_or_default(),
        }),
    }
}

/// What stands for the answer of a plugin whose configuration is not known yet.
pub(super) fn unconfigured_answer(method: &Method) -> Answer {
    match method {
        Method::Check { news, .. } => Answer::Checked { inputs: news.clone(), failures: Vec::new() },
        Method::Diff { .. } => Answer::Diffed(DiffAnswer { changes: Some(true), ..DiffAnswer::default() }),
        Method::Create { .. } => Answer::created("", PropertyMap::new()),
        Method::Update { .. } => Answer::Updated { outputs: PropertyMap::new(), read_first: false },
        Method::Read { id, .. } => {
            Answer::Read { id: id.clone(), outputs: Some(PropertyMap::new()), inputs: None, read_first: false }
        }
        Method::Find { .. } => Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false },
        Method::Delete { .. } => Answer::Deleted,
        Method::Configure { .. } => Answer::Configured,
        Method::Close => Answer::Closed,
    }
}
