#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[test]
fn a_lock_is_free_once_it_is_dropped_although_a_copy_of_its_file_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lease");
    let lock = FileLock::try_acquire(&path).unwrap().unwrap();
    // As in a process that was forked while the lock was held.
    let copy = lock.file.try_clone().unwrap();
    assert!(FileLock::try_acquire(&path).unwrap().is_none());
    drop(lock);
    assert!(FileLock::try_acquire(&path).unwrap().is_some());
    drop(copy);
}

#[test]
fn a_lock_on_a_file_that_was_removed_does_not_count() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lease");
    let old = FileLock::try_acquire(&path).unwrap().unwrap();
    fs::remove_file(&path).unwrap();
    let new = FileLock::try_acquire(&path).unwrap();
    assert!(new.is_some());
    drop(old);
    assert!(FileLock::try_acquire(&path).unwrap().is_none(), "the old lock takes nothing away from the new one");
}
