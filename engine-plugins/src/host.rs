//! The plugins of one run, by their numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use async_trait::async_trait;
use futures::future::join_all;
use semver::Version;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;

use maloko_core::autonaming::CONFIG_KEY;
use maloko_core::event::Severity;
use maloko_core::plugin::{FIRST_PLUGIN, PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{Answer, ObjectId, ProviderCall, ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_rpc::child::{Child, ChildCommand};
use maloko_rpc::{Client, OrphanWatch, Server, TRACE, lock};

use crate::acquire::Acquisition;
use crate::engine_service::{EngineCell, EngineService, MonitorGate};
use crate::failures::no_provider;
use crate::functions::PluginFunctions;
use crate::install::GitPlace;
use crate::locate::{LocateError, LocatedPlugin, attached, locate};
use crate::programs::runtime_command::PluginCommand;
use crate::programs::{caller, dynamic_server};
use crate::provider::RunningPlugin;
use crate::settings::{PluginSettings, TERRAFORM_CACHE};
use crate::terraform;
use crate::views::ViewTokens;

/// See the module's text. Nothing is begun, not even a thread, before the first plugin is started: a run may fork before.
pub struct Plugins {
    shared: Arc<PluginRegistry>,
    runtime: OnceLock<Option<Runtime>>,
}

/// The schemas that were asked for, by package.
#[derive(Default)]
struct Schemas(Mutex<BTreeMap<PackageRequest, Arc<OnceCell<Schema>>>>);

/// JSON.
type Schema = Arc<[u8]>;

impl Schemas {
    fn of(&self, package: &PackageRequest) -> Arc<OnceCell<Schema>> {
        Arc::clone(lock(&self.0).entry(package.clone()).or_default())
    }
}

struct PluginRegistry {
    settings: PluginSettings,
    engine: EngineCell,
    running: Mutex<BTreeMap<ObjectId, Arc<RunningPlugin>>>,
    next: AtomicU64,
    warned: Mutex<BTreeSet<String>>,
    service: OnceCell<Server>,
    monitor: MonitorGate,
    views: ViewTokens,
    functions: PluginFunctions,
    orphans: OnceLock<Arc<Mutex<OrphanWatch>>>,
    acquisition: Acquisition,
    schemas: Schemas,
}

impl Plugins {
    /// The plugins of a run with these settings.
    #[must_use]
    pub fn new(settings: PluginSettings) -> Self {
        let shared = PluginRegistry {
            settings,
            engine: Arc::default(),
            running: Mutex::default(),
            next: AtomicU64::new(FIRST_PLUGIN),
            warned: Mutex::default(),
            service: OnceCell::new(),
            monitor: MonitorGate::default(),
            views: ViewTokens::default(),
            functions: PluginFunctions::default(),
            orphans: OnceLock::new(),
            acquisition: Acquisition::default(),
            schemas: Schemas::default(),
        };
        Self { shared: Arc::new(shared), runtime: OnceLock::new() }
    }

    /// Does something on the threads of the plugins. Whoever waits for it may be on any other one.
    async fn on_runtime<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ProviderError>> + Send + 'static,
    ) -> Result<T, ProviderError> {
        let made =
            || Builder::new_multi_thread().worker_threads(1).thread_name("maloko-plugins").enable_all().build().ok();
        let runtime = self.runtime.get_or_init(made).as_ref();
        let runtime = runtime.ok_or_else(|| no_provider("no thread can be started for plugins".to_owned()))?;
        runtime.spawn(work).await.unwrap_or_else(|error| {
            let message = format!("what became of the call is not known, because maloko's own code failed: {error}");
            Err(ProviderError::new(ProviderErrorKind::BadReturn, message))
        })
    }
}

/// A schema, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSchema {
    /// The schema, as JSON.
    pub schema: Vec<u8>,
    /// The version that the plugin says it has; empty when it does not say.
    pub plugin_version: String,
}

