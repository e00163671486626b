//! A host whose provider does what tests tell it to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::executor::block_on;
use futures::future::BoxFuture;
use prost::Message;

use crate::autonaming::Autonaming;
use crate::provider::{
    Answer, CallLimits, Capabilities, CheckFailure, DiffAnswer, Method, ObjectId, ProviderCall, ProviderDescription,
    ProviderError, ProviderErrorKind, ProviderHost, ProviderReference, Revision,
};
use crate::value::{PropertyMap, Value};

use crate::driver::outside::layers::time_limits::LAST_WORD;

/// One provider object that echoes its inputs, replaces when `zone` changes, and fails where it is told to. Its
/// objects are numbered; every call is written down.
#[derive(Default)]
pub(crate) struct ScriptedHost {
    pub(crate) calls: Mutex<Vec<String>>,
    pub(crate) faults: Mutex<HashMap<(String, &'static str), ProviderErrorKind>>,
    pub(crate) delete_first: bool,
    pub(crate) made: Mutex<u32>,
    /// What its objects declare of their names.
    pub(crate) autonaming: Option<Autonaming>,
    /// Which code its objects are of.
    pub(crate) revision: Revision,
    /// Why they could not be found again.
    pub(crate) incomplete: Option<&'static str>,
    /// Has its object no `configure`?
    pub(crate) unconfigured: bool,
    /// Are there objects that were registered by hand?
    pub(crate) by_hand: bool,
    /// What `read` finds, by the resource's name: other outputs, or that the object is gone.
    pub(crate) world: Mutex<HashMap<String, Option<PropertyMap>>>,
    /// The id that `read` gives all objects, whatever they are asked for by.
    pub(crate) one_id: Option<&'static str>,
    /// What `create`, `update` and `check` give beside what they echo, by the resource's name.
    pub(crate) gives: Mutex<HashMap<(String, &'static str), PropertyMap>>,
    /// Do its objects lack `create`?
    pub(crate) without_create: bool,
    /// Do they lack `delete`?
    pub(crate) without_delete: bool,
    /// Do they lack `read`?
    pub(crate) without_read: bool,
    /// Has the provider a `close`?
    pub(crate) closes: bool,
    /// What `find` finds, by the resource's name; `None`: the provider has no such method.
    pub(crate) finds: Option<Mutex<HashMap<String, (String, PropertyMap)>>>,
    /// The operation keys that `create` got, in the order of the calls.
    pub(crate) keys: Mutex<Vec<String>>,
    /// Objects that the program made before its first registration.
    pub(crate) live: Vec<ObjectId>,
    /// Calls that last longer than any limit.
    pub(crate) hanging: Mutex<HashMap<(String, &'static str), Hanging>>,
    /// Calls that go on until they are told to end.
    pub(crate) unreported: Mutex<Vec<futures::channel::oneshot::Sender<()>>>,
    /// Some call was told to end.
    pub(crate) told: AtomicBool,
    /// Where tasks run.
    pub(crate) threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
    pub(crate) released: (Mutex<bool>, Condvar),
    /// Does a call hold its thread?
    pub(crate) held: (Mutex<bool>, Condvar),
    /// Functions of the program by token.
    pub(crate) functions: Mutex<HashMap<String, Function>>,
    /// Requests that every program makes before its resources.
    pub(crate) prelude: Mutex<Vec<(&'static str, Vec<u8>)>>,
    /// How often its methods may be called. Time then passes as fast as it is waited for.
    pub(crate) limits: Option<CallLimits>,
    /// Do calls that hold their threads end when they are told to?
    pub(crate) obedient: bool,
    /// So often the watch over calls may look; with its last look, calls that hold their threads are let go.
    pub(crate) looks: Mutex<u32>,
    /// When the host was first asked for the time, and how much has passed since.
    pub(crate) clock: (OnceLock<Instant>, Mutex<Duration>),
}

/// A call that lasts longer than any limit.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Hanging {
    /// It can be cancelled, which is noted among the calls.
    Async,
    /// It goes on until it is told to end, and then answers.
    UntilTold,
    /// It holds its thread, until the method of the resource `releasing` is called.
    Sync,
}

struct NotedWhenDropped<'a>(&'a ScriptedHost, String);

impl Drop for NotedWhenDropped<'_> {
    fn drop(&mut self) {
        lock(&self.0.calls).push(format!("{} cancelled", self.1));
    }
}

/// A function of the program: takes and gives the bytes of a message.
pub(crate) type Function = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync>;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptedHost {
    /// A host whose provider deletes before it replaces.
    pub(crate) fn deletes_first() -> Arc<Self> {
        Arc::new(Self { delete_first: true, ..Self::default() })
    }

    pub(crate) fn fail(&self, name: &str, method: &'static str, kind: ProviderErrorKind) {
        lock(&self.faults).insert((name.to_owned(), method), kind);
    }

    pub(crate) fn hang(&self, name: &str, method: &'static str, hanging: Hanging) {
        lock(&self.hanging).insert((name.to_owned(), method), hanging);
    }

    /// Waits for the tasks that run on threads.
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            assert!(thread.join().is_ok(), "a task panicked");
        }
    }

    /// Waits until a call holds its thread.
    pub(crate) fn wait_until_held(&self) {
        let held = lock(&self.held.0);
        drop(self.held.1.wait_while(held, |held| !*held).unwrap_or_else(PoisonError::into_inner));
    }

    fn let_go(&self) {
        *lock(&self.released.0) = true;
        self.released.1.notify_all();
    }

    pub(crate) fn pass(&self, time: Duration) {
        *lock(&self.clock.1) += time;
    }

    fn release(&self) {
        // The first task of a run is the watch over its calls, which ends with the run. So does the one that tells of
        // steps, which may begin as soon as the held calls go on.
        let held = lock(&self.threads).split_off(1);
        self.let_go();
        for thread in held {
            assert!(thread.join().is_ok(), "a task panicked");
        }
    }

    fn hold_thread(&self) {
        *lock(&self.held.0) = true;
        self.held.1.notify_all();
        let released = lock(&self.released.0);
        drop(self.released.1.wait_while(released, |released| !*released).unwrap_or_else(PoisonError::into_inner));
    }

    /// Adds a function of the program.
    pub(crate) fn function<Q: Message + Default, A: Message>(
        &self,
        token: &str,
        answer: impl Fn(Q) -> Result<A, String> + Send + Sync + 'static,
    ) {
        let function: Function = Box::new(move |bytes| {
            let request = Q::decode(bytes).map_err(|error| error.to_string())?;
            answer(request).map(|answer| answer.encode_to_vec())
        });
        lock(&self.functions).insert(token.to_owned(), function);
    }

    /// Has every program make a request before its resources.
    pub(crate) fn before_each(&self, method: &'static str, request: &impl Message) {
        lock(&self.prelude).push((method, request.encode_to_vec()));
    }

    pub(crate) fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.calls))
    }
}

