#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

fn answer(question: &Value) -> Value {
    serde_json::from_str(&crate::answer(&question.to_string()).unwrap()).unwrap()
}

fn ledger(root: &Path, number: u64) -> Value {
    let card = json!({ "test": "t", "file": "t.test.ts", "project": "p: 1", "stack": "dev" });
    answer(&json!({ "ask": "ledger", "root": root, "card": card, "number": number, "runtime": "nodejs" }))
}

#[test]
fn the_next_run_finds_the_stack_of_its_test_again_and_a_sweep_finds_all() {
    let root = tempfile::tempdir().unwrap();
    let first = ledger(root.path(), 0);
    assert_eq!(first["leftover"], false);
    let again = ledger(root.path(), 0);
    assert_eq!((&again["leftover"], &again["directory"]), (&json!(true), &first["directory"]));
    assert_ne!(ledger(root.path(), 1)["directory"], first["directory"]);

    let directory = Path::new(first["directory"].as_str().unwrap());
    let project = fs::read_to_string(directory.join("Pulumi.yaml")).unwrap();
    assert_eq!(project, "name: \"p: 1\"\nruntime: nodejs\nbackend:\n  url: file://./state\n");
    fs::write(directory.join("test.json"), "{").unwrap();
    let all = answer(&json!({ "ask": "leftovers", "root": root.path() }));
    let whole: Vec<&Value> = all.as_array().unwrap().iter().filter(|it| it["damaged"].is_null()).collect();
    let damaged: Vec<&Value> = all.as_array().unwrap().iter().filter(|it| it["card"].is_null()).collect();
    assert_eq!((whole.len(), &whole[0]["card"]["plugins"]), (1, &json!("stubs")));
    assert_eq!(damaged[0]["directory"], first["directory"]);
    assert!(damaged[0]["damaged"].as_str().unwrap().contains("test.json is damaged ("));
    assert_eq!(answer(&json!({ "ask": "leftovers", "root": root.path().join("nowhere") })), json!([]));
}

#[test]
fn what_cannot_be_read_is_told_with_a_way_out() {
    let kept = json!({ "ask": "ledger_unreadable", "test": "t", "directory": "/d", "stack": "dev", "error": "torn" });
    assert_eq!(
        answer(&kept),
        "what a run of the test 't' made is kept in /d, which cannot be read: torn. The commands `maloko stack` and `maloko \
         state` work on it with `--cwd /d --stack dev`; what can be read after that is deleted by the next sweep. Or look \
         through it for what was made, delete that by hand, and remove the directory"
    );
}

#[test]
fn damaged_journals_beside_the_state_are_named() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(super::set_aside(root.path()), [""; 0]);
    let folder = root.path().join("state/.pulumi/maloko/project/dev");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("journal-2"), "").unwrap();
    fs::write(folder.join("lock"), "").unwrap();
    let journal = folder.join("journal-2");
    let told = "was set aside: look through it for what was made, delete that, and remove the file";
    assert_eq!(super::set_aside(root.path()), [format!("the journal {} {told}", journal.display())]);
}
