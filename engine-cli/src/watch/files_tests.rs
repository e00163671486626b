#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::fs;
use std::path::PathBuf;
use std::slice;
use std::time::{Duration, SystemTime};

use super::Files;

#[test]
fn state_and_installed_packages_do_not_count() {
    let root = tempfile::tempdir().unwrap();
    for directory in ["src", "node_modules/x", ".maloko/.pulumi", ".venv/lib", "src/__pycache__"] {
        fs::create_dir_all(root.path().join(directory)).unwrap();
    }
    let files = Files::new(root.path(), &[]).unwrap();
    let counts = |path: &str| files.counts(&root.path().join(path));
    assert!(counts("Pulumi.yaml") && counts("Pulumi.dev.yaml") && counts("src/label.py"));
    for path in ["node_modules/x/index.js", ".maloko/stack", ".venv/lib/x.py", "src/__pycache__/x.pyc", "src/x.py~"] {
        assert!(!counts(path), "{path}");
    }
    assert_eq!(files.directories(), [root.path().to_owned(), root.path().join("src")]);
    let only = Files::new(root.path(), &["src".into()]).unwrap();
    assert!(!only.counts(&root.path().join("Pulumi.yaml")) && only.counts(&root.path().join("src/x.py")));
    assert!(Files::new(root.path(), &["none".into()]).is_err());
}

#[test]
fn neither_what_output_goes_to_nor_what_a_program_writes_counts() {
    let root = tempfile::tempdir().unwrap();
    let (output, generated) = (root.path().join("out.txt"), root.path().join("generated.ts"));
    for file in [&output, &generated] {
        fs::write(file, "").unwrap();
    }
    let mut files = Files::new(root.path(), &[]).unwrap();
    assert!(files.counts(&output) && files.counts(&generated));
    files.leave_out_outputs(&[output.metadata().unwrap()]);
    assert!(!files.counts(&output) && files.counts(&generated));
    let before = files.look();
    fs::write(&generated, "longer").unwrap();
    assert_eq!(files.changed_program(&before), Some(generated.clone()));
    files.is_written_by_the_program(generated.clone());
    assert_eq!(files.changed_program(&before), None);
    assert!(files.counts(&generated), "between runs, somebody else has changed it");
}

#[test]
fn only_files_of_the_program_count_while_it_runs() {
    let root = tempfile::tempdir().unwrap();
    let files = Files::new(root.path(), &[]).unwrap();
    let before = files.look();
    fs::write(root.path().join("world.json"), "{}").unwrap();
    assert_eq!(files.changed_program(&before), None);
    fs::write(root.path().join("new.py"), "").unwrap();
    assert_eq!(files.changed_program(&before), Some(root.path().join("new.py")));
}

/// A project, a file outside of it, and the files of the project.
fn beside() -> (tempfile::TempDir, PathBuf, Files) {
    let top = tempfile::tempdir().unwrap();
    let (root, shared) =
        (top.path().canonicalize().unwrap().join("app"), top.path().canonicalize().unwrap().join("shared"));
    for directory in [&root, &shared] {
        fs::create_dir(directory).unwrap();
    }
    let file = shared.join("x.py");
    fs::write(&file, "").unwrap();
    let files = Files::new(&root, &[]).unwrap();
    (top, file, files)
}

#[test]
fn what_the_last_run_was_loaded_from_counts_wherever_it_is() {
    let (_top, file, mut files) = beside();
    let (shared, other) = (file.parent().unwrap().to_owned(), file.with_file_name("other.py"));
    fs::write(&other, "").unwrap();
    assert!(!files.counts(&file) && !files.directories().contains(&shared));
    files.follow(slice::from_ref(&file), false);
    assert!(files.counts(&file) && !files.counts(&other) && files.directories().contains(&shared));
    assert_eq!(files.shown(&file), "../shared/x.py");
    files.follow(slice::from_ref(&other), true);
    assert!(files.counts(&file) && files.counts(&other), "a run that failed may not have come to a file");
    files.follow(slice::from_ref(&other), false);
    assert!(!files.counts(&file) && files.counts(&other));
    files.follow(&[], false);
    assert!(!files.counts(&other) && !files.directories().contains(&shared));
}

#[test]
fn a_directory_that_was_loaded_from_may_go_and_come_back() {
    let (top, file, mut files) = beside();
    files.follow(slice::from_ref(&file), false);
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
    let above = top.path().canonicalize().unwrap();
    assert_eq!(files.directories(), [above.clone(), above.join("app")]);
    assert!(files.counts(file.parent().unwrap()));
    assert!(!files.counts(&above.join("another")));
}

#[test]
fn a_file_that_is_loaded_for_the_first_time_has_changed_only_if_it_did_so_since() {
    let (_top, file, mut files) = beside();
    let modified = |time: SystemTime| fs::File::open(&file).unwrap().set_modified(time).unwrap();
    modified(SystemTime::now() - Duration::from_secs(60));
    let before = files.look();
    files.follow(slice::from_ref(&file), false);
    assert_eq!(files.changed_program(&before), None);
    modified(SystemTime::now() + Duration::from_secs(60));
    assert_eq!(files.changed_program(&before), Some(file.clone()));
    let before = files.look();
    assert_eq!(files.changed_program(&before), None);
    fs::remove_file(&file).unwrap();
    assert_eq!(files.changed_program(&before), Some(file.clone()));
    files.is_written_by_the_program(file);
    assert_eq!(files.changed_program(&before), None);
}
