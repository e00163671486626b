#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use futures::executor::block_on;

use super::*;
use crate::environment::Environment;
use crate::state::fixtures::faulty::failing_after;
use crate::state::{LocalBackend, MemoryBackend, StoredEntry, read_stack};

const FORMER: [&[u8]; 2] = [
    br#"{"version":3,"checkpoint":{"stack":"organization/shop/dev","latest":{"manifest":{"time":"1"}}}}"#,
    br#"{"version":3,"checkpoint":{"stack":"organization/shop/dev","latest":{"manifest":{"time":"2"}}}}"#,
];
const PRESENT: &[u8] =
    br#"{"version":3,"checkpoint":{"stack":"organization/shop/dev","latest":{"manifest":{"time":"3"}}}}"#;

fn dev() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

/// A store in a directory with a stack that has a past.
fn source() -> (tempfile::TempDir, LocalBackend) {
    let directory = tempfile::tempdir().unwrap();
    let backend = LocalBackend::open(directory.path(), Environment::system()).unwrap();
    block_on(async {
        backend.create(&dev(), FORMER[0]).await.unwrap();
        let lease = backend.lease(&dev(), "up").await.unwrap();
        lease.replace(FORMER[1], 5).await.unwrap();
        lease.replace(PRESENT, 5).await.unwrap();
        lease.write_seal(b"seal").await.unwrap();
        lease.release().await.unwrap();
        for at in 1..4 {
            backend
                .add_history(&dev(), at, format!("{{\"kind\":\"update\",\"version\":{at}}}").as_bytes(), 0)
                .await
                .unwrap();
        }
    });
    (directory, backend)
}

fn entries(history: &[StoredEntry]) -> Vec<(i128, &[u8])> {
    history.iter().map(|entry| (entry.at, entry.entry.as_slice())).collect()
}

async fn is_whole(backend: &dyn Backend) {
    let stored = backend.load(&dev()).await.unwrap();
    assert_eq!((stored.checkpoint.as_slice(), stored.journal, stored.seal), (PRESENT, None, Some(b"seal".to_vec())));
    let history = backend.history(&dev(), 0).await.unwrap();
    assert_eq!(entries(&history).len(), 3);
    assert_eq!(history[0].at, 3);
    let generations = backend.generations(&dev()).await.unwrap();
    for (generation, former) in generations.iter().zip(FORMER.iter().rev()) {
        assert_eq!(backend.load_generation(&dev(), generation.number).await.unwrap(), *former);
    }
    assert!(generations.len() >= FORMER.len(), "{generations:?}");
    assert!(backend.holders(&dev()).await.unwrap().is_empty());
}

#[test]
fn a_stack_moves_with_its_past_and_its_seal() {
    let (_directory, source) = source();
    let target = MemoryBackend::default();
    let copied = block_on(migrate_stack(&source, &target, &dev(), false)).unwrap();
    assert_eq!((copied.generations, copied.history, copied.removed), (2, 3, false));
    block_on(is_whole(&source));
    block_on(is_whole(&target));
    // Once more is no harm, and only then does the source go.
    let again = block_on(migrate_stack(&source, &target, &dev(), true)).unwrap();
    assert!(again.was_there && again.removed);
    assert!(matches!(block_on(source.load(&dev())), Err(Error::NoStack { .. })));
    block_on(is_whole(&target));
}

#[test]
fn what_stands_in_the_way_is_refused_and_nothing_changes() {
    let (directory, source) = source();
    let target = MemoryBackend::default();
    block_on(target.create(&dev(), FORMER[0])).unwrap();
    let error = block_on(migrate_stack(&source, &target, &dev(), true)).unwrap_err().to_string();
    assert!(error.contains("another stack 'dev' in memory://"), "{error}");
    assert_eq!(block_on(target.load(&dev())).unwrap().checkpoint, FORMER[0]);
    block_on(is_whole(&source));
    let held = block_on(target.lease(&dev(), "up")).unwrap();
    let error = block_on(migrate_stack(&source, &target, &dev(), true)).unwrap_err().to_string();
    assert!(error.contains("add `--backend 'memory://"), "{error}");
    block_on(held.release()).unwrap();
    // The same store, also under another name, is no target.
    let same = LocalBackend::open(&directory.path().join(".pulumi").join(".."), Environment::system()).unwrap();
    assert_ne!(same.url(), source.url());
    for other in [&source, &same] {
        assert!(block_on(migrate_stack(&source, other, &dev(), true)).is_err());
    }
    block_on(is_whole(&source));
    // Nor is a stack taken from under a run, or from one that was killed.
    let lease = block_on(source.lease(&dev(), "up")).unwrap();
    let target = MemoryBackend::default();
    assert!(matches!(block_on(migrate_stack(&source, &target, &dev(), false)), Err(Error::InUse { .. })));
    block_on(lease.append(b"a record")).unwrap();
    block_on(lease.release()).unwrap();
    let error = block_on(migrate_stack(&source, &target, &dev(), false)).unwrap_err().to_string();
    assert!(error.contains("was interrupted"), "{error}");
    assert!(block_on(target.list()).unwrap().is_empty());
}

/// A target that fails, or dies, at every one of its writes.
#[test]
fn an_interrupted_copy_says_so_and_is_begun_anew() {
    for torn in [false, true] {
        let finished = (0..20).any(|writes| is_copied(writes, torn));
        assert!(finished, "more writes than expected");
    }
}

/// Does the target fail before the copy is whole? Then it is begun anew.
fn is_copied(writes: usize, torn: bool) -> bool {
    let (_directory, source) = source();
    let target = MemoryBackend::default();
    let failing = failing_after(target.clone(), writes, torn);
    let Err(error) = block_on(migrate_stack(&source, &failing, &dev(), true)) else {
        block_on(is_whole(&target));
        return true;
    };
    assert!(error.to_string().contains("The whole stack is still in file://"), "{error}");
    block_on(is_whole(&source));
    match block_on(read_stack(&target, &dev(), true)) {
        // Made, and not marked yet: it is the same state.
        Ok(_) => assert_eq!(block_on(target.load(&dev())).unwrap().checkpoint, PRESENT),
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("has not finished") && said.contains("file://"), "{said}");
        }
    }
    block_on(target.break_locks(&dev())).unwrap();
    block_on(migrate_stack(&source, &target, &dev(), true)).unwrap();
    block_on(is_whole(&target));
    assert!(block_on(source.load(&dev())).is_err());
    false
}
