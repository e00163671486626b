//! Writes the corpus of this version's states and journals, which later versions must be able to load:
//! `cargo run -p maloko-test-support --example make_corpus DIRECTORY`. What earlier versions wrote is never written again.
#![allow(clippy::disallowed_methods, reason = "tests and benches have the machine to themselves")]
#![expect(clippy::unwrap_used, reason = "a corpus that cannot be made is no corpus")]

use std::fs;
use std::path::PathBuf;

use futures::executor::block_on;
use maloko_core::state::{MemoryBackend, export_deployment, read_stack};
use maloko_test_support::stories;

fn main() {
    let root = PathBuf::from(std::env::args_os().nth(1).unwrap()).join(env!("CARGO_PKG_VERSION"));
    assert!(!root.exists(), "{} is there already", root.display());
    let crypter = stories::crypter();
    for story in stories::stories(&crypter) {
        let directory = root.join(story.name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("checkpoint.json"), &story.stored.checkpoint).unwrap();
        if let Some(seal) = &story.stored.seal {
            fs::write(directory.join("seal"), seal).unwrap();
        }
        if let Some(journal) = &story.stored.journal {
            fs::write(directory.join("journal"), journal).unwrap();
        }
        // What the version that wrote it makes of it is what every later one has to.
        let backend = MemoryBackend::default();
        backend.restore(&stories::stack(), story.stored);
        let reading = block_on(read_stack(&backend, &stories::stack(), true)).unwrap();
        let mut snapshot = reading.snapshot;
        snapshot.unseal(&crypter).unwrap();
        let text = export_deployment(&snapshot, Some(&crypter), true).unwrap();
        fs::write(directory.join("expected.json"), text).unwrap();
    }
}
