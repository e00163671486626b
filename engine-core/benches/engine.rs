//! The engine alone: 100,000 resources through planning, diffing and state, without a host language.
//!
//! `cargo bench -p maloko-core --bench engine`; the figures are per run of all resources, so divide by the count.
#![expect(clippy::panic, reason = "a benchmark that cannot run has failed")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use criterion::{Criterion, criterion_group, criterion_main};
use futures::executor::block_on;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use prost::Message;

use maloko_core::event::{Event, EventSink};
use maloko_core::operation::{Operation, OperationKind};
use maloko_core::provider::{
    Answer, Capabilities, HANDLE_PREFIX, Host, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError,
    ProviderErrorKind, ProviderReference, Revision,
};
use maloko_core::state::{
    Crypter, LocalBackend, Passphrase, Session, SessionOptions, Snapshot, StackName, Surroundings, create_stack,
};
use maloko_core::value::{PROVIDER_KEY, Value};
use maloko_core::wire::{Accepts, RegisterResourceRequest, RegisterResourceResponse, encode_properties};
use maloko_core::{Engine, ProgramEnd, PropertyMap};

/// As in both bindings.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RESOURCES: usize = 100_000;
const IN_FLIGHT: usize = 1_000;

/// A provider with `create` only, as the simplest programs have.
struct Trivial;

#[async_trait]
impl Host for Trivial {
    fn describe(&self, _object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Ok(ProviderDescription {
            reference: Arc::new(ProviderReference {
                maloko: 1,
                language: "bench".to_owned(),
                module: "bench".to_owned(),
                name: "Trivial".to_owned(),
                attributes: None,
                incomplete: None,
                revision: Revision::default(),
            }),
            capabilities: Capabilities::default(),
            autonaming: None,
            limits: None,
        })
    }

    async fn rebuild(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(Some(1))
    }

    async fn call(&self, _object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        match call.method {
            Method::Create { inputs, .. } => Ok(Answer::Created { id: call.urn.name().to_owned(), outputs: inputs }),
            other => Err(ProviderError::new(ProviderErrorKind::Raised, other.name())),
        }
    }

    async fn callback(&self, token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::Raised, token))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        block_on(task);
    }
}

struct Silent;

impl EventSink for Silent {
    fn emit(&self, _event: Event) {}
}

fn requests() -> Vec<Vec<u8>> {
    let accepts = Accepts { secrets: true, resources: true };
    let stack = "urn:pulumi:dev::bench::pulumi:pulumi:Stack::bench-dev";
    (0..RESOURCES)
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

async fn up(session: Session, requests: &[Vec<u8>]) -> Snapshot {
    let operation = Operation { parallel: IN_FLIGHT, ..Operation::new(OperationKind::Update, "bench", "dev") };
    let engine = Engine::start(operation, session, Arc::new(Trivial), Arc::new(Silent));
    let answered = engine.rpc("RegisterResource", &stack_request()).await;
    if let Err(error) = answered {
        panic!("the stack was refused: {}", error.message);
    }
    stream::iter(requests)
        .for_each_concurrent(IN_FLIGHT, async |request| match engine.rpc("RegisterResource", request).await {
            Ok(answer) => drop(RegisterResourceResponse::decode(&answer[..])),
            Err(error) => panic!("a registration was refused: {}", error.message),
        })
        .await;
    let report = engine.finish(ProgramEnd::default()).await;
    if let Some(error) = report.ok().and_then(|report| report.error) {
        panic!("the run failed: {error}");
    }
    engine.snapshot()
}

/// A stack in a directory of its own, on the file system of the build's target directory.
struct Stack {
    _directory: tempfile::TempDir,
    backend: LocalBackend,
    name: StackName,
    crypter: Crypter,
}

impl Stack {
    fn new(crypter: &Crypter) -> Self {
        let made = || -> maloko_core::Result<Self> {
            let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
                .map_err(|source| maloko_core::Error::Io { context: "temporary directory".to_owned(), source })?;
            let backend = LocalBackend::open(directory.path(), Surroundings::system())?;
            let name = StackName::new("bench", "dev")?;
            block_on(create_stack(&backend, &name, crypter, &Surroundings::system()))?;
            Ok(Self { _directory: directory, backend, name, crypter: crypter.clone() })
        };
        made().unwrap_or_else(|error| panic!("no stack: {error}"))
    }

    /// Opens the stack, brings it to the program's state, and folds the journal.
    fn up(&self, requests: &[Vec<u8>]) {
        let options = SessionOptions {
            crypter: self.crypter.clone(),
            surroundings: Surroundings::system(),
            check_integrity: true,
            command: "bench".to_owned(),
        };
        match block_on(Session::open(&self.backend, &self.name, options)) {
            Ok(session) => drop(block_on(up(session, requests))),
            Err(error) => panic!("the stack does not open: {error}"),
        }
    }
}

fn timed(rounds: u64, mut round: impl FnMut() -> Duration) -> Duration {
    (0..rounds).map(|_| round()).sum()
}

fn benchmark(criterion: &mut Criterion) {
    let requests = requests();
    let crypter = Crypter::with_new_salt(Passphrase::given("bench"), Surroundings::system())
        .unwrap_or_else(|error| panic!("no key: {error}"));
    let mut group = criterion.benchmark_group("100,000 resources");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    let made = block_on(up(Session::read_only(Snapshot::default()), &requests));
    group.bench_function("unchanged, planning and diffing only", |bencher| {
        bencher.iter_custom(|rounds| {
            timed(rounds, || {
                let session = Session::read_only(made.clone());
                let start = Instant::now();
                drop(block_on(up(session, &requests)));
                start.elapsed()
            })
        });
    });
    let stack = Stack::new(&crypter);
    stack.up(&requests);
    group.bench_function("unchanged, with the state read and compared", |bencher| {
        bencher.iter(|| stack.up(&requests));
    });
    group.bench_function("created, with the journal and the checkpoint", |bencher| {
        bencher.iter_custom(|rounds| {
            timed(rounds, || {
                let stack = Stack::new(&crypter);
                let start = Instant::now();
                stack.up(&requests);
                start.elapsed()
            })
        });
    });
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
