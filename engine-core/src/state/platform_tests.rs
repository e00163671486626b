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

#[test]
fn what_a_crash_left_of_a_write_is_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dev.json");
    fs::write(directory.path().join("dev.json.tmp"), "half").unwrap();
    write_atomically(&path, b"whole").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_new_file_never_replaces_another() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    assert!(write_new(&path, b"one").unwrap());
    assert!(!write_new(&path, b"two").unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn backups_are_kept_without_touching_the_original() {
    let directory = tempfile::tempdir().unwrap();
    let (path, backup) = (directory.path().join("dev.json"), directory.path().join("dev.json.bak"));
    keep_backup(&path, &backup).unwrap();
    assert!(!backup.exists());
    for content in [b"one", b"two"] {
        write_atomically(&path, content).unwrap();
        keep_backup(&path, &backup).unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&backup).unwrap()), (content.to_vec(), content.to_vec()));
    }
    write_atomically(&path, b"three").unwrap();
    assert_eq!(fs::read(&backup).unwrap(), b"two");
}
