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

#[cfg(unix)]
#[test]
fn the_user_has_a_name_without_an_environment() {
    let told = std::process::Command::new("id").arg("-un").output().unwrap();
    assert_eq!(user_name_in(&|_| None), String::from_utf8(told.stdout).unwrap().trim());
    assert_eq!(user_name_in(&|name| (name == "LOGNAME").then(|| "ada".to_owned())), "ada");
    assert_ne!(user_name_in(&|name| (name == "USER").then(String::new)), "");
}

#[cfg(unix)]
#[test]
fn a_process_has_ended_once_nobody_has_its_number() {
    let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    assert!(!has_ended(child.id()));
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(has_ended(child.id()));
    assert!(!has_ended(0), "nobody's number");
}
