#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use super::*;
use crate::environment::disk::SystemFiles;

const DISK: &SystemFiles = &SystemFiles;

#[test]
fn what_a_crash_left_of_a_write_is_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dev.json");
    fs::write(directory.path().join("dev.json.tmp"), "half").unwrap();
    write_atomically(DISK, &path, b"whole").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_new_file_never_replaces_another() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    assert!(write_new(DISK, &path, b"one").unwrap());
    assert!(!write_new(DISK, &path, b"two").unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn backups_are_kept_without_touching_the_original() {
    let directory = tempfile::tempdir().unwrap();
    let (path, backup) = (directory.path().join("dev.json"), directory.path().join("dev.json.bak"));
    keep_backup(DISK, &path, &backup).unwrap();
    assert!(!backup.exists());
    for content in [b"one", b"two"] {
        write_atomically(DISK, &path, content).unwrap();
        keep_backup(DISK, &path, &backup).unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&backup).unwrap()), (content.to_vec(), content.to_vec()));
    }
    write_atomically(DISK, &path, b"three").unwrap();
    assert_eq!(fs::read(&backup).unwrap(), b"two");
}
