//! The state alone: 100,000 resources read, written, opened, and journalled.
//!
//! `cargo bench -p maloko-core --bench state`; the figures are for all resources, so divide by the count.
#![allow(clippy::disallowed_methods, reason = "tests and benches have the machine to themselves")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use futures::executor::block_on;
use futures::future::join_all;

use maloko_core::environment::Environment;
use maloko_core::provider::{ProviderReference, Revision, StoredProvider};
use maloko_core::state::{
    Backend, Change, Checkpoint, Crypter, LocalBackend, MIN_GENERATIONS, Passphrase, PendingKind, PendingOperation,
    Session, SessionOptions, Snapshot, StackName, integrity, order,
};
use maloko_core::value::Value;
use maloko_core::{PropertyMap, ResourceState, Urn};

const RESOURCES: usize = 100_000;
const JOURNALLED: u32 = 10_000;
const IN_FLIGHT: usize = 1_000;
const PROVIDER: &str = "urn:pulumi:dev::shop::pulumi:providers:pulumi-python::default";
const PROVIDER_ID: &str = "7801529d-50a3-4164-a5bf-3df571b251da";
const ROOT: &str = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";

fn crypter() -> Crypter {
    Crypter::with_new_salt(Passphrase::given("bench"), Environment::system()).unwrap()
}

fn resource(number: usize, provider: &StoredProvider) -> ResourceState {
    let properties: PropertyMap = [
        ("name".to_owned(), Value::from(format!("label-{number}"))),
        ("color".to_owned(), "0e8a16".into()),
        ("description".to_owned(), "What a label of this kind is about, in a sentence".into()),
        ("size".to_owned(), Value::Number(42.0)),
        ("labels".to_owned(), Value::Object([("team".to_owned(), "x".into()), ("on".to_owned(), true.into())].into())),
    ]
    .into();
    let outputs = properties.clone().into_iter().chain([("arn".to_owned(), format!("arn:{number}").into())]).collect();
    let urn =
        |number: usize| Urn::new("dev", "shop", "", "pulumi-python:dynamic/acme:Label", &format!("label-{number}"));
    ResourceState {
        urn: urn(number),
        custom: true,
        id: format!("id-{number}"),
        kind: "pulumi-python:dynamic/acme:Label".into(),
        property_dependencies: properties.keys().map(|key| (key.clone(), Vec::new())).collect(),
        inputs: Arc::new(properties),
        outputs: Some(Arc::new(outputs)),
        stored_provider: provider.clone(),
        parent: Some(Urn::unchecked(ROOT)),
        dependencies: if number > 0 { vec![urn(number - 1)] } else { Vec::new() },
        provider: format!("{PROVIDER}::{PROVIDER_ID}"),
        created: "2026-11-21T08:37:09.497494575Z".into(),
        modified: "2026-11-21T08:37:09.497494575Z".into(),
        source_position: "project:///__main__.py#17".into(),
        ..ResourceState::default()
    }
}

fn snapshot(resources: usize) -> Snapshot {
    let reference = ProviderReference {
        maloko: 1,
        language: "python".into(),
        module: "labels".into(),
        name: "LabelProvider".into(),
        attributes: Some("{}".into()),
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    };
    let provider = StoredProvider::Reference(Arc::new(reference));
    let root =
        ResourceState { urn: Urn::unchecked(ROOT), kind: "pulumi:pulumi:Stack".into(), ..ResourceState::default() };
    let provider_resource = ResourceState {
        urn: Urn::unchecked(PROVIDER),
        custom: true,
        id: PROVIDER_ID.into(),
        kind: "pulumi:providers:pulumi-python".into(),
        ..ResourceState::default()
    };
    let labels = (0..resources).map(|number| resource(number, &provider));
    Snapshot {
        resources: [root, provider_resource].into_iter().chain(labels).map(Arc::new).collect(),
        ..Snapshot::default()
    }
}

