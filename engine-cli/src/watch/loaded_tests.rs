#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{List, outside, seen_from};

#[test]
fn only_files_that_somebody_writes_outside_of_the_project_are_followed() {
    let top = tempfile::tempdir().unwrap();
    let top = top.path().canonicalize().unwrap();
    let names = ["app/own.py", "shared/x.py", "lib/site-packages/y.py", "node_modules/z/index.js"];
    for name in names {
        fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
        fs::write(top.join(name), "").unwrap();
    }
    symlink(top.join("app"), top.join("linked")).unwrap();
    symlink(top.join("shared"), top.join("app/shared")).unwrap();
    let loaded = |names: &[&str]| names.iter().map(|name| top.join(name)).collect::<Vec<_>>();
    let expected = BTreeSet::from([top.join("shared/x.py")]);
    let all = [&loaded(&names)[..], &loaded(&["app/../shared/x.py", "app/shared/x.py", "gone.py", "shared"])].concat();
    for root in ["app", "linked"] {
        assert_eq!(outside(&top.join(root), &all), expected, "{root}");
    }
}

#[test]
fn a_list_that_was_not_written_is_empty() {
    assert_eq!(List::begin().unwrap().end(), Vec::<PathBuf>::new());
    let list = List::begin().unwrap();
    fs::write(list.path(), b"/a b\n\0/c").unwrap();
    assert_eq!(list.end(), [PathBuf::from("/a b\n"), PathBuf::from("/c")]);
}

#[test]
fn a_path_is_shown_as_it_is_seen_from_the_project() {
    let seen = |path: &str| seen_from(Path::new("/there/is/no/app"), Path::new(path));
    assert_eq!(seen("/there/is/no/shared/x.py"), Path::new("../shared/x.py"));
    assert_eq!(seen("/there/is/x.py"), Path::new("../../x.py"));
    assert_eq!(seen("/elsewhere/x.py"), Path::new("/elsewhere/x.py"));
}
