//! The engine alone: 100,000 resources through planning, diffing and state, without a host language.
//!
//! `cargo bench -p maloko-test-support --bench engine`; the figures are per run of all resources, so divide by the count.
#![allow(clippy::disallowed_methods, reason = "tests and benches have the machine to themselves")]
#![expect(clippy::panic, reason = "a benchmark that cannot run has failed")]

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use futures::executor::block_on;

use maloko_core::environment::Environment;
use maloko_core::state::{Crypter, LocalBackend, Passphrase, Session, Snapshot, StackName, create_stack};

use maloko_test_support::engine::{options, requests, up};

/// As in both bindings.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RESOURCES: usize = 100_000;
const IN_FLIGHT: usize = 1_000;

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
            let backend = LocalBackend::open(directory.path(), Environment::system())?;
            let name = StackName::new("bench", "dev")?;
            block_on(create_stack(&backend, &name, crypter, &Environment::system()))?;
            Ok(Self { _directory: directory, backend, name, crypter: crypter.clone() })
        };
        made().unwrap_or_else(|error| panic!("no stack: {error}"))
    }

    /// Opens the stack, brings it to the program's state, and compacts the journal.
    fn up(&self, requests: &[Vec<u8>], in_flight: usize) {
        match block_on(Session::open(&self.backend, &self.name, options(&self.crypter))) {
            Ok(session) => drop(up(session, requests, in_flight)),
            Err(error) => panic!("the stack does not open: {error}"),
        }
    }
}

fn timed(rounds: u64, mut round: impl FnMut() -> Duration) -> Duration {
    (0..rounds).map(|_| round()).sum()
}

fn benchmark(criterion: &mut Criterion) {
    let requests = requests(RESOURCES);
    let crypter = Crypter::with_new_salt(Passphrase::given("bench"), Environment::system())
        .unwrap_or_else(|error| panic!("no key: {error}"));
    let mut group = criterion.benchmark_group("100,000 resources");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    let made = up(Session::read_only(Snapshot::default()), &requests, IN_FLIGHT).snapshot();
    group.bench_function("unchanged, planning and diffing only", |bencher| {
        bencher.iter_custom(|rounds| {
            timed(rounds, || {
                let session = Session::read_only(made.clone());
                let start = Instant::now();
                drop(up(session, &requests, IN_FLIGHT));
                start.elapsed()
            })
        });
    });
    // A process has the state of one run.
    drop(made);
    let stack = Stack::new(&crypter);
    stack.up(&requests, IN_FLIGHT);
    group.bench_function("unchanged, with the state read and compared", |bencher| {
        bencher.iter(|| stack.up(&requests, IN_FLIGHT));
    });
    for (name, in_flight) in
        [("created, with the journal and the checkpoint", IN_FLIGHT), ("created, 250 at a time", 250)]
    {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| {
                timed(rounds, || {
                    let stack = Stack::new(&crypter);
                    let start = Instant::now();
                    stack.up(&requests, in_flight);
                    start.elapsed()
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