impl Plugins {
    /// The schema of a plugin's package, or of the one that it makes of what a user wrote behind its name. No run asks.
    ///
    /// # Errors
    /// When the plugin cannot be had or started, does not make the package, or gives no schema.
    pub async fn schema_with(
        &self,
        plugin: &PackageRequest,
        arguments: &[String],
    ) -> Result<FoundSchema, ProviderError> {
        let (shared, plugin, arguments) = (Arc::clone(&self.shared), plugin.clone(), arguments.to_vec());
        self.on_runtime(async move {
            let number = shared.start(&plugin, &Urn::unchecked("")).await?;
            let running = shared.plugin(number)?;
            let schema = match arguments.as_slice() {
                [] => running.schema(&plugin).await?,
                arguments => {
                    shared.provide(&plugin, arguments).await?;
                    let made = running.schema_of_arguments(arguments).await;
                    made.map_err(|error| shared.with_help(&plugin, error))?
                }
            };
            Ok(FoundSchema { schema, plugin_version: running.version.clone() })
        })
        .await
    }
}

impl PluginRegistry {
    fn plugin(&self, number: ObjectId) -> Result<Arc<RunningPlugin>, ProviderError> {
        lock(&self.running).get(&number).cloned().ok_or_else(|| no_provider("its plugin has ended".to_owned()))
    }

    fn orphans(&self) -> Result<Arc<Mutex<OrphanWatch>>, ProviderError> {
        if let Some(orphans) = self.orphans.get() {
            return Ok(Arc::clone(orphans));
        }
        let begun = OrphanWatch::begin();
        let begun = begun.map_err(|error| no_provider(format!("/bin/sh cannot be started beside plugins: {error}")))?;
        Ok(Arc::clone(self.orphans.get_or_init(|| Arc::new(Mutex::new(begun)))))
    }

    async fn service(&self) -> Result<&Server, ProviderError> {
        let (engine, monitor, views) = (Arc::clone(&self.engine), self.monitor.clone(), self.views.clone());
        let service = self.service.get_or_try_init(|| EngineService::begin(engine, monitor, views)).await;
        service.map_err(|error| no_provider(format!("no port can be had for plugins: {error}")))
    }

    /// Asks a plugin. Those that make components, or answer for methods, may register resources until they have answered.
    async fn ask(&self, plugin: &RunningPlugin, mut question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        let endpoint = match &mut question {
            PluginQuestion::Construct { request, .. } => &mut request.monitor_endpoint,
            PluginQuestion::Call { request, .. } => &mut request.monitor_endpoint,
            _ => return plugin.ask(question).await,
        };
        self.service().await?.address().clone_into(endpoint);
        let _open = self.monitor.open();
        plugin.ask(question).await
    }

    async fn start(&self, package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError> {
        let service = self.service().await?;
        let failed = |reason: String| no_provider(format!("the plugin of the package '{}': {reason}", package.name));
        let located = if package.environments.is_empty() {
            self.located(package, provider).await
        } else {
            self.located_server(package, provider).await
        };
        let (port, process) = match located.map_err(no_provider)? {
            LocatedPlugin::Attached(port) => (port, None),
            LocatedPlugin::Program { command, on_path, installed } => {
                if let Some(folder) = installed {
                    folder.note_use();
                }
                if on_path && let Some(engine) = self.engine.get().and_then(Weak::upgrade) {
                    let file = command.program.display().to_string();
                    engine.found_on_path(&format!("pulumi-resource-{}", package.plugin().0), &file);
                }
                let orphans = self.orphans()?;
                let limit = self.settings.start_limit().map_err(&failed)?;
                let mut command = child_command(command, &self.settings, &package.name, service.address());
                if package.plugin().0 == terraform::PLUGIN {
                    // By itself it goes by the home of the user, whatever HOME says.
                    let cache = terraform::cache_folder(&self.settings).map(|folder| folder.display().to_string());
                    command.variables.extend(cache.map(|folder| (TERRAFORM_CACHE.to_owned(), folder)));
                }
                let (process, port) = Child::serving(&command, limit, &orphans, None).await.map_err(&failed)?;
                (port, Some(process))
            }
        };
        let client = match Client::connect(port).await {
            Ok(client) => client,
            Err(reason) => {
                let mut words = String::new();
                if let Some(process) = &process {
                    process.end().await;
                    words = process.last_words();
                }
                return Err(failed(format!("{reason}{words}")));
            }
        };
        self.provide(package, &[]).await?;
        let plugin = RunningPlugin::greet(client, process, service.address(), self.views.clone(), package).await;
        let plugin = plugin.map_err(|error| self.with_help(package, error))?;
        self.look_at_version(package, &plugin.version);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.running).insert(number, Arc::new(plugin));
        Ok(number)
    }

