//! What git ignores.

use std::fs;

use tempfile::TempDir;

use super::*;

/// Which of the paths are ignored in `a/b` of a directory with these rules; a path that ends in `/` is a directory.
fn ignored(rules: &[(&str, &str)], paths: &[&str]) -> Vec<String> {
    let top = TempDir::new().unwrap();
    let directory = top.path().join("a/b");
    fs::create_dir_all(&directory).unwrap();
    for (place, text) in rules {
        fs::write(top.path().join(place).join(".gitignore"), text).unwrap();
    }
    let known = IgnoreRules::between(top.path(), &directory);
    let is_ignored = |path: &&&str| known.has(&directory.join(path.trim_end_matches('/')), path.ends_with('/'));
    paths.iter().filter(is_ignored).map(|path| (*path).to_owned()).collect()
}

#[test]
fn the_rules_of_each_directory_down_to_the_program_hold() {
    let rules = [("", "*.log\n/b\n"), ("a", "b/made\n"), ("a/b", "notes/\n")];
    let paths = ["x.log", "made", "notes/", "notes", "index.ts"];
    assert_eq!(ignored(&rules, &paths), ["x.log", "made", "notes/"]);
}

#[test]
fn the_nearest_rule_counts() {
    let rules = [("", "*.json\n"), ("a/b", "!keep.json\n")];
    assert_eq!(ignored(&rules, &["keep.json", "other.json"]), ["other.json"]);
}

#[test]
fn what_is_no_pattern_ignores_nothing() {
    assert_eq!(ignored(&[("a/b", "[\n*.log\n")], &["x", "x.log"]), ["x.log"]);
    assert_eq!(ignored(&[], &["x"]), Vec::<String>::new());
}
