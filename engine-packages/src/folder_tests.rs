use std::fs;

use super::*;

fn file(path: &str, text: &str) -> SdkFile {
    SdkFile { path: path.to_owned(), text: text.to_owned() }
}

fn first() -> Vec<SdkFile> {
    vec![file("pkg/__init__.py", "A = 1\n"), file("README.md", "one\n")]
}

#[test]
fn a_folder_is_made_then_left_and_then_replaced() {
    let there = tempfile::tempdir().unwrap();
    let folder = there.path().join("sdks/random");
    assert_eq!(write(&folder, &first(), "probe", false).unwrap(), FolderOutcome::Made);
    assert_eq!(write(&folder, &first(), "probe", false).unwrap(), FolderOutcome::Same);
    let second = [file("pkg/__init__.py", "A = 2\n")];
    assert_eq!(write(&folder, &second, "probe", false).unwrap(), FolderOutcome::Replaced);
    assert_eq!(fs::read_to_string(folder.join("pkg/__init__.py")).unwrap(), "A = 2\n");
    assert!(!folder.join("README.md").exists());
    let left: Vec<_> = fs::read_dir(there.path().join("sdks")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing else is left beside it");
}

#[test]
fn what_was_changed_by_hand_is_kept_and_shown() {
    let there = tempfile::tempdir().unwrap();
    let folder = there.path().join("random");
    write(&folder, &first(), "probe", false).unwrap();
    fs::write(folder.join("README.md"), "mine\n").unwrap();
    fs::write(folder.join("extra.py"), "B = 1\n").unwrap();
    fs::create_dir(folder.join("__pycache__")).unwrap();
    fs::write(folder.join("__pycache__/x.pyc"), "").unwrap();

    let fault = write(&folder, &first(), "probe", false).unwrap_err();

    assert_eq!(fault.to_string(), format!("{} was changed by hand: README.md, extra.py", folder.display()));
    let FolderFault::Edited { edits, .. } = fault else { panic!("{fault}") };
    assert!(edits[0].diff.contains("-mine\n+one\n"), "{}", edits[0].diff);
    assert_eq!(fs::read_to_string(folder.join("README.md")).unwrap(), "mine\n");
    assert_eq!(write(&folder, &first(), "probe", true).unwrap(), FolderOutcome::Replaced);
    assert_eq!(fs::read_to_string(folder.join("README.md")).unwrap(), "one\n");
}

#[test]
fn what_others_made_is_kept() {
    let there = tempfile::tempdir().unwrap();
    let folder = there.path().join("random");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("setup.py"), "").unwrap();
    let fault = write(&folder, &first(), "probe", false).unwrap_err();
    assert_eq!(fault.to_string(), format!("{} is there already, and maloko did not make it", folder.display()));
    assert_eq!(write(&folder, &first(), "probe", true).unwrap(), FolderOutcome::Replaced);
}

#[test]
fn a_deleted_file_is_made_again() {
    let there = tempfile::tempdir().unwrap();
    let folder = there.path().join("random");
    write(&folder, &first(), "probe", false).unwrap();
    fs::remove_file(folder.join("README.md")).unwrap();
    write(&folder, &[file("pkg/__init__.py", "A = 2\n"), file("README.md", "two\n")], "probe", false).unwrap();
    assert_eq!(fs::read_to_string(folder.join("README.md")).unwrap(), "two\n");
}
