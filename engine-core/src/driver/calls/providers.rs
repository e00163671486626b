//! Which live object serves a resource, and the calls that are made of it (design: "Which provider object is called").

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;

use crate::assets;
use crate::builtin::{self, OtherStacks};
use crate::operation::Operation;
use crate::provider::{
    Answer, Capabilities, DiffAnswer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError,
    ProviderErrorKind, ProviderHost, ProviderReference, Revision, StoredProvider,
};
use crate::redaction::Redactor;
use crate::resource_state::ResourceState;
use crate::state::Session;
use crate::urn::{Urn, UrnMap};
use crate::value::PropertyMap;

use crate::driver::calls::answer_validation::shown_assets;
use crate::driver::calls::call_permits::PermitsByClass;
use crate::driver::calls::closing::Closable;
use crate::driver::calls::no_provider::{explained, foreign, not_found, plain_reference};
use crate::driver::calls::resolved_provider::{ProviderKind, ResolvedProvider, class_of};
use crate::driver::plain_config;

/// The live objects of one run.
pub(in crate::driver) struct Providers {
    host: Arc<dyn ProviderHost>,
    config: Arc<BTreeMap<String, String>>,
    project: String,
    /// Where relative paths of assets begin.
    directory: Arc<Path>,
    /// Other stacks, for the resources that the engine serves itself.
    pub(in crate::driver) stacks: OtherStacks,
    redactor: Arc<Redactor>,
    known: Mutex<Known>,
    class_permits: PermitsByClass,
    next_call: AtomicU64,
    calls: Mutex<BTreeMap<u64, InFlight>>,
    /// By resource: the method that failed last.
    failed: Mutex<BTreeMap<Urn, &'static str>>,
    cancelled: AtomicBool,
}

/// A call that is being made.
struct InFlight {
    urn: Urn,
    method: &'static str,
    began: Instant,
    /// How long it had taken when it was last told of.
    told: Duration,
}

type ObjectMap<V> = HashMap<ObjectId, V, foldhash::fast::FixedState>;

#[derive(Default)]
struct Known {
    described: ObjectMap<ProviderDescription>,
    /// For objects that the program registered: the object that serves for it, which is the first of equal reference.
    serving: ObjectMap<ObjectId>,
    /// The object that serves a resource: registered for it in this run.
    by_urn: UrnMap<ObjectId>,
    /// The first object of each complete reference: it serves for all that equal it.
    by_reference: HashMap<Arc<ProviderReference>, ObjectId>,
    configured: ObjectMap<Arc<Configuration>>,
    /// What was read from the state, by its ciphertext: equal references have equal ones.
    stored: HashMap<Arc<str>, Arc<ProviderReference>>,
    /// References with a revision that is not today's, each only once.
    kept: HashMap<ProviderReference, Arc<ProviderReference>>,
}

/// What came of an object's `configure`.
struct Configuration {
    /// The first resource that needed it.
    urn: Urn,
    outcome: OnceCell<Result<(), ProviderError>>,
    is_closed: AtomicBool,
}

