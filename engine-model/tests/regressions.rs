//! Lifecycles that once showed a fault of the engine or of the model, and a first few generated ones.
#![expect(clippy::panic, reason = "a lifecycle that breaks an invariant fails the test")]

use std::fs;
use std::path::PathBuf;

use maloko_model::generate;
use maloko_model::program::Lifecycle;
use maloko_model::rules::Counts;
use maloko_model::run::run;

fn regressions() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions");
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

#[test]
fn what_once_failed_holds() {
    let files = regressions();
    assert!(!files.is_empty());
    for path in files {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let lifecycle = Lifecycle::from_text(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Err(failure) = run(&lifecycle, &mut Counts::default()) {
            panic!("{}: {failure}", path.display());
        }
    }
}

#[test]
fn generated_lifecycles_hold() {
    for program in 0..20 {
        if let Err(failure) = run(&generate::lifecycle(1, program), &mut Counts::default()) {
            panic!("program {program} of seed 1: {failure}");
        }
    }
}

#[test]
fn a_lifecycle_is_read_as_it_was_written() {
    for program in 0..50 {
        let lifecycle = generate::lifecycle(3, program);
        let text = lifecycle.to_text().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Lifecycle::from_text(&text), Ok(lifecycle));
    }
}
