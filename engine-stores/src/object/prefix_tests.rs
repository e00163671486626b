#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::error::Result;
use maloko_core::state::Backend;
use maloko_core::state::conformance::{Rig, Store, run};
use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::object::listing::Connection;
use crate::object::{Address, ObjectBackend};
use crate::testing::world_at;

fn prefix(url: &str) -> String {
    Address::parse(url).unwrap().prefix
}

fn refused(url: &str) -> String {
    Address::parse(url).unwrap_err().to_string()
}

#[test]
fn a_prefix_is_the_text_that_was_written() {
    assert_eq!(prefix("s3://b"), "");
    assert_eq!(prefix("s3://b/team/a/"), "team/a/");
    assert_eq!(prefix("s3://b/~in fra/[ü]{日本}?region=x"), "~in fra/[ü]{日本}/");
    assert_eq!(prefix("s3://b/~in%20fra/%5B%C3%BC]"), "~in fra/[ü]/");
    assert_eq!(prefix(r"gs://b/100%25%23%3f%22\"), r#"100%#?"\/"#);
    assert_eq!(Address::parse("s3://b/ü").unwrap().place(), "s3://b/ü/");
}

#[test]
fn what_cannot_be_a_prefix_is_refused_by_name() {
    for (url, char) in [
        ("azblob://box/a%25b", "'%' (U+0025)"),
        (r"azblob://box/a\b", r"'\\' (U+005C)"),
        ("azblob://box/a%3fb", "'?' (U+003F)"),
        ("azblob://box/a%23b?domain=x", "'#' (U+0023)"),
        ("azblob://box/a%22b", "'\\\"' (U+0022)"),
        ("s3://box/a%0ab", "'\\n' (U+000A)"),
        ("s3://box/a\tb", "'\\t' (U+0009)"),
        ("s3://box/a%c2%85", "(U+0085)"),
    ] {
        let error = refused(url);
        assert!(error.contains(char) && error.contains("://box/"), "{url}: {error}");
    }
    for url in ["s3://b/a/../c", "s3://b/./a", "s3://b/a/%2E%2e", "s3://b/a../c"] {
        assert!(refused(url).contains("end in '..'"), "{url}");
    }
    assert!(refused("s3://b/a//c").contains("empty"));
}

/// Each store of the suite is a memory of its own.
struct Memories(&'static str);

struct Memory(&'static str, Arc<InMemory>);

#[async_trait]
impl Rig for Memories {
    async fn store(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(Memory(self.0, Arc::new(InMemory::new()))))
    }
}

#[async_trait]
impl Store for Memory {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        let memory = Arc::clone(&self.1);
        let connect =
            Box::new(move || Ok(Connection { store: Arc::clone(&memory) as Arc<dyn ObjectStore>, pages: None }));
        let (url, world) = ("memory://".to_owned(), world_at(".".as_ref(), &[]));
        Ok(Arc::new(ObjectBackend::new(url.clone(), url, self.0.to_owned(), connect, world)))
    }
}

/// What lists, or is found by another machine because it is listed.
const LISTING: [&str; 4] = [
    "a_stack_is_made_listed_loaded_and_removed",
    "another_machine_sees_what_was_appended",
    "former_checkpoints_are_kept_and_bounded",
    "history_is_bounded",
];

#[test]
fn stacks_below_hard_prefixes_pass() {
    for prefix in ["~infra/", "100%/", "%25/%7E/", "[a]/{b}/", "ü/", "日本 +=&@/", "a^b|c<d>`e*f/", "#?\"\\/"] {
        let report = futures::executor::block_on(run(&Memories(prefix), &LISTING));
        assert!(report.failures().is_empty() && report.verdicts.len() == LISTING.len(), "{prefix}: {report}");
    }
}
