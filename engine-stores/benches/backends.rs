//! What an operation costs in each kind of store, with the real engine: time, flushes or requests, and bytes, for each
//! resource, however many there are (P17). Prints the tables of docs/internals/performance.md.
//!
//! `make bench-backends`; `cargo bench -p maloko-stores --bench backends -- 100,1000` for other numbers of resources.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark that cannot run has failed")]

mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use futures::executor::block_on;
use maloko_core::environment::Environment;
use maloko_core::error::Result;
use maloko_core::state::{
    Backend, Crypter, LocalBackend, Passage, Passphrase, Session, StackName, StoreWatch, StoreWrite, WatchedBackend,
    create_stack,
};

use maloko_test_support::engine::{options, requests, up};
use maloko_test_support::objects::{servers, world};
use maloko_test_support::postgres::{proxy::Proxy, server};
use wire::Wire;

/// As in both bindings.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Provider calls at a time: the default on a machine of four cores.
const IN_FLIGHT: usize = 16;
const CHAIN: usize = 1000;

/// Counts what is written to a store.
#[derive(Default)]
struct Writes {
    flushes: AtomicU64,
    journal: AtomicU64,
    others: AtomicU64,
}

#[async_trait]
impl StoreWatch for Writes {
    async fn before(&self, _stack: &StackName, _write: StoreWrite<'_>) -> Result<Passage> {
        Ok(Passage::Whole)
    }

    fn made(&self, _stack: &StackName, write: StoreWrite<'_>) {
        let (count, bytes) = match write {
            StoreWrite::Append(bytes) => (&self.flushes, bytes.len() as u64),
            StoreWrite::Lease | StoreWrite::Release => return,
            _ => (&self.others, 0),
        };
        count.fetch_add(1, Ordering::SeqCst);
        self.journal.fetch_add(bytes, Ordering::SeqCst);
    }
}

/// What was counted.
#[derive(Clone, Copy)]
struct Count {
    /// Flushes of the journal.
    flushes: u64,
    /// Bytes of the journal.
    journal: u64,
    /// Other writes than those of lease and journal.
    others: u64,
    /// Requests over the wire, and bytes that they took; none where there is no wire.
    wire: Option<(u64, u64)>,
}

impl std::ops::Sub for Count {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            flushes: self.flushes - before.flushes,
            journal: self.journal - before.journal,
            others: self.others - before.others,
            wire: self.wire.zip(before.wire).map(|(now, then)| (now.0 - then.0, now.1 - then.1)),
        }
    }
}

type Traffic = Box<dyn Fn() -> Option<(u64, u64)>>;

/// A store that is measured.
struct Measured {
    name: &'static str,
    backend: WatchedBackend,
    writes: Arc<Writes>,
    traffic: Traffic,
    crypter: Crypter,
}

impl Measured {
    fn new(name: &'static str, backend: Arc<dyn Backend>, traffic: Traffic, crypter: &Crypter) -> Self {
        let writes = Arc::new(Writes::default());
        let backend = WatchedBackend::new(backend, Arc::clone(&writes) as _);
        Self { name, backend, writes, traffic, crypter: crypter.clone() }
    }

    fn count(&self) -> Count {
        let [flushes, journal, others] =
            [&self.writes.flushes, &self.writes.journal, &self.writes.others].map(|count| count.load(Ordering::SeqCst));
        Count { flushes, journal, others, wire: (self.traffic)() }
    }

    fn new_stack(&self, name: &str) -> StackName {
        let stack = StackName::new("bench", name).unwrap();
        block_on(create_stack(&self.backend, &stack, &self.crypter, &Environment::system())).unwrap();
        stack
    }

    /// One `up`, from taking the lease to giving it back: seconds, and what was counted.
    fn up(&self, stack: &StackName, requests: &[Vec<u8>], in_flight: usize) -> (f64, Count) {
        let (before, begin) = (self.count(), Instant::now());
        let session = block_on(Session::open(&self.backend, stack, options(&self.crypter))).unwrap();
        drop(up(session, requests, in_flight));
        (begin.elapsed().as_secs_f64(), self.count() - before)
    }

    /// A row of the table: `up` of independent resources on an empty stack, and once more.
    fn independent(&self, resources: usize) {
        let stack = self.new_stack(&format!("of-{resources}"));
        let requests = requests(resources);
        let (seconds, made) = self.up(&stack, &requests, IN_FLIGHT);
        let (again, idle) = self.up(&stack, &requests, IN_FLIGHT);
        let wire = |count: Count, each: &dyn Fn(u64, usize) -> String| {
            count
                .wire
                .map_or_else(|| "| ".to_owned(), |(asked, bytes)| format!("{} | {}", each(asked, 2), each(bytes, 0)))
        };
        println!(
            "| {} | {resources} | {seconds:.2} | {} | {} | {} | {again:.2} | {} | {} |",
            self.name,
            each(made.flushes, resources, 2),
            each(made.journal, resources, 0),
            wire(made, &|total, digits| each(total, resources, digits)),
            idle.flushes + idle.others,
            wire(idle, &|total, _| total.to_string()),
        );
    }

    /// A row of the other table: each resource is registered when the one before is there.
    fn chain(&self) {
        let stack = self.new_stack("chain");
        let (seconds, made) = self.up(&stack, &requests(CHAIN), 1);
        println!(
            "| {} | {seconds:.2} | {} | {} |",
            self.name,
            each(made.flushes, CHAIN, 2),
            each(made.journal, CHAIN, 0)
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn each(total: u64, resources: usize, digits: usize) -> String {
    format!("{:.digits$}", total as f64 / resources as f64)
}

fn main() {
    let given = std::env::args().skip(1).find(|argument| argument.starts_with(|first: char| first.is_ascii_digit()));
    let given = given.unwrap_or_else(|| "100,1000,10000".to_owned());
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("'{text}' is no number of resources"));
    let sizes: Vec<usize> = given.split(',').map(number).collect();
    let crypter = Crypter::with_new_salt(Passphrase::given("bench"), Environment::system()).unwrap();

    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let local = LocalBackend::open(directory.path(), Environment::system()).unwrap();
    let moto = servers::Server::moto(&[]);
    let to_moto = Wire::to(moto.port);
    let objects = maloko_stores::object::open(
        &format!("s3://states/bench?region=us-east-1&endpoint=http://127.0.0.1:{}", to_moto.port),
        &world::world(servers::S3_KEYS),
    );
    let database = server::Server::start();
    let (to_database, address) = Proxy::before(&database.new_address());
    let tables = server::machine(&address);

    let stores = [
        Measured::new("directory", Arc::new(local), Box::new(|| None), &crypter),
        Measured::new("S3", Arc::new(objects.unwrap()), Box::new(move || Some(to_moto.traffic())), &crypter),
        Measured::new("PostgreSQL", Arc::new(tables), Box::new(move || Some(to_database.traffic())), &crypter),
    ];
    println!(
        "| store | resources | `up`, s | flushes each | bytes of the journal each | requests each | bytes sent each | no-op \
         `up`, s | its writes | its requests | bytes sent |\n|{}",
        " --- |".repeat(11)
    );
    for store in &stores {
        for &size in &sizes {
            store.independent(size);
        }
    }
    println!("\n| a chain of {CHAIN} | `up`, s | flushes each | bytes of the journal each |\n|{}", " --- |".repeat(4));
    for store in &stores {
        store.chain();
    }
    drop(stores);
    database.stop();
}
