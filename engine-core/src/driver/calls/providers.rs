//! Who serves a resource, a live object, the engine or a plugin, and the calls that are made (docs/explanation/how-a-provider-is-found.md).

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atomic_refcell::{AtomicRefCell, AtomicRefMut};
use futures::future::{Either, select};

use crate::operation::Operation;
use crate::plugin::{PluginAnswer, PluginQuestion};
use crate::provider::{
    Answer, Capabilities, DiffAnswer, Method, ObjectId, PluginArguments, ProviderCall, ProviderDescription,
    ProviderError, ProviderErrorKind, ProviderReference, Revision, SerializedProvider, StoredProvider,
};
use crate::redaction::Redactor;
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::state::{Crypter, Snapshot, unseal};
use crate::urn::{Urn, UrnMap};
use crate::value::PropertyMap;

use crate::driver::calls::answer_validation::{complete_assets, fit_to_keep};
use crate::driver::calls::class_permits::PermitsByClass;
use crate::driver::calls::component_code::{ComponentCode, take_out};
use crate::driver::calls::configurations::{Configurations, ObjectConfiguration};
use crate::driver::calls::no_provider::{explained, foreign, not_found, plain_reference};
use crate::driver::calls::plugins::{PluginProviders, unconfigured_answer};
use crate::driver::calls::resolved_provider::{ProviderKind, ResolvedProvider, class_of};
use crate::driver::calls::shown_assets::shown_assets;
use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::{AskPlugin, BuiltIn, Call, Closable, Describe, Find, IsByHand, Rebuild};

mod for_imports;

/// The live objects of one run.
pub(crate) struct Providers {
    exchange: Arc<Exchange>,
    crypter: Option<Crypter>,
    project: String,
    redactor: Arc<Redactor>,
    known: AtomicRefCell<KnownProviders>,
    class_permits: PermitsByClass,
    next_call: AtomicU64,
    /// By resource: the method that failed last.
    failed: AtomicRefCell<BTreeMap<Urn, &'static str>>,
    /// What plugins serve.
    pub(crate) plugins: PluginProviders,
    /// What live objects are configured with.
    pub(crate) configurations: Configurations,
}

type ObjectMap<V> = HashMap<ObjectId, V, foldhash::fast::FixedState>;

#[derive(Default)]
struct KnownProviders {
    described: ObjectMap<ProviderDescription>,
    /// For objects that the program registered: the object that serves for it, which is the first of equal reference.
    serving: ObjectMap<ObjectId>,
    /// The object that serves a resource: registered for it in this run.
    by_urn: UrnMap<ObjectId>,
    /// The first object of each complete reference: it serves for all that equal it.
    by_reference: HashMap<Arc<ProviderReference>, ObjectId>,
    /// What was read from the state, by its ciphertext: equal references have equal ones.
    stored: HashMap<Arc<str>, Arc<ProviderReference>>,
    /// References with a revision that is not today's, each only once.
    kept: HashMap<ProviderReference, Arc<ProviderReference>>,
}

impl Providers {
    pub(crate) fn new(
        exchange: Arc<Exchange>,
        operation: &Operation,
        crypter: Option<Crypter>,
        base: &Snapshot,
    ) -> Self {
        Self {
            plugins: PluginProviders::new(Arc::clone(&exchange), operation, base),
            exchange,
            crypter,
            configurations: Configurations::new(operation),
            project: operation.project.clone(),
            redactor: Arc::clone(&operation.redactor),
            known: AtomicRefCell::default(),
            class_permits: PermitsByClass::default(),
            next_call: AtomicU64::new(0),
            failed: AtomicRefCell::default(),
        }
    }

