//! The public suite that every store has to pass, in each kind of object store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use maloko_core::error::Result;
use maloko_core::state::Backend;
use maloko_core::state::conformance::{Rig, Store, run};
use maloko_stores::object::ObjectBackend;
use object_store::memory::InMemory;

use super::servers::Server;
use super::world::{block, over};

/// Opens a store that begins with this prefix, as one more machine.
type Open = Arc<dyn Fn(&str) -> ObjectBackend + Send + Sync>;

/// Each store has a prefix of its own.
struct Prefixes {
    open: Open,
    made: AtomicUsize,
}

struct Prefix {
    open: Open,
    prefix: String,
}

#[async_trait]
impl Rig for Prefixes {
    async fn store(&self) -> Result<Box<dyn Store>> {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Prefix { open: Arc::clone(&self.open), prefix: format!("case-{number}") }))
    }
}

#[async_trait]
impl Store for Prefix {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new((self.open)(&self.prefix)))
    }
}

fn passes(open: impl Fn(&str) -> ObjectBackend + Send + Sync + 'static) {
    passes_cases(open, &[]);
}

fn passes_cases(open: impl Fn(&str) -> ObjectBackend + Send + Sync + 'static, cases: &[&str]) {
    let rig = Prefixes { open: Arc::new(open), made: AtomicUsize::new(0) };
    let report = block(run(&rig, cases));
    assert!(report.failures().is_empty(), "{report}");
}

/// Each store of the suite is a memory of its own.
pub(crate) struct Memories;

struct Memory(Arc<InMemory>);

#[async_trait]
impl Rig for Memories {
    async fn store(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(Memory(Arc::new(InMemory::new()))))
    }
}

#[async_trait]
impl Store for Memory {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(over(&self.0)))
    }
}

#[test]
fn stacks_in_memory_pass() {
    let report = block(run(&Memories, &[]));
    assert!(report.failures().is_empty(), "{report}");
}

#[test]
fn stacks_in_s3_pass() {
    let server = Server::moto(&[]);
    passes(move |prefix| server.s3(prefix));
}

/// A prefix with all that Azure takes, too.
const HARD: &str = "~in fra%25/[ü]{x}/日本 +=&@'!$()*,;:^|<>`";

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
fn stacks_below_a_hard_prefix_in_s3_pass() {
    let server = Server::moto(&[]);
    passes_cases(move |prefix| server.s3(&format!("{HARD}%23%3f%22\\/{prefix}")), &LISTING);
}

#[test]
fn stacks_below_a_hard_prefix_in_azure_pass() {
    let server = Server::azurite();
    passes_cases(move |prefix| server.azure(&format!("{}/{prefix}", HARD.replace("%25", ""))), &LISTING);
}

#[test]
fn stacks_in_an_s3_store_without_conditional_writes_pass() {
    let server = Server::moto(&["--strip"]);
    passes(move |prefix| server.s3(prefix));
}

#[test]
fn stacks_in_azure_pass() {
    let server = Server::azurite();
    passes(move |prefix| server.azure(prefix));
}