fn checkpoints(c: &mut Criterion) {
    let crypter = crypter();
    let checkpoint =
        Checkpoint { stack: "organization/shop/dev".into(), snapshot: snapshot(RESOURCES), ..Checkpoint::default() };
    let bytes = checkpoint.encode(&crypter).unwrap();
    println!("{RESOURCES} resources are {} bytes each", bytes.len() / RESOURCES);
    let read = Checkpoint::decode(&bytes, "bench").unwrap();
    let mut group = c.benchmark_group("state");
    group.sample_size(10);
    group.bench_function("write", |b| b.iter(|| black_box(checkpoint.encode(&crypter).unwrap())));
    group.bench_function("read", |b| {
        b.iter_batched(|| (), |()| Checkpoint::decode(black_box(&bytes), "bench").unwrap(), BatchSize::LargeInput);
    });
    group.bench_function("check", |b| b.iter(|| integrity::check(black_box(&read.snapshot)).unwrap()));
    group.bench_function("sort", |b| b.iter(|| black_box(order::canonical(&read.snapshot.resources))));
    group.finish();
}

fn sessions(c: &mut Criterion) {
    let crypter = crypter();
    let directory = tempfile::tempdir_in(".").unwrap();
    let backend = LocalBackend::open(directory.path(), Environment::system()).unwrap();
    let stack = StackName::new("shop", "dev").unwrap();
    let full = Checkpoint { stack: stack.to_string(), snapshot: snapshot(RESOURCES), ..Checkpoint::default() };
    block_on(backend.create(&stack, &full.encode(&crypter).unwrap())).unwrap();
    let open = || {
        let options = SessionOptions {
            crypter: crypter.clone(),
            environment: Environment::system(),
            check_integrity: true,
            keep_generations: MIN_GENERATIONS,
            command: "bench".into(),
        };
        block_on(Session::open(&backend, &stack, options)).unwrap()
    };
    let mut group = c.benchmark_group("session");
    group.sample_size(10);
    group.bench_function("open, change nothing, compact", |b| {
        b.iter_custom(|times| {
            (0..times)
                .map(|_| {
                    let begun = Instant::now();
                    let session = open();
                    block_on(session.compact(session.snapshot().clone())).unwrap();
                    begun.elapsed()
                })
                .sum()
        });
    });
    group.bench_function("journal 10,000 creations, 1,000 in flight", |b| {
        b.iter_custom(|times| (0..times).map(|_| journal(&open(), &full.snapshot.resources[2])).sum());
    });
    group.finish();
}

/// Journals begin and end of creations, so many at a time; the session is not compacted.
fn journal(session: &Session, resource: &Arc<ResourceState>) -> Duration {
    let begun = Instant::now();
    let first = u32::try_from(session.snapshot().resources.len()).unwrap();
    for batch in 0..JOURNALLED / u32::try_from(IN_FLIGHT).unwrap() {
        let numbers = || (0..u32::try_from(IN_FLIGHT).unwrap()).map(|n| batch * u32::try_from(IN_FLIGHT).unwrap() + n);
        let start = |operation| {
            let pending = PendingOperation { resource: Arc::clone(resource), kind: PendingKind::Creating };
            session.append(vec![Change::Begin { operation, pending, attempt: None }])
        };
        let end = |operation| {
            let put = Change::Put { number: first + operation, resource: Arc::clone(resource), in_place_of: None };
            session.append(vec![Change::End { operation }, put])
        };
        for outcome in block_on(join_all(numbers().map(start))) {
            outcome.unwrap();
        }
        for outcome in block_on(join_all(numbers().map(end))) {
            outcome.unwrap();
        }
    }
    let spent = begun.elapsed();
    // The records repeat one URN, so they must not be recovered: they end where they began.
    block_on(session.compact(session.snapshot().clone())).unwrap();
    spent
}

criterion_group!(benches, checkpoints, sessions);
criterion_main!(benches);
