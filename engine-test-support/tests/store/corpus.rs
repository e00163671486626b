//! States and journals that earlier versions wrote, crashed ones among them, are loaded for ever (P16).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use futures::executor::block_on;
use maloko_core::environment::Environment;
use maloko_core::state::{
    Checkpoint, Crypter, MemoryBackend, Passphrase, Session, StoredStack, export_deployment, read_stack,
};
use serde_json::{Value as Json, json};

use maloko_test_support::stories::{self, PASSPHRASE, stack};

/// The directories of all versions' stories.
pub(crate) fn directories() -> Vec<PathBuf> {
    let below = |directory: &Path| -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    };
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"))
        .iter()
        .flat_map(|version| below(version))
        .collect()
}

/// What is stored in such a directory.
pub(crate) fn stored(directory: &Path) -> StoredStack {
    StoredStack {
        checkpoint: fs::read(directory.join("checkpoint.json")).unwrap(),
        checkpoint_place: directory.join("checkpoint.json").display().to_string(),
        journal: fs::read(directory.join("journal")).ok(),
        seal: fs::read(directory.join("seal")).ok(),
        journal_place: directory.join("journal").display().to_string(),
    }
}

fn crypter_of(stored: &StoredStack) -> Crypter {
    let checkpoint = Checkpoint::decode(&stored.checkpoint, "corpus").unwrap();
    let salt = checkpoint.snapshot.key_record().unwrap().unwrap().salt().unwrap().to_owned();
    Crypter::new(Passphrase::given(PASSPHRASE), &salt, Environment::system()).unwrap()
}

/// The resources and the pending operations. Earlier versions wrote the resources in an order of their own, which says
/// nothing.
fn told(deployment: &Json) -> [Json; 2] {
    let mut resources = deployment["resources"].clone();
    if let Some(resources) = resources.as_array_mut() {
        resources.sort_by_key(|resource| ["urn", "delete", "id"].map(|member| resource[member].to_string()));
    }
    [resources, deployment["pending_operations"].clone()]
}

fn content(backend: &MemoryBackend, crypter: &Crypter) -> [Json; 2] {
    let mut snapshot = block_on(read_stack(backend, &stack(), true)).unwrap().snapshot;
    snapshot.unseal(crypter).unwrap();
    let text = export_deployment(&snapshot, Some(crypter), true).unwrap();
    let json: Json = serde_json::from_str(&text).unwrap();
    told(&json["deployment"])
}

#[test]
fn what_earlier_versions_wrote_is_read_and_compacted_as_they_did() {
    let directories = directories();
    assert!(directories.len() >= 12, "the corpus is not there");
    for directory in directories {
        let expected: Json = serde_json::from_slice(&fs::read(directory.join("expected.json")).unwrap()).unwrap();
        let expected = told(&expected["deployment"]);
        let stored = stored(&directory);
        let crypter = crypter_of(&stored);
        let backend = MemoryBackend::default();
        backend.restore(&stack(), stored);
        assert_eq!(content(&backend, &crypter), expected, "{}", directory.display());
        // The recovery writes it down as it was read.
        let session = block_on(Session::open(&backend, &stack(), stories::options(&crypter))).unwrap();
        block_on(session.compact(session.snapshot().clone())).unwrap();
        assert_eq!(content(&backend, &crypter), expected, "{}, compacted", directory.display());
        assert_eq!(backend.stored(&stack()).unwrap().journal, None);
    }
}

#[test]
fn the_corpus_holds_every_condition_of_this_version() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(env!("CARGO_PKG_VERSION"));
    let there: BTreeSet<String> =
        fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let told = stories::stories(&stories::crypter()).iter().map(|story| story.name.to_owned()).collect();
    assert_eq!(there, told, "make corpus");
}

/// A state with one member more wherever a newer tool may put one.
fn from_the_future() -> Json {
    let resource = |name: &str| {
        json!({
            "urn": format!("urn:pulumi:dev::shop::acme:index:Group::{name}"), "custom": false, "type": "acme:index:Group",
            "futureRow": {"a": [1, null, "x"]},
        })
    };
    json!({
        "version": 3,
        "futureFile": [1, 2.5, {"deep": true}],
        "checkpoint": {
            "stack": "organization/shop/dev",
            "futureCheckpoint": "kept",
            "latest": {
                "manifest": {"time": "2026-01-01T00:00:00Z", "futureManifest": 1},
                "metadata": {"futureMetadata": {"x": 1}},
                "futureLatest": {"y": [{}]},
                "resources": [resource("a"), resource("b")],
            },
        },
    })
}

fn with(bytes: Vec<u8>) -> MemoryBackend {
    let backend = MemoryBackend::default();
    backend.restore(&stack(), StoredStack { checkpoint: bytes, ..StoredStack::default() });
    backend
}

#[test]
pub(crate) fn members_that_this_version_does_not_know_are_kept_on_write() {
    let crypter = stories::crypter();
    let backend = with(from_the_future().to_string().into_bytes());
    let session = block_on(Session::open(&backend, &stack(), stories::options(&crypter))).unwrap();
    let mut snapshot = session.snapshot().clone();
    snapshot.resources.truncate(1);
    block_on(session.compact(snapshot)).unwrap();
    let now: Json = serde_json::from_slice(&backend.stored(&stack()).unwrap().checkpoint).unwrap();
    let before = from_the_future();
    let places = [
        "/futureFile",
        "/checkpoint/futureCheckpoint",
        "/checkpoint/latest/futureLatest",
        "/checkpoint/latest/metadata/futureMetadata",
        "/checkpoint/latest/manifest/futureManifest",
        "/checkpoint/latest/resources/0/futureRow",
    ];
    for place in places {
        assert!(before.pointer(place).is_some());
        assert_eq!(now.pointer(place), before.pointer(place), "{place}");
    }
    assert_eq!(now["checkpoint"]["latest"]["resources"].as_array().unwrap().len(), 1);
}

/// Opens for writing; gives the error, and sees to it that nothing was written.
fn refused(newer: &Json) -> String {
    let bytes = newer.to_string().into_bytes();
    let backend = with(bytes.clone());
    let opened = block_on(Session::open(&backend, &stack(), stories::options(&stories::crypter())));
    let message = opened.err().unwrap().to_string();
    assert!(block_on(read_stack(&backend, &stack(), true)).is_err());
    assert_eq!(backend.stored(&stack()).unwrap().checkpoint, bytes, "nothing is overwritten");
    message
}

#[test]
pub(crate) fn newer_states_are_refused_and_not_stripped() {
    let mut newer = from_the_future();
    newer["version"] = json!(5);
    let message = refused(&newer);
    assert!(message.contains("format 5") && message.contains("newer maloko"), "{message}");
    newer["version"] = json!(4);
    newer["features"] = json!(["hooks", "teleportation"]);
    let message = refused(&newer);
    assert!(message.contains("'teleportation'"), "{message}");
    // Also when what is in it looks like damage to this version.
    newer["checkpoint"]["latest"] = json!("elsewhere");
    let message = refused(&newer);
    assert!(message.contains("'teleportation'"), "{message}");
}

#[test]
fn the_old_formats_of_pulumi_are_refused_with_the_way_to_write_them_anew() {
    for version in [1, 2] {
        let mut old = from_the_future();
        old["version"] = json!(version);
        let message = refused(&old);
        assert!(message.contains(&format!("old format {version}")) && message.contains("pulumi"), "{message}");
    }
}