    /// Finds the server for the code of dynamic resources that components' plugins made: one that runs already, else the
    /// SDK's in the environment of one of these plugins. The error says of each why it cannot be had.
    async fn located_server(&self, package: &PackageRequest, provider: &Urn) -> Result<LocatedPlugin, String> {
        if let Some(port) = attached(&self.settings, &package.name)? {
            return Ok(LocatedPlugin::Attached(port));
        }
        let mut reasons = Vec::new();
        for of in &package.environments {
            if of.is_of_caller() {
                let caller = caller::command(&package.name)?;
                let mut command = dynamic_server::beside(&caller, of, &package.name, &self.settings)?;
                command.variables.extend(caller.variables);
                return Ok(LocatedPlugin::Program { command, on_path: false, installed: None });
            }
            let found = match self.located(of, provider).await {
                Ok(LocatedPlugin::Program { command, installed, .. }) => {
                    if let Some(folder) = installed {
                        folder.note_use();
                    }
                    dynamic_server::beside(&command, of, &package.name, &self.settings)
                }
                Ok(LocatedPlugin::Attached(_)) => {
                    Err(dynamic_server::unknown_environment(of, &package.name, "was started by somebody else"))
                }
                Err(reason) => Err(reason),
            };
            match found {
                Ok(command) => return Ok(LocatedPlugin::Program { command, on_path: false, installed: None }),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(reasons.join("\n"))
    }

    /// Finds the plugin of a package; one that is missing is installed.
    async fn located(&self, package: &PackageRequest, provider: &Urn) -> Result<LocatedPlugin, String> {
        let locate = || locate(&self.settings, package, &|text| self.warn(text));
        match locate() {
            Err(LocateError::Missing(_)) => {}
            other => return other.map_err(LocateError::into_text),
        }
        let _turn = self.acquisition.turn(package).await;
        match locate() {
            // Nobody else has installed it meanwhile.
            Err(LocateError::Missing(missing)) => {
                let (settings, engine) = (&self.settings, &self.engine);
                self.acquisition.install(settings, package, provider, engine, missing).await?;
                locate().map_err(LocateError::into_text)
            }
            other => other.map_err(LocateError::into_text),
        }
    }

    /// Has a mirror give what the plugin runs, where the user has one.
    async fn provide(&self, package: &PackageRequest, arguments: &[String]) -> Result<(), ProviderError> {
        if !terraform::has_mirror(&self.settings, package) {
            return Ok(());
        }
        let (settings, package, arguments) = (self.settings.clone(), package.clone(), arguments.to_vec());
        let quiet = crate::install::Quiet;
        let provided =
            tokio::task::spawn_blocking(move || terraform::provide(&settings, &package, &arguments, &quiet)).await;
        match provided {
            Ok(done) => done.map_err(|error| no_provider(error.to_string())),
            Err(error) => Err(no_provider(format!("maloko's own code failed: {error}"))),
        }
    }

    fn with_help(&self, package: &PackageRequest, error: ProviderError) -> ProviderError {
        let is_of_network =
            ["connect", "dial tcp", "no such host"].iter().any(|word| error.message.to_string().contains(word));
        if package.plugin().0 == terraform::PLUGIN && is_of_network {
            return no_provider(format!("{}{}", error.message, terraform::help(&self.settings, package)));
        }
        error
    }

    /// Warns, once of the same.
    fn warn(&self, text: &str) {
        if !lock(&self.warned).insert(text.to_owned()) {
            return;
        }
        if let Some(engine) = self.engine.get().and_then(Weak::upgrade) {
            engine.say("", Severity::Warning, text, false);
        }
    }

    /// Warns of a plugin that is older than what was asked for.
    fn look_at_version(&self, package: &PackageRequest, has: &str) {
        let (name, wanted) = package.plugin();
        if GitPlace::is_meant(&package.download_url) {
            // Its version is a tag or a commit of the repository, of which the plugin itself knows nothing.
            return;
        }
        let parse = |text: &str| Version::parse(text.strip_prefix('v').unwrap_or(text)).ok();
        let Some(wanted) = parse(wanted) else { return };
        if parse(has).is_none_or(|has| has < wanted) {
            let has = if has.is_empty() { "does not say its version".to_owned() } else { format!("has {has}") };
            self.warn(&format!(
                "resource plugin {name} is expected to have version >={wanted}, but {has}; the wrong version may be on your \
                 path, or this may be a bug in the plugin"
            ));
        }
    }
}

#[async_trait]
impl PluginHost for Plugins {
    fn bind(&self, engine: Weak<dyn PluginClient>) {
        // A run has one engine.
        drop(self.shared.engine.set(engine));
    }

    async fn start(&self, package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError> {
        let (shared, package, provider) = (Arc::clone(&self.shared), package.clone(), provider.clone());
        self.on_runtime(async move { shared.start(&package, &provider).await }).await
    }

    async fn ask(&self, plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        let (shared, plugin) = (Arc::clone(&self.shared), self.shared.plugin(plugin)?);
        self.on_runtime(async move { shared.ask(&plugin, question).await }).await
    }

    async fn call_back(&self, target: &str, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        let (shared, target, token) = (Arc::clone(&self.shared), target.to_owned(), token.to_owned());
        self.on_runtime(async move { shared.functions.call(&target, token, request).await }).await
    }

    async fn call(&self, plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let plugin = self.shared.plugin(plugin)?;
        if call.for_plugin.as_ref().is_some_and(|beside| beside.autonaming.is_some()) && !plugin.features().autonaming {
            self.shared.warn(&format!(
                "{CONFIG_KEY} has no effect on the package '{0}': its plugin takes no names from the engine. Update the \
                 plugin, or give providers.{0} the mode default in {CONFIG_KEY}",
                plugin.package
            ));
        }
        let trace = call.trace.clone();
        self.on_runtime(TRACE.scope(trace, async move { plugin.call(call).await })).await
    }

    async fn schema(&self, package: &PackageRequest) -> Result<Arc<[u8]>, ProviderError> {
        let (shared, package) = (Arc::clone(&self.shared), package.clone());
        let cell = shared.schemas.of(&package);
        self.on_runtime(async move {
            let made = cell.get_or_try_init(|| async {
                // No provider resource asked: what is said of an installation is about the run.
                let number = shared.start(&package, &Urn::unchecked("")).await?;
                Ok(shared.plugin(number)?.schema(&package).await?.into())
            });
            made.await.cloned()
        })
        .await
    }

    fn cancel(&self) {
        self.shared.acquisition.cancel();
        let Some(Some(runtime)) = self.runtime.get() else { return };
        for plugin in lock(&self.shared.running).values() {
            let plugin = Arc::clone(plugin);
            runtime.spawn(async move { plugin.cancel().await });
        }
    }

    async fn stop(&self, plugin: ObjectId) {
        let Some(running) = lock(&self.shared.running).remove(&plugin) else { return };
        let ends = async move {
            running.end().await;
            Ok(())
        };
        drop(self.on_runtime(ends).await);
    }

    async fn stop_all(&self) {
        let running = std::mem::take(&mut *lock(&self.shared.running));
        if running.is_empty() {
            return;
        }
        let ends = async move {
            join_all(running.values().map(|plugin| plugin.end())).await;
            Ok(())
        };
        drop(self.on_runtime(ends).await);
    }
}

impl Drop for Plugins {
    fn drop(&mut self) {
        if let Some(Some(runtime)) = self.runtime.take() {
            // Whoever drops this may be on a thread of another runtime, which must not wait.
            runtime.shutdown_background();
        }
    }
}

/// How a plugin is started, and what its environment has beside that of the run.
fn child_command(command: PluginCommand, settings: &PluginSettings, package: &str, engine: &str) -> ChildCommand {
    let config: serde_json::Map<String, serde_json::Value> =
        settings.config_of(package).map(|(key, value)| (key.to_owned(), value.into())).collect();
    let given = [
        ("PULUMI_PROJECT".to_owned(), settings.project.clone()),
        ("PULUMI_CONFIG".to_owned(), serde_json::Value::Object(config).to_string()),
    ];
    let options = settings.runtime_options.iter();
    let options = options.map(|(name, value)| (format!("PULUMI_RUNTIME_{}", name.to_uppercase()), value.clone()));
    let own = command.variables.into_iter().map(|(name, value)| (name.to_owned(), value));
    let mut arguments = command.arguments;
    arguments.push(engine.into());
    ChildCommand {
        program: command.program,
        arguments,
        directory: settings.program_directory.clone(),
        variables: settings.without_proxy().into_iter().chain(given).chain(options).chain(own).collect(),
    }
}