impl Providers {
    pub(in crate::driver) fn new(host: Arc<dyn ProviderHost>, operation: &Operation) -> Self {
        Self {
            host,
            config: Arc::new(plain_config(operation)),
            project: operation.project.clone(),
            directory: operation.program_directory.clone().into(),
            stacks: operation.stacks.clone(),
            redactor: Arc::clone(&operation.redactor),
            known: Mutex::default(),
            class_permits: PermitsByClass::default(),
            next_call: AtomicU64::new(0),
            calls: Mutex::default(),
            failed: Mutex::default(),
            cancelled: AtomicBool::new(false),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        if let Some(description) = self.known().described.get(&object) {
            return Ok(description.clone());
        }
        let description = self.host.describe(object)?;
        self.known().described.insert(object, description.clone());
        Ok(description)
    }

    fn resolved(&self, object: ObjectId, description: &ProviderDescription) -> ResolvedProvider {
        let class_permits = description.limits.as_ref().map(|limits| self.class_permits.of(limits));
        ResolvedProvider::live(object, description, class_permits)
    }

    /// Notes that the program passed this object for that resource.
    pub(in crate::driver) fn register(&self, urn: &Urn, object: ObjectId) -> Result<ResolvedProvider, ProviderError> {
        let description = self.describe(object)?;
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
        Ok(self.resolved(object, &description))
    }

    /// The object that serves a row, by the ladder: registered for the resource in this run; of equal reference in
    /// this run; registered by hand or found again by the host; else an error that names the ways out.
    pub(in crate::driver) async fn resolve(
        &self,
        row: &ResourceState,
        session: &Session,
    ) -> Result<ResolvedProvider, ProviderError> {
        if let Some(resolved) = ResolvedProvider::built_in(&row.kind) {
            return Ok(resolved);
        }
        let registered = self.known().by_urn.get(&row.urn).copied();
        if let Some(object) = registered {
            return Ok(self.resolved(object, &self.describe(object)?));
        }
        let reference = self.stored_reference(row, session)?;
        let identity = Arc::new(reference.identity());
        let same = if reference.is_complete() { self.known().by_reference.get(&identity).copied() } else { None };
        let object = match same {
            Some(object) => object,
            None => match self.host.rebuild(&reference).await.map_err(|error| explained(row, &reference, error))? {
                Some(object) => {
                    if reference.is_complete() {
                        self.known().by_reference.insert(identity, object);
                    }
                    object
                }
                None => return Err(not_found(row, &reference)),
            },
        };
        let description = self.describe(object)?;
        Ok(self.resolved(object, &ProviderDescription { reference, ..description }))
    }

    /// Will there be an object when the row is to be deleted? Asked in a preview, so that no factory of the user's is called.
    pub(in crate::driver) async fn can_resolve(
        &self,
        row: &ResourceState,
        session: &Session,
    ) -> Result<(), ProviderError> {
        let reference = match &row.stored_provider {
            _ if self.serves(&row.urn) || ResolvedProvider::built_in(&row.kind).is_some() => return Ok(()),
            _ => self.stored_reference(row, session)?,
        };
        if self.host.is_by_hand(&reference).await.unwrap_or(false) {
            return Ok(());
        }
        match self.resolve(row, session).await {
            Err(error) if error.kind == ProviderErrorKind::NoProvider => Err(error),
            // What else goes wrong there may go well in the update.
            _ => Ok(()),
        }
    }

    /// Did the program register an object for a resource in this run?
    pub(in crate::driver) fn serves(&self, urn: &Urn) -> bool {
        self.known().by_urn.contains_key(urn)
    }

    /// The object that the program registered for a resource in this run.
    pub(in crate::driver) fn live(&self, urn: &Urn) -> Option<Result<ResolvedProvider, ProviderError>> {
        let object = self.known().by_urn.get(urn).copied()?;
        Some(self.describe(object).map(|description| self.resolved(object, &description)))
    }

    /// The objects that the program registered for resources of a type, each with one of those resources.
    pub(in crate::driver) fn live_of_type(&self, kind: &str) -> Vec<(Urn, ObjectId)> {
        let known = self.known();
        let mut found: Vec<_> = known.by_urn.iter().filter(|(urn, _)| urn.own_type() == kind).collect();
        found.sort_unstable();
        found.dedup_by_key(|(_, object)| **object);
        found.into_iter().map(|(urn, object)| (urn.clone(), *object)).collect()
    }

    /// The object that the user named by its place; made if there is only a class.
    pub(in crate::driver) async fn named(
        &self,
        reference: &Arc<ProviderReference>,
    ) -> Result<Option<ResolvedProvider>, ProviderError> {
        let known = self.known().by_reference.get(reference).copied();
        let object = match known {
            Some(object) => object,
            None => match self.host.named(reference).await? {
                Some(object) => object,
                None => return Ok(None),
            },
        };
        // Noted under what was named, so that there is one object of it in the run.
        self.known().by_reference.insert(Arc::clone(reference), object);
        let description = self.describe(object)?;
        Ok(Some(self.resolved(object, &description)))
    }

    /// Is the object that serves a row known by now: registered for the resource, or handed over by the program with an
    /// equal reference? Nothing is rebuilt from what is stored.
    pub(in crate::driver) async fn is_live(&self, row: &ResourceState, session: &Session) -> bool {
        if self.serves(&row.urn) {
            return true;
        }
        let Ok(reference) = self.stored_reference(row, session) else { return false };
        if !reference.is_complete() {
            return false;
        }
        let reference = Arc::new(reference.identity());
        if self.known().by_reference.contains_key(&reference) {
            return true;
        }
        match self.host.find(&reference).await {
            Ok(Some(object)) => {
                self.known().by_reference.entry(reference).or_insert(object);
                true
            }
            // What could not be looked up is asked for again when it is needed, and its error told then.
            Ok(None) | Err(_) => false,
        }
    }

    /// The reference that a row holds, or why there is none.
    pub(in crate::driver) fn stored_reference(
        &self,
        row: &ResourceState,
        session: &Session,
    ) -> Result<Arc<ProviderReference>, ProviderError> {
        match &row.stored_provider {
            StoredProvider::Reference(reference) => Ok(Arc::clone(reference)),
            StoredProvider::Sealed(ciphertext) => {
                if let Some(known) = self.known().stored.get(ciphertext) {
                    return Ok(Arc::clone(known));
                }
                let text = session
                    .unseal(ciphertext)
                    .map_err(|error| ProviderError::new(ProviderErrorKind::NoProvider, error.to_string()))?;
                let reference: Arc<ProviderReference> =
                    serde_json::from_str(&text).map(Arc::new).map_err(|_| foreign(row))?;
                reference.attributes.iter().for_each(|attributes| self.redactor.learn_attributes(attributes));
                self.known().stored.insert(Arc::clone(ciphertext), Arc::clone(&reference));
                Ok(reference)
            }
            StoredProvider::Foreign(value) => plain_reference(value).map(Arc::new).ok_or_else(|| foreign(row)),
            StoredProvider::Absent => Err(foreign(row)),
        }
    }

    /// A reference with another revision; the same one for the same revision, because each is encrypted by itself.
    pub(in crate::driver) fn with_revision(
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
    pub(in crate::driver) fn next_number(&self) -> u64 {
        self.next_call.fetch_add(1, Ordering::Relaxed)
    }

    /// Calls a method of an object, configuring it first if that was not done yet. What the object does not have is
    /// answered here, as the SDK's base classes do.
    pub(in crate::driver) async fn call(
        &self,
        resolved: &ResolvedProvider,
        urn: &Urn,
        method: Method,
    ) -> Result<Answer, ProviderError> {
        self.call_numbered(self.next_number(), resolved, urn, method).await
    }

    /// Calls a method of an object under a number, by which the call can be cancelled.
    pub(in crate::driver) async fn call_numbered(
        &self,
        number: u64,
        resolved: &ResolvedProvider,
        urn: &Urn,
        method: Method,
    ) -> Result<Answer, ProviderError> {
        let object = match &resolved.server {
            ProviderKind::Live { object, .. } => *object,
            ProviderKind::BuiltIn { kind } => return builtin::answer(kind, method, &self.stacks).await,
        };
        self.configure(object, resolved.capabilities, urn).await?;
        if let Some(answer) = default_answer(resolved.capabilities, &method) {
            return Ok(answer);
        }
        let name = method.name();
        let shown = shown_assets(&method);
        let answer = self.ask_host(object, ProviderCall { number, urn: urn.clone(), method }).await;
        self.fit_to_keep(name, &shown, answer).await
    }

    /// Puts hashes into the assets of the properties. Files and addresses are read on a thread of their own: the one
    /// that asks may be that of the program's event loop.
    pub(in crate::driver) async fn complete_assets(&self, properties: &mut PropertyMap) -> Result<(), String> {
        if !assets::any_in(properties) {
            return Ok(());
        }
        let (directory, mut own) = (Arc::clone(&self.directory), std::mem::take(properties));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let read = move || {
            let outcome = assets::complete(&mut own, &directory).map(|()| own);
            // Nobody waits any more when the run was cut off.
            drop(sender.send(outcome));
        };
        #[expect(clippy::disallowed_methods, reason = "the files are the program's own, and large")]
        let begun = std::thread::Builder::new().name("maloko-assets".to_owned()).spawn(read);
        begun.map_err(|error| format!("no thread can be started to read its assets: {error}"))?;
        *properties = receiver.await.map_err(|_| "the reading of its assets was cut off".to_owned())??;
        Ok(())
    }

    /// Lists a call among those in flight, until what this gives is dropped.
    fn list(&self, call: &ProviderCall) -> Listed<'_> {
        let (urn, method, began) = (call.urn.clone(), call.method.name(), self.host.now());
        self.calls().insert(call.number, InFlight { urn, method, began, told: Duration::ZERO });
        Listed(self, call.number)
    }

    /// Makes a call, which counts as one in flight until it is answered or given up.
    async fn ask_host(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let _listed = self.list(&call);
        if self.cancelled.load(Ordering::Acquire) {
            self.host.cancel(&[call.number]);
        }
        let (urn, method) = (call.urn.clone(), call.method.name());
        self.host.call(object, call).await.map_err(|error| {
            self.failed().insert(urn, method);
            let mut error = error.bounded();
            // They are kept in the state, where nobody looks for secrets.
            if let ProviderErrorKind::NotInitialized { properties, reasons, .. } = &mut error.kind {
                self.redactor.learn_properties(properties);
                for reason in reasons {
                    *reason = self.redactor.message(reason).into_owned();
                }
            }
            error
        })
    }

    fn failed(&self) -> MutexGuard<'_, BTreeMap<Urn, &'static str>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The method of a resource's provider that failed last.
    pub(in crate::driver) fn failed_method(&self, urn: &Urn) -> Option<&'static str> {
        self.failed().get(urn).copied()
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<u64, InFlight>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::driver) fn calls_in_flight(&self) -> Vec<(Urn, &'static str)> {
        self.calls().values().map(|call| (call.urn.clone(), call.method)).collect()
    }