#[async_trait]
impl ProviderHost for ScriptedHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Ok(ProviderDescription {
            reference: Arc::new(ProviderReference {
                maloko: 1,
                language: "test".to_owned(),
                module: "tests".to_owned(),
                name: format!("Provider{object}"),
                attributes: None,
                incomplete: self.incomplete.map(str::to_owned),
                lacks_delete: false,
                revision: self.revision.clone(),
            }),
            capabilities: Capabilities {
                configure: !self.unconfigured,
                check: true,
                diff: true,
                create: !self.without_create,
                read: !self.without_read,
                update: true,
                delete: !self.without_delete,
                find: self.finds.is_some(),
                close: self.closes,
            },
            autonaming: self.autonaming.clone(),
            limits: self.limits.clone(),
        })
    }

    async fn find(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        let number = reference.name.strip_prefix("Provider").and_then(|number| number.parse().ok());
        Ok(number.filter(|number| self.live.contains(number)))
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(reference.name.strip_prefix("Provider").and_then(|number| number.parse().ok()))
    }

    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.rebuild(reference).await
    }

    async fn is_by_hand(&self, _reference: &ProviderReference) -> Result<bool, ProviderError> {
        Ok(self.by_hand)
    }

    async fn call(&self, _object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let (name, method) = (call.urn.name().to_owned(), call.method.name());
        if let Method::Create { key, .. } = &call.method {
            lock(&self.keys).push(key.clone());
        }
        lock(&self.calls).push(format!("{name}.{method}"));
        let hanging = lock(&self.hanging).get(&(name.clone(), method)).copied();
        match hanging {
            Some(Hanging::Async) => {
                let _noted = NotedWhenDropped(self, format!("{name}.{method}"));
                futures::future::pending::<()>().await;
            }
            Some(Hanging::UntilTold) => {
                let (sender, told) = futures::channel::oneshot::channel();
                lock(&self.unreported).push(sender);
                if !self.told.load(Ordering::SeqCst) {
                    let _ = told.await;
                }
            }
            Some(Hanging::Sync) => self.hold_thread(),
            None if name == "releasing" && method == "create" => self.release(),
            None => {}
        }
        if let Some(kind) = lock(&self.faults).get(&(name.clone(), method)) {
            return Err(ProviderError::new(kind.clone(), format!("{method} of {name} refused")));
        }
        let more = lock(&self.gives).get(&(name.clone(), method)).cloned().unwrap_or_default();
        Ok(match call.method {
            Method::Configure { .. } => Answer::Configured,
            Method::Check { mut news, .. } => {
                let failures = match news.get("bad") {
                    Some(_) => vec![CheckFailure { property: "bad".into(), reason: "must not be set".into() }],
                    None => Vec::new(),
                };
                news.extend(more);
                Answer::Checked { inputs: news, failures }
            }
            Method::Diff { olds, news, .. } => {
                let changed: Vec<_> = news.keys().filter(|key| olds.get(*key) != news.get(*key)).cloned().collect();
                Answer::Diffed(DiffAnswer {
                    changes: Some(!changed.is_empty()),
                    replaces: changed.into_iter().filter(|key| key == "zone" || key == "from").collect(),
                    stables: vec!["arn".to_owned()],
                    delete_before_replace: self.delete_first.then_some(true),
                    detailed: None,
                })
            }
            Method::Find { .. } => match self.finds.as_ref().and_then(|finds| lock(finds).get(&name).cloned()) {
                Some((id, outputs)) => Answer::Read { id, outputs: Some(outputs), inputs: None, read_first: false },
                None => Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false },
            },
            Method::Create { inputs, .. } => {
                let mut made = lock(&self.made);
                *made += 1;
                let id = format!("id-{made}");
                let mut outputs = inputs;
                outputs.insert("arn".to_owned(), Value::String(format!("arn:{id}")));
                outputs.extend(more);
                Answer::created(id, outputs)
            }
            Method::Update { olds, news, .. } => {
                let mut outputs = news;
                outputs.extend(olds.get("arn").map(|arn| ("arn".to_owned(), arn.clone())));
                outputs.extend(more);
                Answer::Updated { outputs, read_first: false }
            }
            Method::Read { id, props, .. } => {
                let found = lock(&self.world).get(&name).cloned().unwrap_or(Some(props));
                let id = if found.is_some() { id } else { String::new() };
                let id = self.one_id.map_or(id, str::to_owned);
                let id = found.as_ref().map_or_else(String::new, |_| id);
                Answer::Read { id, outputs: found, inputs: None, read_first: false }
            }
            Method::Delete { .. } => Answer::Deleted,
            Method::Close => Answer::Closed,
        })
    }

    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        let functions = lock(&self.functions);
        let answer = match functions.get(token) {
            Some(function) => function(&request),
            None => Err(format!("no callback {token}")),
        };
        answer.map_err(|message| ProviderError::new(ProviderErrorKind::Raised, message))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        lock(&self.threads).push(std::thread::spawn(|| block_on(task)));
    }

    fn cancel(&self, calls: &[u64]) {
        self.told.store(true, Ordering::SeqCst);
        for told in lock(&self.unreported).drain(..) {
            let _ = told.send(());
        }
        if self.obedient {
            lock(&self.calls).push(format!("told to end: {}", calls.len()));
            self.let_go();
        }
    }

    fn now(&self) -> Instant {
        *self.clock.0.get_or_init(Instant::now) + *lock(&self.clock.1)
    }

    /// Time passes for calls that hang, and for no others.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        let has_told = lock(&self.hanging).values().any(|hanging| matches!(hanging, Hanging::UntilTold));
        if time == LAST_WORD && has_told {
            return Box::pin(futures::future::pending());
        }
        if self.limits.is_some() {
            self.pass(time);
            lock(&self.calls).push(format!("waited {time:?}"));
            return Box::pin(futures::future::ready(()));
        }
        if lock(&self.hanging).is_empty() {
            Box::pin(futures::future::pending())
        } else {
            Box::pin(futures::future::ready(()))
        }
    }

    /// So often as a test allows.
    fn watch(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut looks = lock(&self.looks);
        if *looks == 0 {
            return Box::pin(futures::future::pending());
        }
        // Time passes once there is something to see.
        self.wait_until_held();
        *looks -= 1;
        self.pass(time);
        if *looks == 0 {
            self.let_go();
        }
        Box::pin(futures::future::ready(()))
    }
}
