#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use futures::executor::block_on;

use crate::environment::Environment;
use crate::state::backend::{Backend, Wanted};
use crate::state::local::LocalBackend;
use crate::state::name::StackName;

const TWO: &str = r#"{"version":3,"checkpoint":{"latest":{"resources":[{},{}]}}}"#;

fn with_stack() -> (tempfile::TempDir, LocalBackend) {
    let directory = tempfile::tempdir().unwrap();
    let backend = LocalBackend::open(directory.path(), Environment::system()).unwrap();
    block_on(backend.create(&StackName::new("shop", "dev").unwrap(), TWO.as_bytes())).unwrap();
    (directory, backend)
}

fn told(backend: &LocalBackend) -> Option<u64> {
    let listed = block_on(backend.survey(&Wanted::default())).unwrap();
    assert_eq!(listed.len(), 1);
    listed[0].summary.map(|summary| summary.resources)
}

fn checkpoint(directory: &Path) -> PathBuf {
    directory.join(".pulumi/stacks/shop/dev.json")
}

#[test]
fn what_somebody_else_wrote_is_not_told_of() {
    let (directory, backend) = with_stack();
    assert_eq!(told(&backend), Some(2));
    let path = checkpoint(directory.path());
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    // Of another length.
    fs::write(&path, TWO.replace("{},{}", "{},{},{}")).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
    assert_eq!(told(&backend), None);
    // Of another time.
    fs::write(&path, TWO).unwrap();
    let set = |time: SystemTime| File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    set(written + Duration::from_micros(1));
    assert_eq!(told(&backend), None);
    set(written);
    assert_eq!(told(&backend), Some(2));
}

#[test]
fn a_summary_that_is_torn_or_missing_is_none() {
    let (directory, backend) = with_stack();
    let summary = directory.path().join(".pulumi/maloko/shop/dev/summary");
    let whole = fs::read(&summary).unwrap();
    for length in 0..whole.len() {
        fs::write(&summary, &whole[..length]).unwrap();
        assert_eq!(told(&backend), None, "{length} bytes");
    }
    fs::write(&summary, [&whole[..], b"more\n"].concat()).unwrap();
    assert_eq!(told(&backend), None);
    fs::write(&summary, &whole).unwrap();
    assert_eq!(told(&backend), Some(2));
    fs::remove_file(&summary).unwrap();
    assert_eq!(told(&backend), None);
}
