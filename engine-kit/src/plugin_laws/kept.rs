//! A plugin that goes on from run to run: to start it for each would take most of the time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_core::PropertyMap;
use maloko_core::event::Severity;
use maloko_core::plugin::{PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{Answer, ObjectId, ProviderCall, ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;

use super::transcript::PluginTranscript;

/// The methods that change something.
pub(crate) const WRITING: [&str; 3] = ["create", "update", "delete"];

/// See the module's text.
pub(crate) struct KeptPlugin {
    plugins: Arc<dyn PluginHost>,
    pub(crate) transcript: Arc<PluginTranscript>,
    relay: Arc<Relay>,
    running: Mutex<Running>,
    /// Is nothing more to be made?
    given_up: AtomicBool,
    /// What is done, once, before a call that changes something.
    before_writing: Mutex<Option<BoxFuture<'static, ()>>>,
}

#[derive(Default)]
struct Running {
    by_package: BTreeMap<PackageRequest, ObjectId>,
    /// What each was configured with.
    configured: BTreeMap<ObjectId, PropertyMap>,
    /// Was it told to end, or has it died?
    spent: bool,
}

impl KeptPlugin {
    pub(super) fn new(plugins: Arc<dyn PluginHost>) -> Self {
        let transcript = Arc::<PluginTranscript>::default();
        let relay = Arc::new(Relay { engine: Mutex::new(None), transcript: Arc::clone(&transcript) });
        let as_client: Arc<dyn PluginClient> = Arc::clone(&relay) as _;
        plugins.bind(Arc::downgrade(&as_client));
        Self {
            plugins,
            transcript,
            relay,
            running: Mutex::default(),
            given_up: AtomicBool::new(false),
            before_writing: Mutex::default(),
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes nothing more: what goes on is asked to end, and what was made can be deleted.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::SeqCst);
        self.cancel();
    }

    /// Has something done before the next call that changes something; `None`: nothing more.
    pub(crate) fn before_writing(&self, work: Option<BoxFuture<'static, ()>>) {
        *self.before_writing.lock().unwrap_or_else(PoisonError::into_inner) = work;
    }

    /// Ends the process.
    pub(crate) async fn end(&self) {
        *self.running() = Running::default();
        self.plugins.stop_all().await;
    }
}

#[async_trait]
impl PluginHost for KeptPlugin {
    fn bind(&self, engine: Weak<dyn PluginClient>) {
        *self.relay.engine.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine);
    }

    async fn start(&self, package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError> {
        if self.running().spent {
            self.end().await;
        }
        if let Some(number) = self.running().by_package.get(package) {
            return Ok(*number);
        }
        let number = self.plugins.start(package, provider).await?;
        self.running().by_package.insert(package.clone(), number);
        Ok(number)
    }

    async fn ask(&self, plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        let PluginQuestion::Configure { inputs, .. } = &question else {
            return self.plugins.ask(plugin, question).await;
        };
        // A plugin is configured once.
        if self.running().configured.get(&plugin) == Some(inputs) {
            return Ok(PluginAnswer::Configured);
        }
        let inputs = inputs.clone();
        let answer = self.plugins.ask(plugin, question).await?;
        self.running().configured.insert(plugin, inputs);
        Ok(answer)
    }

    async fn call(&self, plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let (method, preview) = (call.method.name(), call.for_plugin.as_ref().is_some_and(|it| it.preview));
        if self.given_up.load(Ordering::SeqCst) && matches!(method, "create" | "update") {
            return Err(ProviderError::new(ProviderErrorKind::Cancelled, "the judge was stopped"));
        }
        self.transcript.enters(method);
        if WRITING.contains(&method) && !preview {
            let before = self.before_writing.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(before) = before {
                before.await;
            }
        }
        let outcome = self.plugins.call(plugin, call).await;
        if !preview || method == "read" || outcome.is_err() {
            self.transcript.ended(method, &outcome);
        }
        if matches!(&outcome, Err(error) if error.kind == ProviderErrorKind::Died) {
            self.running().spent = true;
        }
        outcome
    }

    async fn call_back(&self, target: &str, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        self.plugins.call_back(target, token, request).await
    }

    fn cancel(&self) {
        self.running().spent = true;
        self.plugins.cancel();
    }

    async fn stop(&self, _plugin: ObjectId) {}

    /// What is spent ends when the next run starts it: how long a process takes to end is no call's time.
    async fn stop_all(&self) {}
}

/// Passes on to the engine of the present run what the plugin says and asks.
struct Relay {
    engine: Mutex<Option<Weak<dyn PluginClient>>>,
    transcript: Arc<PluginTranscript>,
}

/// The method by which plugins tell of views.
const VIEWS: &str = "PublishViewSteps";

impl Relay {
    fn engine(&self) -> Option<Arc<dyn PluginClient>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade)
    }
}

#[async_trait]
impl PluginClient for Relay {
    fn say(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        self.transcript.say(message);
        if let Some(engine) = self.engine() {
            engine.say(urn, severity, message, ephemeral);
        }
    }

    fn found_on_path(&self, executable: &str, file: &str) {
        if let Some(engine) = self.engine() {
            engine.found_on_path(executable, file);
        }
    }

    async fn answer(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, (i32, String)> {
        match self.engine() {
            Some(engine) => engine.answer(method, request).await,
            // A law that calls the plugin by itself has no use for its views, and they are no failure.
            None if method == VIEWS => Ok(Vec::new()),
            None => Err((14, "no run is going on".to_owned())),
        }
    }
}
