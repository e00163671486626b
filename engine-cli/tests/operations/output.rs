//! Operations whose output goes where nothing can be written.
#![cfg(target_os = "linux")]

use super::language_host::Script;
use super::{STDOUT, Shop, script};

impl Shop {
    /// Runs a command whose stdout is a full disk.
    fn run_onto_full_disk(&self, line: &str, script: &Script) -> (i32, String) {
        let done = self.start_with(line, script, &[(STDOUT, "/dev/full")]).end();
        (done.code, done.err)
    }
}

#[test]
fn an_operation_does_its_work_and_says_that_it_could_not_be_shown() {
    let shop = Shop::new();
    for (line, names) in [
        ("up --yes", &["a"][..]),
        ("up --yes --skip-preview", &["a", "b"]),
        ("up --yes --skip-preview --json", &["a", "b", "c"]),
    ] {
        let (code, err) = shop.run_onto_full_disk(line, &script(names));
        assert_eq!(code, 1, "{line}: {err}");
        let told = "error: the output could not be written: No space left on device (os error 28)";
        assert!(err.starts_with(told) && err.contains("the command succeeded"), "{line}: {err}");
        assert_eq!(shop.resources(), names.len(), "{line}");
    }
    let (code, err) = shop.run_onto_full_disk("preview --json", &script(&["a"]));
    assert!(code == 1 && err.contains("could not be written"), "{err}");
    let (code, err) = shop.run_onto_full_disk("--help", &Script::default());
    assert!(code == 1 && err.contains("could not be written"), "{err}");
}

#[test]
fn a_cancelled_operation_says_so_by_its_exit_code_although_it_cannot_be_shown() {
    let shop = Shop::new();
    // Each takes a breath, so that the signal comes in between.
    let names: Vec<String> = (0..2000).map(|number| format!("thing-{number}")).collect();
    let many = Script { resources: names, ..Script::default() };
    let child = shop.start_with("up --yes --skip-preview --parallel 1", &many, &[(STDOUT, "/dev/full")]);
    let has_begun = || shop.run("stack", &Script::default()).out.contains("thing-");
    assert!((0..1000).any(|_| has_begun()));
    child.interrupt();
    let done = child.end();
    let told = "error: the output could not be written: No space left on device (os error 28)";
    assert!(done.code == 8 && done.err.contains(told), "{}: {}", done.code, done.err);
    assert!((1..2000).contains(&shop.resources()));
}