    fn known(&self) -> AtomicRefMut<'_, KnownProviders> {
        self.known.borrow_mut()
    }

    async fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        if let Some(description) = self.known().described.get(&object) {
            return Ok(description.clone());
        }
        let mut description = self.exchange.ask(Describe(object)).await?;
        if !description.capabilities.delete {
            Arc::make_mut(&mut description.reference).lacks_delete = true;
        }
        self.known().described.insert(object, description.clone());
        Ok(description)
    }

    fn resolved(
        &self,
        object: ObjectId,
        description: &ProviderDescription,
        configuration: Arc<ObjectConfiguration>,
    ) -> ResolvedProvider {
        let class_permits = description.limits.as_ref().map(|limits| self.class_permits.of(limits));
        ResolvedProvider::live(object, description, class_permits, configuration)
    }

    /// Notes that the program passed this object for that resource. `provider`: the reference to its provider resource.
    pub(crate) async fn register_with(
        &self,
        urn: &Urn,
        object: ObjectId,
        provider: &str,
    ) -> Result<ResolvedProvider, ProviderError> {
        let (object, description) = self.register(urn, object).await?;
        Ok(self.resolved(object, &description, self.configurations.of(provider, &self.plugins)?))
    }

    /// Notes that the program passed this object for that resource. Gives the object that serves for it.
    pub(crate) async fn register(
        &self,
        urn: &Urn,
        object: ObjectId,
    ) -> Result<(ObjectId, ProviderDescription), ProviderError> {
        let description = self.describe(object).await?;
        let mut known = self.known();
        let object = if let Some(serving) = known.serving.get(&object) {
            *serving
        } else {
            let serving = if description.reference.is_complete() {
                *known.by_reference.entry(Arc::new(description.reference.identity())).or_insert(object)
            } else {
                object
            };
            known.serving.insert(object, serving);
            serving
        };
        known.by_urn.insert(urn.clone(), object);
        Ok((object, description))
    }

    /// The object that serves a resource, step by step: registered for the resource in this run; of equal reference in
    /// this run; registered by hand or found again by the host; else an error that names the ways out.
    pub(crate) async fn resolve(&self, resource: &ResourceState) -> Result<ResolvedProvider, ProviderError> {
        if let Some(resolved) = ResolvedProvider::built_in(&resource.kind) {
            return Ok(resolved);
        }
        let registered = self.known().by_urn.get(&resource.urn).copied();
        if let Some(object) = registered {
            let configuration = self.configurations.of(&resource.provider, &self.plugins)?;
            return Ok(self.resolved(object, &self.describe(object).await?, configuration));
        }
        if resource.served_by() == ServedBy::Plugin {
            let plugin = self.plugins.of_resource(resource)?;
            return Ok(match resource.code() {
                None => ResolvedProvider::plugin(plugin).with_extension(resource.extension.clone()),
                Some(code) => {
                    self.learn_code(code);
                    let code = ComponentCode::new(Arc::clone(code), Some(Arc::clone(code)));
                    ResolvedProvider::of_component(plugin, code)
                }
            });
        }
        let reference = self.stored_reference(resource)?;
        let identity = Arc::new(reference.identity());
        let same = if reference.is_complete() { self.known().by_reference.get(&identity).copied() } else { None };
        let object = match same {
            Some(object) => object,
            None => {
                match self
                    .exchange
                    .ask(Rebuild(Arc::clone(&reference)))
                    .await
                    .map_err(|error| explained(resource, &reference, error))?
                {
                    Some(object) => {
                        if reference.is_complete() {
                            self.known().by_reference.insert(identity, object);
                        }
                        object
                    }
                    None => return Err(not_found(resource, &reference)),
                }
            }
        };
        let description = self.describe(object).await?;
        let configuration = self.configurations.of(&resource.provider, &self.plugins)?;
        Ok(self.resolved(object, &ProviderDescription { reference, ..description }, configuration))
    }

    /// The object for a deletion; `None` where there is none, and its resource goes without a call.
    pub(crate) async fn resolve_for_deletion(
        &self,
        resource: &ResourceState,
    ) -> Result<Option<ResolvedProvider>, ProviderError> {
        match self.resolve(resource).await {
            Err(error) if error.kind == ProviderErrorKind::NoProvider && self.lacked_delete(resource) => Ok(None),
            resolved => resolved.map(Some),
        }
    }

    /// Does the state say that the resource's provider had no `delete`?
    fn lacked_delete(&self, resource: &ResourceState) -> bool {
        self.stored_reference(resource).is_ok_and(|reference| reference.lacks_delete)
    }

    /// Has secret code hidden in messages. The lines of a program's text are words of everything else, and are no such code.
    pub(crate) fn learn_code(&self, code: &SerializedProvider) {
        if code.secret && !code.text.contains('\n') {
            self.redactor.learn(&code.text);
        }
    }

    /// Will there be an object when the resource is to be deleted? Asked in a preview, so that no factory of the user's
    /// is called.
    pub(crate) async fn can_resolve(&self, resource: &ResourceState) -> Result<(), ProviderError> {
        let reference = match &resource.stored_provider {
            _ if self.serves(&resource.urn) || ResolvedProvider::built_in(&resource.kind).is_some() => return Ok(()),
            _ if resource.served_by() == ServedBy::Plugin => {
                return self.plugins.ready(&*self.plugins.of_resource(resource)?).await.map(|_| ());
            }
            _ => self.stored_reference(resource)?,
        };
        if self.exchange.ask(IsByHand(Arc::clone(&reference))).await {
            return Ok(());
        }
        match self.resolve_for_deletion(resource).await {
            Err(error) if error.kind == ProviderErrorKind::NoProvider => Err(error),
            // What else goes wrong there may go well in the update.
            _ => Ok(()),
        }
    }

    /// Did the program register an object for a resource in this run?
    pub(crate) fn serves(&self, urn: &Urn) -> bool {
        self.known().by_urn.contains_key(urn)
    }

    /// The object that the program registered for a resource in this run, as the stack's configuration configures it.
    pub(crate) async fn live(&self, urn: &Urn) -> Option<Result<ResolvedProvider, ProviderError>> {
        let object = self.known().by_urn.get(urn).copied()?;
        let of_stack = self.configurations.of_stack();
        Some(self.describe(object).await.map(|description| self.resolved(object, &description, of_stack)))
    }

    /// Is the object that serves a resource known by now: registered for the resource, or handed over by the program
    /// with an equal reference? Nothing is rebuilt from what is stored.
    pub(crate) async fn is_live(&self, resource: &ResourceState) -> bool {
        if self.serves(&resource.urn) {
            return true;
        }
        let Ok(reference) = self.stored_reference(resource) else { return false };
        if !reference.is_complete() {
            return false;
        }
        let reference = Arc::new(reference.identity());
        if self.known().by_reference.contains_key(&reference) {
            return true;
        }
        match self.exchange.ask(Find(Arc::clone(&reference))).await {
            Ok(Some(object)) => {
                self.known().by_reference.entry(reference).or_insert(object);
                true
            }
            // What could not be looked up is asked for again when it is needed, and its error told then.
            Ok(None) | Err(_) => false,
        }
    }

    /// The reference that a resource holds, or why there is none.
    pub(crate) fn stored_reference(&self, resource: &ResourceState) -> Result<Arc<ProviderReference>, ProviderError> {
        match &resource.stored_provider {
            StoredProvider::Reference(reference) => Ok(Arc::clone(reference)),
            StoredProvider::Sealed(ciphertext) => {
                if let Some(known) = self.known().stored.get(ciphertext) {
                    return Ok(Arc::clone(known));
                }
                let text = unseal(self.crypter.as_ref(), ciphertext)
                    .map_err(|error| ProviderError::new(ProviderErrorKind::NoProvider, error.to_string()))?;
                let reference: Arc<ProviderReference> =
                    serde_json::from_str(&text).map(Arc::new).map_err(|_| foreign(resource))?;
                reference.attributes.iter().for_each(|attributes| self.redactor.learn_attributes(attributes));
                self.known().stored.insert(Arc::clone(ciphertext), Arc::clone(&reference));
                Ok(reference)
            }
            StoredProvider::Foreign(value) => plain_reference(value).map(Arc::new).ok_or_else(|| foreign(resource)),
            StoredProvider::Absent | StoredProvider::Code(_) => Err(foreign(resource)),
        }
    }

    /// A reference with another revision; the same one for the same revision, because each is encrypted by itself.
    pub(crate) fn with_revision(
        &self,
        reference: &Arc<ProviderReference>,
        revision: Revision,
    ) -> Arc<ProviderReference> {
        if reference.revision == revision {
            return Arc::clone(reference);
        }
        let wanted = ProviderReference { revision, ..(**reference).clone() };
        let mut known = self.known();
        let kept = known.kept.entry(wanted);
        let shared = kept.key().clone();
        Arc::clone(kept.or_insert_with(|| Arc::new(shared)))
    }

    /// A number for a call that is about to be made.
    pub(crate) fn next_number(&self) -> u64 {
        self.next_call.fetch_add(1, Ordering::Relaxed)
    }

    /// Calls a method of an object, configuring it first if that was not done yet. What the object does not have is
    /// answered here, as the SDK's base classes do.
    pub(crate) async fn call(
        &self,
        resolved: &ResolvedProvider,
        urn: &Urn,
        method: Method,
    ) -> Result<Answer, ProviderError> {
        self.call_numbered(self.next_number(), resolved, urn, method, None).await
    }

    /// The same, with what a plugin is told beside the method's arguments.
    pub(crate) async fn call_with(
        &self,
        resolved: &ResolvedProvider,
        urn: &Urn,
        method: Method,
        for_plugin: Option<Box<PluginArguments>>,
    ) -> Result<Answer, ProviderError> {
        self.call_numbered(self.next_number(), resolved, urn, method, for_plugin).await
    }

    /// Calls a method of an object under a number, by which the call can be cancelled.
    pub(crate) async fn call_numbered(
        &self,
        number: u64,
        resolved: &ResolvedProvider,
        urn: &Urn,
        method: Method,
        for_plugin: Option<Box<PluginArguments>>,
    ) -> Result<Answer, ProviderError> {
        let (object, configuration) = match &resolved.server {
            ProviderKind::Live { object, configuration, .. } => (*object, configuration),
            ProviderKind::BuiltIn { kind } => return self.exchange.ask(BuiltIn(Arc::clone(kind), method)).await,
            ProviderKind::Plugin(provider) => {
                let (mut method, mut for_plugin) = (method, for_plugin);
                let is_known = resolved.code.as_ref().is_none_or(|code| code.hand_over(&mut method, &mut for_plugin));
                let extension = resolved.extension.as_deref();
                let plugin = if is_known { self.plugins.ready_for(provider, extension).await? } else { None };
                let Some(plugin) = plugin else { return Ok(unconfigured_answer(&method)) };
                let call = ProviderCall { for_plugin, ..ProviderCall::new(number, urn, method) };
                let mut answer = self.ask_host(plugin, call).await;
                if resolved.code.is_some() {
                    take_out(&mut answer);
                }
                return answer;
            }
            ProviderKind::Provider(resource) => {
                let PluginArguments { old_inputs, ignore_changes, .. } = *for_plugin.unwrap_or_default();
                let old_inputs = old_inputs.unwrap_or_default();
                // In a box of its own: provider resources are few.
                return Box::pin(resource.ask(&self.plugins, method, &old_inputs, ignore_changes)).await;
            }
        };
        if !self.configure(object, configuration, resolved.capabilities, urn).await? {
            return Ok(unconfigured_answer(&method));
        }
        if let Some(answer) = default_answer(resolved.capabilities, &method) {
            return Ok(answer);
        }
        let name = method.name();
        let shown = shown_assets(&method);
        let call = ProviderCall { configuration: configuration.number, ..ProviderCall::new(number, urn, method) };
        let answer = self.ask_host(object, call).await;
        fit_to_keep(&self.exchange, name, &shown, answer).await
    }

    /// Asks the plugin that serves a resource something that is not about the resource; `None` where its configuration is
    /// not known yet.
    pub(crate) async fn ask_plugin(
        &self,
        resolved: &ResolvedProvider,
        question: PluginQuestion,
    ) -> Result<Option<PluginAnswer>, ProviderError> {
        let ProviderKind::Plugin(provider) = &resolved.server else { return Ok(None) };
        let plugin = self.plugins.ready_for(provider, resolved.extension.as_deref()).await?;
        let Some(plugin) = plugin else { return Ok(None) };
        self.exchange.ask(AskPlugin(plugin, Box::new(question))).await.map(Some)
    }

    /// Can the plugin be asked: is all that it is configured with known?
    pub(crate) async fn is_configured(&self, resolved: &ResolvedProvider) -> Result<bool, ProviderError> {
        let ProviderKind::Plugin(provider) = &resolved.server else { return Ok(true) };
        Ok(self.plugins.ready(provider).await?.is_some())
    }

    /// Asks a plugin for something during which it registers resources. When one of them fails, the SDK in the plugin may
    /// wait for it for ever: nobody waits for the plugin then. `halted` resolves when the run is to end.
    pub(crate) async fn ask_plugin_until(
        &self,
        halted: impl Future<Output = ()> + Send,
        resolved: &ResolvedProvider,
        question: PluginQuestion,
    ) -> Result<Option<PluginAnswer>, ProviderError> {
        match select(pin!(halted), pin!(self.ask_plugin(resolved, question))).await {
            Either::Left(((), _)) => Err(ProviderError::new(ProviderErrorKind::Cancelled, "the run has ended")),
            Either::Right((answer, _)) => answer,
        }
    }

    /// Puts hashes into the assets of the properties.
    pub(crate) async fn complete_assets(&self, properties: &mut PropertyMap) -> Result<(), String> {
        complete_assets(&self.exchange, properties).await
    }

    async fn ask_host(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let (urn, method) = (call.urn.clone(), call.method.name());
        let answer = self.exchange.ask(Call(object, call)).await;
        if answer.is_err() {
            self.failed.borrow_mut().insert(urn, method);
        }
        answer
    }

    /// The method of a resource's provider that failed last.
    pub(crate) fn failed_method(&self, urn: &Urn) -> Option<&'static str> {
        self.failed.borrow().get(urn).copied()
    }

    /// Has an object configured, once for each configuration. `false` where that is not known yet.
    async fn configure(
        &self,
        object: ObjectId,
        configuration: &ObjectConfiguration,
        can: Capabilities,
        urn: &Urn,
    ) -> Result<bool, ProviderError> {
        if !can.configure {
            return Ok(true);
        }
        let Some(values) = &configuration.values else { return Ok(false) };
        let configuring = self.configurations.configuring(object, configuration, urn);
        let outcome = configuring.outcome.get_or_do(async || {
            let method = Method::Configure { config: Arc::clone(values), project: self.project.clone() };
            let call = ProviderCall::new(self.next_number(), urn, method);
            self.ask_host(object, ProviderCall { configuration: configuration.number, ..call }).await.map(|_| ())
        });
        outcome.await.map(|()| true)
    }

    /// The objects that were configured and have a `close`, once for each configuration.
    pub(crate) fn take_closable(&self) -> Vec<Closable> {
        let configured = self.configurations.take_configured().into_iter();
        let closable = configured.filter_map(|(object, configuration, urn)| {
            let known = self.known();
            let description = known.described.get(&object).filter(|it| it.capabilities.close)?;
            let class = class_of(&description.reference);
            Some(Closable { object, configuration, number: self.next_number(), urn, class })
        });
        closable.collect()
    }
}

fn default_answer(capabilities: Capabilities, method: &Method) -> Option<Answer> {
    match method {
        Method::Check { news, .. } if !capabilities.check => {
            Some(Answer::Checked { inputs: news.clone(), failures: Vec::new() })
        }
        Method::Diff { .. } if !capabilities.diff => Some(Answer::Diffed(DiffAnswer::default())),
        Method::Read { id, props, .. } if !capabilities.read => {
            Some(Answer::Read { id: id.clone(), outputs: Some(props.clone()), inputs: None, read_first: false })
        }
        Method::Update { .. } if !capabilities.update => {
            Some(Answer::Updated { outputs: PropertyMap::new(), read_first: false })
        }
        Method::Delete { .. } if !capabilities.delete => Some(Answer::Deleted),
        Method::Find { .. } if !capabilities.find => {
            Some(Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false })
        }
        _ => None,
    }
}
