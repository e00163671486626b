//! What benches put around an engine: a provider that only echoes, requests of a program, and one `up`.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use prost::Message;

use maloko_core::environment::Environment;
use maloko_core::event::{Event, EventSink};
use maloko_core::operation::{Operation, OperationKind};
use maloko_core::provider::{
    Answer, Capabilities, HANDLE_PREFIX, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError,
    ProviderErrorKind, ProviderHost, ProviderReference, Revision,
};
use maloko_core::state::{Crypter, MIN_GENERATIONS, Session, SessionOptions};
use maloko_core::value::{PROVIDER_KEY, Value};
use maloko_core::wire::{Accepts, RegisterResourceRequest, RegisterResourceResponse, encode_properties};
use maloko_core::{Engine, ProgramEnd, PropertyMap};

/// A provider with `create` only, as the simplest programs have.
struct Trivial;

#[async_trait]
impl ProviderHost for Trivial {
    fn describe(&self, _object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Ok(ProviderDescription {
            reference: Arc::new(ProviderReference {
                maloko: 1,
                language: "bench".to_owned(),
                module: "bench".to_owned(),
                name: "Trivial".to_owned(),
                attributes: None,
                incomplete: None,
                lacks_delete: false,
                revision: Revision::default(),
            }),
            capabilities: Capabilities { create: true, ..Capabilities::default() },
            autonaming: None,
            limits: None,
        })
    }

    async fn rebuild(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(Some(1))
    }

    async fn named(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn call(&self, _object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        match call.method {
            Method::Create { inputs, .. } => Ok(Answer::created(call.urn.name(), inputs)),
            other => Err(ProviderError::new(ProviderErrorKind::Raised, other.name())),
        }
    }

    async fn callback(&self, token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::Raised, token))
    }

    /// On the thread of the run, as in a program with one event loop.
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}

struct Silent;

impl EventSink for Silent {
    fn emit(&self, _event: Event) {}
}

/// How benches open a stack.
pub fn options(crypter: &Crypter) -> SessionOptions {
    SessionOptions {
        crypter: crypter.clone(),
        environment: Environment::system(),
        check_integrity: true,
        keep_generations: MIN_GENERATIONS,
        command: "bench".to_owned(),
    }
}

/// The registrations of so many independent resources, each with an input of its own.
pub fn requests(resources: usize) -> Vec<Vec<u8>> {
    let accepts = Accepts { secrets: true, resources: true };
    let stack = "urn:pulumi:dev::bench::pulumi:pulumi:Stack::bench-dev";
    (0..resources)
        .map(|number| {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let inputs = PropertyMap::from([
                ("number".to_owned(), Value::Number(number as f64)),
                ("text".to_owned(), Value::from("a value of usual length")),
                (PROVIDER_KEY.to_owned(), Value::secret(Value::String(format!("{HANDLE_PREFIX}1")))),
            ]);
            RegisterResourceRequest {
                r#type: "pulumi-python:dynamic:Thing".to_owned(),
                name: format!("thing-{number}"),
                parent: stack.to_owned(),
                custom: true,
                object: Some(encode_properties(&inputs, accepts)),
                accept_secrets: true,
                supports_partial_values: true,
                ..RegisterResourceRequest::default()
            }
            .encode_to_vec()
        })
        .collect()
}

fn stack_request() -> Vec<u8> {
    RegisterResourceRequest {
        r#type: "pulumi:pulumi:Stack".to_owned(),
        name: "bench-dev".to_owned(),
        ..RegisterResourceRequest::default()
    }
    .encode_to_vec()
}

/// Brings a stack to what the requests say, `in_flight` of them at a time, all on this thread; gives the engine, which has the
/// state. Panics when that fails.
pub fn up(session: Session, requests: &[Vec<u8>], in_flight: usize) -> Arc<Engine> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap_or_else(|error| panic!("no runtime: {error}")).block_on(run(session, requests, in_flight))
}

async fn run(session: Session, requests: &[Vec<u8>], in_flight: usize) -> Arc<Engine> {
    let operation = Operation { parallel: in_flight, ..Operation::new(OperationKind::Update, "bench", "dev") };
    let engine = Engine::start(operation, session, Arc::new(Trivial), Arc::new(Silent));
    let answered = engine.rpc("RegisterResource", &stack_request()).await;
    if let Err(error) = answered {
        panic!("the stack was refused: {}", error.message);
    }
    stream::iter(requests)
        .for_each_concurrent(in_flight, async |request| match engine.rpc("RegisterResource", request).await {
            Ok(answer) => drop(RegisterResourceResponse::decode(&answer[..])),
            Err(error) => panic!("a registration was refused: {}", error.message),
        })
        .await;
    let report = engine.finish(ProgramEnd::default()).await;
    if let Some(error) = report.ok().and_then(|report| report.error) {
        panic!("the run failed: {error}");
    }
    engine
}
