//! The public suite that every store has to pass, in each kind of object store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use maloko_core::error::Result;
use maloko_core::state::conformance::{Rig, Store, run};
use maloko_core::state::{Backend, StackName};
use maloko_stores::object::ObjectBackend;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::told::heedless;
use maloko_test_support::objects::servers::Server;
use maloko_test_support::objects::world::{block, over_any};

/// A server, whose stores are told apart by their prefixes.
trait Serves: Send + Sync {
    /// Opens the store below this prefix, as one more machine.
    fn open(&self, prefix: &str) -> ObjectBackend;
    /// Removes an object, and nothing else.
    fn lose(&self, key: &str);
}

struct S3(Server);

impl Serves for S3 {
    fn open(&self, prefix: &str) -> ObjectBackend {
        self.0.s3(prefix)
    }

    fn lose(&self, key: &str) {
        self.0.lose_in_s3(key);
    }
}

struct Azure(Server);

impl Serves for Azure {
    fn open(&self, prefix: &str) -> ObjectBackend {
        self.0.azure(prefix)
    }

    fn lose(&self, key: &str) {
        self.0.lose_in_azure(key);
    }
}

/// Each store has a prefix of its own.
struct Prefixes {
    server: Arc<dyn Serves>,
    /// What stands before all of them, as in an address.
    before: &'static str,
    made: AtomicUsize,
}

struct Prefix {
    server: Arc<dyn Serves>,
    prefix: String,
}

#[async_trait]
impl Rig for Prefixes {
    async fn store(&self) -> Result<Box<dyn Store>> {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Prefix { server: Arc::clone(&self.server), prefix: format!("{}case-{number}", self.before) }))
    }
}

#[async_trait]
impl Store for Prefix {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(self.server.open(&self.prefix)))
    }

    async fn lose_checkpoint(&self, stack: &StackName) -> Result<bool> {
        self.server.lose(&format!("{}/{}", self.prefix, checkpoint_of(stack)));
        Ok(true)
    }
}

fn checkpoint_of(stack: &StackName) -> String {
    format!(".pulumi/stacks/{}/{}.json", stack.project(), stack.stack())
}

fn passes(before: &'static str, server: impl Serves + 'static, cases: &[&str]) {
    let rig = Prefixes { server: Arc::new(server), before, made: AtomicUsize::new(0) };
    let report = block(run(&rig, cases));
    assert!(report.failures().is_empty(), "{report}");
}

/// Each store of the suite is a memory of its own.
pub(crate) struct Memories;

struct Memory<S>(Arc<S>);

#[async_trait]
impl Rig for Memories {
    async fn store(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(Memory(Arc::new(InMemory::new()))))
    }
}

#[async_trait]
impl<S: ObjectStore> Store for Memory<S> {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(over_any(Arc::clone(&self.0) as _)))
    }

    async fn lose_checkpoint(&self, stack: &StackName) -> Result<bool> {
        self.0.delete(&Path::from(checkpoint_of(stack))).await.unwrap();
        Ok(true)
    }
}

#[test]
pub(crate) fn stacks_in_memory_pass() {
    let report = block(run(&Memories, &[]));
    assert!(report.failures().is_empty(), "{report}");
}

/// As [`Memories`], of stores without conditional writes.
struct Heedless;

#[async_trait]
impl Rig for Heedless {
    async fn store(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(Memory(heedless())))
    }
}

#[test]
fn stacks_in_memory_without_conditional_writes_pass() {
    let report = block(run(&Heedless, &[]));
    assert!(report.failures().is_empty(), "{report}");
}

/// A prefix with all that Azure takes, where whatever a store can do can be done, and one with what S3 takes beyond that.
const HARD: &str = "~in fra/[ü]{x}/日本 +=&@'!$()*,;:^|<>`/";
const HARDER: &str = "~in fra%25/[ü]{x}/日本 +=&@'!$()*,;:^|<>`%23%3f%22\\/";

/// The cases that list, or in which another machine finds something because it is listed.
const LISTING: [&str; 6] = [
    "a_stack_is_made_listed_loaded_and_removed",
    "names_that_are_hard_are_kept_apart",
    "another_machine_sees_what_was_appended",
    "a_zombie_writes_nothing_while_another_one_works",
    "former_checkpoints_are_kept_and_bounded",
    "history_is_bounded",
];

#[test]
fn stacks_in_s3_pass() {
    passes("", S3(Server::moto(&[])), by_day(&SAMPLE));
}

#[test]
fn stacks_below_a_hard_prefix_in_s3_pass() {
    let all = if every_case() { LISTING.as_slice() } else { &LISTING[..3] };
    passes(HARDER, S3(Server::moto(&[])), all);
}

#[test]
fn stacks_below_a_hard_prefix_in_azure_pass() {
    passes(HARD, Azure(Server::azurite()), by_day(&SAMPLE));
}

/// The cases that are tried in every server each time; the stores in memory are tried with all of them.
const SAMPLE: [&str; 7] = [
    "a_stack_is_made_listed_loaded_and_removed",
    "another_machine_sees_what_was_appended",
    "one_machine_at_a_time_may_write",
    "of_many_leases_at_once_exactly_one_is_given",
    "breaking_locks_tells_whose_they_were",
    "a_zombie_does_not_give_back_the_lease_of_another",
    "former_checkpoints_are_kept_and_bounded",
];

/// These cases; with `MALOKO_EVERY_CASE` (`make nightly-stores`) every one, for which no name stands.
fn by_day(cases: &'static [&'static str]) -> &'static [&'static str] {
    if every_case() { &[] } else { cases }
}

fn every_case() -> bool {
    std::env::var_os("MALOKO_EVERY_CASE").is_some()
}

#[test]
fn stacks_in_an_s3_store_without_conditional_writes_pass() {
    passes("", S3(Server::moto(&["--strip"])), by_day(&SAMPLE));
}