    /// Tells the code of all calls in flight that the run is to end.
    pub(in crate::driver) fn cancel_calls(&self) {
        self.cancelled.store(true, Ordering::Release);
        let numbers: Vec<u64> = self.calls().keys().copied().collect();
        if !numbers.is_empty() {
            self.host.cancel(&numbers);
        }
    }

    /// The calls to be told of: those that have taken `first`, and twice as long as when they were last told of.
    pub(in crate::driver) fn take_slow(&self, now: Instant, first: Duration) -> Vec<(Urn, &'static str, Duration)> {
        let mut slow = Vec::new();
        for call in self.calls().values_mut() {
            let age = now.saturating_duration_since(call.began);
            if age >= first.max(call.told.saturating_mul(2)) {
                call.told = age;
                slow.push((call.urn.clone(), call.method, age));
            }
        }
        slow
    }

    async fn configure(&self, object: ObjectId, can: Capabilities, urn: &Urn) -> Result<(), ProviderError> {
        if !can.configure {
            return Ok(());
        }
        let first = || {
            let (outcome, is_closed) = (OnceCell::new(), AtomicBool::new(false));
            Arc::new(Configuration { urn: urn.clone(), outcome, is_closed })
        };
        let configuration = Arc::clone(self.known().configured.entry(object).or_insert_with(first));
        let outcome = configuration.outcome.get_or_init(async || {
            let method = Method::Configure { config: Arc::clone(&self.config), project: self.project.clone() };
            self.ask_host(object, ProviderCall { number: self.next_number(), urn: urn.clone(), method })
                .await
                .map(|_| ())
        });
        outcome.await.clone()
    }

