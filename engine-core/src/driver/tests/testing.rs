//! Small programs on a scripted host, for tests of the driver.
#![expect(clippy::panic, reason = "a test that cannot finish its run has failed")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use prost::Message;

use crate::event::{Event, EventSink};
use crate::operation::{Operation, OperationKind};
use crate::provider::{HANDLE_PREFIX, ObjectId, ProviderHost};
use crate::resource_state::ResourceState;
use crate::state::{PendingKind, Session, Snapshot};
use crate::value::{PROVIDER_KEY, PropertyMap, Value};
use crate::wire::{
    Accepts, PropertyDependencies, ReadResourceRequest, ReadResourceResponse, RegisterResourceOutputsRequest,
    RegisterResourceRequest, RegisterResourceResponse, decode_properties, encode_properties,
};

pub(crate) use crate::driver::tests::scripted::{Hanging, ScriptedHost, lock};
use crate::driver::{Engine, ProgramEnd, Progress, Report};

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
        texts.map(String::from).collect::<Vec<_>>().join("\n")
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
    Wanted { name, inputs: PropertyMap::from([("zone".to_owned(), Value::from(zone))]), object: 1, ..Wanted::default() }
}

/// What one operation led to.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    pub(crate) steps: Vec<String>,
    pub(crate) calls: Vec<String>,
    pub(crate) messages: String,
    pub(crate) resources: Vec<Arc<ResourceState>>,
    /// The state that the run leaves.
    pub(crate) last: Snapshot,
    /// Operations whose outcome is not known, by the resource's name.
    pub(crate) pending: Vec<(PendingKind, String)>,
    /// The outputs that the program got, by the resource's name.
    pub(crate) answers: HashMap<&'static str, PropertyMap>,
    pub(crate) progress: Progress,
}

impl Outcome {
    /// The resource of that name that does not wait for its deletion.
    pub(crate) fn resource(&self, name: &str) -> &ResourceState {
        let resource = self.resources.iter().find(|resource| resource.urn.name() == name && !resource.delete);
        resource.unwrap_or_else(|| panic!("there is no resource '{name}'"))
    }
}

/// Runs a program against resources.
pub(crate) fn run(
    host: &Arc<ScriptedHost>,
    kind: OperationKind,
    dry_run: bool,
    resources: Vec<Arc<ResourceState>>,
    program: &[Wanted],
) -> Outcome {
    run_as(host, Operation { dry_run, ..Operation::new(kind, "proj", "dev") }, resources, program)
}

/// Runs a program against resources, with every option of the operation.
pub(crate) fn run_as(
    host: &Arc<ScriptedHost>,
    operation: Operation,
    resources: Vec<Arc<ResourceState>>,
    program: &[Wanted],
) -> Outcome {
    run_from(host, operation, Snapshot { resources, ..Snapshot::default() }, program)
}

/// Runs a program against a state.
pub(crate) fn run_from(
    host: &Arc<ScriptedHost>,
    operation: Operation,
    snapshot: Snapshot,
    program: &[Wanted],
) -> Outcome {
    run_in(host, operation, Session::read_only(snapshot), program)
}

/// Runs a program in a session.
pub(crate) fn run_in(host: &Arc<ScriptedHost>, operation: Operation, session: Session, program: &[Wanted]) -> Outcome {
    let recorder = Arc::new(Recorder::default());
    let engine =
        Engine::start(operation, session, Arc::clone(host) as Arc<dyn ProviderHost>, Arc::clone(&recorder) as _);
    let mut made = HashMap::new();
    let report = block_on(async {
        let completed = run_program(host, &engine, program, &mut made).await;
        if completed.is_some() {
            // An answer of 14 only says that the run was stopped; `finish` tells why.
            let _ = engine.rpc("SignalAndWaitForShutdown", &[]).await;
        }
        engine.finish(ProgramEnd::default()).await
    });
    let last = engine.snapshot();
    Outcome {
        report: report.unwrap_or_else(|error| panic!("finish failed: {error}")),
        steps: recorder.steps(),
        calls: host.take_calls(),
        messages: recorder.messages(),
        last: last.clone(),
        pending: last.pending.iter().map(|it| (it.kind, it.resource.urn.name().to_owned())).collect(),
        resources: last.resources,
        answers: made.into_iter().map(|(name, (_, outputs))| (name, outputs)).collect(),
        progress: engine.progress(),
    }
}

pub(crate) async fn run_program(
    host: &ScriptedHost,
    engine: &Engine,
    program: &[Wanted],
    made: &mut HashMap<&'static str, (String, PropertyMap)>,
) -> Option<()> {
    let stack = register_stack(host, engine).await?;
    for resource in program {
        register_one(engine, &stack, resource, made).await?;
    }
    for resource in program.iter().filter(|resource| resource.component) {
        let urn = made.get(resource.name)?.0.clone();
        let outputs = RegisterResourceOutputsRequest { urn, outputs: None };
        engine.rpc("RegisterResourceOutputs", &outputs.encode_to_vec()).await.ok()?;
    }
    let outputs = RegisterResourceOutputsRequest { urn: stack, outputs: None };
    engine.rpc("RegisterResourceOutputs", &outputs.encode_to_vec()).await.ok()?;
    Some(())
}

/// Begins a program; gives the stack's URN.
pub(crate) async fn register_stack(host: &ScriptedHost, engine: &Engine) -> Option<String> {
    let stack = RegisterResourceRequest {
        r#type: crate::urn::STACK_TYPE.to_owned(),
        name: "proj-dev".to_owned(),
        ..RegisterResourceRequest::default()
    };
    let prelude = lock(&host.prelude).clone();
    for (method, request) in prelude {
        engine.rpc(method, &request).await.ok()?;
    }
    Some(register(engine, stack).await?.urn)
}

pub(crate) async fn register_one(
    engine: &Engine,
    stack: &str,
    resource: &Wanted,
    made: &mut HashMap<&'static str, (String, PropertyMap)>,
) -> Option<()> {
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
        parent: parent.map_or(stack, |(urn, _)| urn).to_owned(),
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
    let (urn, outputs) = if let Some(id) = resource.read {
        let answer = read(engine, id, request).await?;
        (answer.urn, answer.properties)
    } else {
        let answer = register(engine, request).await?;
        (answer.urn, answer.object)
    };
    made.insert(resource.name, (urn, decode_properties(outputs.unwrap_or_default()).unwrap_or_default()));
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
