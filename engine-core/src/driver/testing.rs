//! A scripted host and a small program, for tests of the driver.
#![expect(clippy::panic, reason = "a test that cannot finish its run has failed")]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::executor::block_on;
use futures::future::BoxFuture;
use prost::Message;

use crate::autonaming::Autonaming;
use crate::event::{Event, EventSink};
use crate::operation::{Operation, OperationKind};
use crate::provider::{
    Answer, CallLimits, Capabilities, CheckFailure, DiffAnswer, HANDLE_PREFIX, Host, Method, ObjectId, ProviderCall,
    ProviderDescription, ProviderError, ProviderErrorKind, ProviderReference, Revision,
};
use crate::row::Row;
use crate::state::{PendingKind, Session, Snapshot};
use crate::value::{PROVIDER_KEY, PropertyMap, Value};
use crate::wire::{
    Accepts, PropertyDependencies, ReadResourceRequest, ReadResourceResponse, RegisterResourceOutputsRequest,
    RegisterResourceRequest, RegisterResourceResponse, decode_properties, encode_properties,
};

use super::watch::LOOK;
use super::{Engine, ProgramEnd, Report};

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
    /// Are there objects that were registered by hand?
    pub(crate) by_hand: bool,
    /// What `read` finds, by the resource's name: other outputs, or that the object is gone.
    pub(crate) world: Mutex<HashMap<String, Option<PropertyMap>>>,
    /// Objects that the program made before its first registration.
    pub(crate) live: Vec<ObjectId>,
    /// Calls that last longer than any limit.
    pub(crate) hanging: Mutex<HashMap<(String, &'static str), Hanging>>,
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptedHost {
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

    fn let_go(&self) {
        *lock(&self.released.0) = true;
        self.released.1.notify_all();
    }

    fn pass(&self, time: Duration) {
        *lock(&self.clock.1) += time;
    }

    fn release(&self) {
        self.let_go();
        // The first task of a run is the watch over its calls, which ends with the run.
        let others = lock(&self.threads).split_off(1);
        for thread in others {
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
impl Host for ScriptedHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Ok(ProviderDescription {
            reference: Arc::new(ProviderReference {
                maloko: 1,
                language: "test".to_owned(),
                module: "tests".to_owned(),
                name: format!("Provider{object}"),
                attributes: None,
                incomplete: self.incomplete.map(str::to_owned),
                revision: self.revision.clone(),
            }),
            capabilities: Capabilities {
                configure: true,
                check: true,
                diff: true,
                read: true,
                update: true,
                delete: true,
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

    async fn is_by_hand(&self, _reference: &ProviderReference) -> Result<bool, ProviderError> {
        Ok(self.by_hand)
    }

    async fn call(&self, _object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let (name, method) = (call.urn.name().to_owned(), call.method.name());
        lock(&self.calls).push(format!("{name}.{method}"));
        let hanging = lock(&self.hanging).get(&(name.clone(), method)).copied();
        match hanging {
            Some(Hanging::Async) => {
                let _noted = NotedWhenDropped(self, format!("{name}.{method}"));
                futures::future::pending::<()>().await;
            }
            Some(Hanging::Sync) => self.hold_thread(),
            None if name == "releasing" && method == "create" => self.release(),
            None => {}
        }
        if let Some(kind) = lock(&self.faults).get(&(name.clone(), method)) {
            return Err(ProviderError::new(kind.clone(), format!("{method} of {name} refused")));
        }
        Ok(match call.method {
            Method::Configure { .. } => Answer::Configured,
            Method::Check { news, .. } => {
                let failures = match news.get("bad") {
                    Some(_) => vec![CheckFailure { property: "bad".into(), reason: "must not be set".into() }],
                    None => Vec::new(),
                };
                Answer::Checked { inputs: news, failures }
            }
            Method::Diff { olds, news, .. } => {
                let changed: Vec<_> = news.keys().filter(|key| olds.get(*key) != news.get(*key)).cloned().collect();
                Answer::Diffed(DiffAnswer {
                    changes: Some(!changed.is_empty()),
                    replaces: changed.into_iter().filter(|key| key == "zone" || key == "from").collect(),
                    stables: vec!["arn".to_owned()],
                    delete_before_replace: self.delete_first.then_some(true),
                })
            }
            Method::Create { inputs, .. } => {
                let mut made = lock(&self.made);
                *made += 1;
                let id = format!("id-{made}");
                let mut outputs = inputs;
                outputs.insert("arn".to_owned(), Value::String(format!("arn:{id}")));
                Answer::Created { id, outputs }
            }
            Method::Update { olds, news, .. } => {
                let mut outputs = news;
                outputs.extend(olds.get("arn").map(|arn| ("arn".to_owned(), arn.clone())));
                Answer::Updated { outputs }
            }
            Method::Read { id, props, .. } => {
                let found = lock(&self.world).get(&name).cloned().unwrap_or(Some(props));
                let id = if found.is_some() { id } else { String::new() };
                let id = found.as_ref().map_or_else(String::new, |_| id);
                Answer::Read { id, outputs: found, inputs: None }
            }
            Method::Delete { .. } => Answer::Deleted,
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
        if time == LOOK {
            let mut looks = lock(&self.looks);
            if *looks == 0 {
                return Box::pin(futures::future::pending());
            }
            // Time passes once there is something to see.
            let held = lock(&self.held.0);
            drop(self.held.1.wait_while(held, |held| !*held).unwrap_or_else(PoisonError::into_inner));
            *looks -= 1;
            self.pass(time);
            if *looks == 0 {
                self.let_go();
            }
            return Box::pin(futures::future::ready(()));
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
}

/// Keeps what an operation tells.
#[derive(Default)]
pub(crate) struct Recorder(pub(crate) Mutex<Vec<Event>>);

impl EventSink for Recorder {
    fn emit(&self, event: Event) {
        lock(&self.0).push(event);
    }
}

impl Recorder {
    /// `op name` of every step that was begun, with a mark on those that failed; internal steps left out.
    pub(crate) fn steps(&self) -> Vec<String> {
        lock(&self.0)
            .iter()
            .filter_map(|event| match event {
                Event::StepStarted(step) if !step.internal => Some(format!("{} {}", step.op, step.urn.name())),
                Event::StepFailed(step) => Some(format!("{} {} failed", step.op, step.urn.name())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn messages(&self) -> String {
        let messages = lock(&self.0);
        let texts = messages.iter().filter_map(|event| match event {
            Event::Diagnostic(diagnostic) => Some(diagnostic.message.clone()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// One resource of a test program. `from` names resources whose `arn` it takes.
#[derive(Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) name: &'static str,
    pub(crate) inputs: PropertyMap,
    pub(crate) from: Option<&'static str>,
    pub(crate) protect: bool,
    pub(crate) object: ObjectId,
    /// A component has no provider, and registers its outputs at the end of the program.
    pub(crate) component: bool,
    pub(crate) parent: Option<&'static str>,
    /// Looked up by this id, not managed.
    pub(crate) read: Option<&'static str>,
    /// Sets options.
    pub(crate) options: Option<Options>,
}

/// Sets options of a registration.
pub(crate) type Options = Arc<dyn Fn(&mut RegisterResourceRequest) + Send + Sync>;

pub(crate) fn component(name: &'static str) -> Wanted {
    Wanted { name, component: true, ..Wanted::default() }
}

pub(crate) fn wanted(name: &'static str, zone: &str) -> Wanted {
    Wanted { name, inputs: BTreeMap::from([("zone".to_owned(), Value::from(zone))]), object: 1, ..Wanted::default() }
}

/// What one operation led to.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) steps: Vec<String>,
    pub(crate) calls: Vec<String>,
    pub(crate) messages: String,
    pub(crate) rows: Vec<Arc<Row>>,
    /// Operations whose outcome is not known, by the resource's name.
    pub(crate) pending: Vec<(PendingKind, String)>,
    /// The outputs that the program got, by the resource's name.
    pub(crate) answers: HashMap<&'static str, PropertyMap>,
}

impl Outcome {
    /// The row of that name that does not wait for its deletion.
    pub(crate) fn row(&self, name: &str) -> &Row {
        let row = self.rows.iter().find(|row| row.urn.name() == name && !row.delete);
        row.unwrap_or_else(|| panic!("there is no row '{name}'"))
    }
}

/// Runs a program against rows.
pub(crate) fn run(
    host: &Arc<ScriptedHost>,
    kind: OperationKind,
    dry_run: bool,
    rows: Vec<Arc<Row>>,
    program: &[Wanted],
) -> Outcome {
    run_as(host, Operation { dry_run, ..Operation::new(kind, "proj", "dev") }, rows, program)
}

/// Runs a program against rows, with every option of the operation.
pub(crate) fn run_as(
    host: &Arc<ScriptedHost>,
    operation: Operation,
    rows: Vec<Arc<Row>>,
    program: &[Wanted],
) -> Outcome {
    let recorder = Arc::new(Recorder::default());
    let session = Session::read_only(Snapshot { rows, ..Snapshot::default() });
    let engine = Engine::start(operation, session, Arc::clone(host) as Arc<dyn Host>, Arc::clone(&recorder) as _);
    let mut made = HashMap::new();
    let report = block_on(async {
        let completed = run_program(host, &engine, program, &mut made).await;
        if completed.is_some() {
            // An answer of 14 only says that the run was stopped; `finish` tells why.
            let _ = engine.rpc("SignalAndWaitForShutdown", &[]).await;
        }
        engine.finish(ProgramEnd::default()).await
    });
    let last = engine.final_snapshot();
    Outcome {
        report: report.unwrap_or_else(|error| panic!("finish failed: {error}")),
        steps: recorder.steps(),
        calls: host.take_calls(),
        messages: recorder.messages(),
        pending: last.pending.iter().map(|it| (it.kind, it.row.urn.name().to_owned())).collect(),
        rows: last.rows,
        answers: made.into_iter().map(|(name, (_, outputs))| (name, outputs)).collect(),
    }
}

pub(crate) async fn run_program(
    host: &ScriptedHost,
    engine: &Engine,
    program: &[Wanted],
    made: &mut HashMap<&'static str, (String, PropertyMap)>,
) -> Option<()> {
    let stack = RegisterResourceRequest {
        r#type: crate::urn::STACK_TYPE.to_owned(),
        name: "proj-dev".to_owned(),
        ..RegisterResourceRequest::default()
    };
    let prelude = lock(&host.prelude).clone();
    for (method, request) in prelude {
        engine.rpc(method, &request).await.ok()?;
    }
    let stack = register(engine, stack).await?;
    for resource in program {
        let mut inputs = resource.inputs.clone();
        if !resource.component {
            let handle = Value::secret(Value::String(format!("{HANDLE_PREFIX}{}", resource.object)));
            inputs.insert(PROVIDER_KEY.to_owned(), handle);
        }
        let kind = if resource.component { "tests:index:Group" } else { "pulumi-python:dynamic:Thing" };
        let parent = resource.parent.and_then(|name| made.get(name));
        let mut request = RegisterResourceRequest {
            r#type: kind.to_owned(),
            name: resource.name.to_owned(),
            parent: parent.map_or(&stack.urn, |(urn, _)| urn).clone(),
            custom: !resource.component,
            protect: resource.protect.then_some(true),
            accept_secrets: true,
            supports_partial_values: true,
            ..RegisterResourceRequest::default()
        };
        if let Some((urn, outputs)) = resource.from.and_then(|name| made.get(name)) {
            inputs.insert("from".to_owned(), outputs.get("arn").cloned().unwrap_or(Value::Unknown));
            request.dependencies = vec![urn.clone()];
            let urns = PropertyDependencies { urns: vec![urn.clone()] };
            request.property_dependencies.insert("from".to_owned(), urns);
        }
        let accepts = Accepts { secrets: true, resources: true };
        request.object = Some(encode_properties(&inputs, accepts));
        if let Some(options) = &resource.options {
            options(&mut request);
        }
        if let Some(id) = resource.read {
            let answer = read(engine, id, request).await?;
            let outputs = decode_properties(answer.properties.unwrap_or_default()).unwrap_or_default();
            made.insert(resource.name, (answer.urn, outputs));
            continue;
        }
        let response = register(engine, request).await?;
        let outputs = decode_properties(response.object.unwrap_or_default()).unwrap_or_default();
        made.insert(resource.name, (response.urn, outputs));
    }
    for resource in program.iter().filter(|resource| resource.component) {
        let urn = made.get(resource.name)?.0.clone();
        let outputs = RegisterResourceOutputsRequest { urn, outputs: None };
        engine.rpc("RegisterResourceOutputs", &outputs.encode_to_vec()).await.ok()?;
    }
    let outputs = RegisterResourceOutputsRequest { urn: stack.urn, outputs: None };
    engine.rpc("RegisterResourceOutputs", &outputs.encode_to_vec()).await.ok()?;
    Some(())
}

async fn register(engine: &Engine, request: RegisterResourceRequest) -> Option<RegisterResourceResponse> {
    let answer = engine.rpc("RegisterResource", &request.encode_to_vec()).await.ok()?;
    RegisterResourceResponse::decode(&answer[..]).ok()
}

/// Looks up what would else be registered.
async fn read(engine: &Engine, id: &str, request: RegisterResourceRequest) -> Option<ReadResourceResponse> {
    let RegisterResourceRequest { r#type, name, parent, object, dependencies, .. } = request;
    let request = ReadResourceRequest {
        id: id.to_owned(),
        r#type,
        name,
        parent,
        properties: object,
        dependencies,
        ..ReadResourceRequest::default()
    };
    let answer = engine.rpc("ReadResource", &request.encode_to_vec()).await.ok()?;
    ReadResourceResponse::decode(&answer[..]).ok()
}