    /// The objects that were configured and have a `close`, each only once.
    pub(in crate::driver) fn take_closable(&self) -> Vec<Closable> {
        // They stay known as configured: a call that was given up before it began must not configure an object again.
        let known = self.known();
        let mut closable: Vec<Closable> = known
            .configured
            .iter()
            .filter(|(_, configuration)| matches!(configuration.outcome.get(), Some(Ok(()))))
            .filter_map(|(object, configuration)| {
                let description = known.described.get(object).filter(|it| it.capabilities.close)?;
                let is_first = !configuration.is_closed.swap(true, Ordering::AcqRel);
                let class = class_of(&description.reference);
                is_first.then(|| Closable { object: *object, urn: configuration.urn.clone(), class })
            })
            .collect();
        closable.sort_unstable_by_key(|it| it.object);
        closable
    }

    /// Calls `close`, also in a run that was cancelled.
    pub(in crate::driver) async fn close(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let _listed = self.list(&call);
        self.host.call(object, call).await.map_err(ProviderError::bounded)
    }
}

/// A call in the list of those in flight; it leaves the list also when it is given up.
struct Listed<'a>(&'a Providers, u64);

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.0.calls().remove(&self.1);
    }
}

fn default_answer(capabilities: Capabilities, method: &Method) -> Option<Answer> {
    match method {
        Method::Check { news, .. } if !capabilities.check => {
            Some(Answer::Checked { inputs: news.clone(), failures: Vec::new() })
        }
        Method::Diff { .. } if !capabilities.diff => Some(Answer::Diffed(DiffAnswer::default())),
        Method::Read { id, props, .. } if !capabilities.read => {
            Some(Answer::Read { id: id.clone(), outputs: Some(props.clone()), inputs: None })
        }
        Method::Update { .. } if !capabilities.update => Some(Answer::Updated { outputs: PropertyMap::new() }),
        Method::Delete { .. } if !capabilities.delete => Some(Answer::Deleted),
        Method::Find { .. } if !capabilities.find => {
            Some(Answer::Read { id: String::new(), outputs: None, inputs: None })
        }
        _ => None,
    }
}
