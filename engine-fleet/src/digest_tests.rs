use std::fs;

use crate::testing::Fleet;

fn fleet() -> Fleet {
    Fleet::of("  - { program: net, stack: a }\n  - { project: p, program: \"lib/a.py:main\", stack: a }\n  - { program: tenant, stack: a }\n")
        .with("net/__main__.py", "import net")
        .with("lib/a.py", "from b import main")
        .with("lib/b.py", "")
}

fn code(fleet: &Fleet, language: &str) -> String {
    fleet.plan().code[language].clone()
}

#[test]
fn a_digest_is_the_same_in_any_directory() {
    let (one, other) = (fleet(), fleet());
    assert_eq!(one.plan().code, other.plan().code);
    assert_eq!(one.plan().hash, other.plan().hash);
    assert_ne!(one.plan().directory, other.plan().directory);
    assert_eq!((code(&one, "python").len(), one.plan().hash.len()), (8, 16));
}

#[test]
fn a_file_with_a_secret_is_the_workers_own() {
    let entry = "  - { program: net, stack: a, config: { key: { secretFrom: { file: ./net/key } } } }\n";
    let (with, without) = (Fleet::of(entry).with("net/key", "hush"), Fleet::of(entry));
    assert_eq!(code(&with, "python"), code(&without, "python"));
    assert_ne!(code(&with.with("net/other", "more"), "python"), code(&without, "python"));
}

#[test]
fn programs_with_their_state_beside_them_are_those_of_one_directory() {
    let of = |url: &str| {
        let fleet = || Fleet::new(&format!("name: a\nbackend: {url}\nstacks: [{{ program: net, stack: a }}]\n"));
        let (one, copy) = (fleet(), fleet());
        assert_eq!(code(&one, "python"), code(&one, "python"));
        code(&one, "python") == code(&copy, "python")
    };
    assert!(!of("file://./state"));
    assert!(!of("file://../state"));
    assert!(of("file:///srv/state"));
    assert!(of("file://~/state"));
    assert!(of("s3://states"));
}

#[test]
fn what_is_no_part_of_a_program_changes_nothing() {
    let before = code(&fleet(), "python");
    let after = fleet()
        .with("net/.env", "x")
        .with("net/node_modules/x/index.js", "x")
        .with("net/env/pyvenv.cfg", "")
        .with("net/env/lib/x.py", "x")
        .with("net/__pycache__/x.pyc", "x")
        .with("net/sdks/x.py", "x")
        .with("net/target/x", "x")
        .with("net/Pulumi.dev.yaml", "x")
        .with("lib/notes.md", "x");
    assert_eq!(code(&after, "python"), before);
}

#[test]
fn of_what_git_ignores_only_code_counts() {
    let of = |path: &str| {
        let ignoring =
            || fleet().with(".gitignore", "*.log\n").with("net/.gitignore", "notes/\ndist/\n!dist/keep.txt\n");
        assert_eq!(code(&ignoring(), "python"), code(&fleet(), "python"));
        code(&ignoring().with(path, "x"), "python") != code(&fleet(), "python")
    };
    for written in ["net/notes/todo.txt", "net/notes/todo.json", "net/up.log", "net/lib/up.log", "net/dist/keep.txt"] {
        assert!(!of(written), "{written}");
    }
    for part in ["net/dist/index.js", "net/notes/made.py", "net/other.txt"] {
        assert!(of(part), "{part}");
    }
}

#[test]
fn where_state_is_kept_is_no_part_of_a_program() {
    let of = |url: &str| {
        let fleet = Fleet::new(&format!("name: a\nbackend: {url}\nstacks: [{{ program: net, stack: a }}]\n"));
        let before = code(&fleet, "python");
        (before, code(&fleet.with("net/state/stacks/a.json", "x"), "python"))
    };
    let (before, after) = of("file://./net/state");
    assert_eq!(before, after);
    let (before, after) = of("file://./elsewhere");
    assert_ne!(before, after);
}

#[test]
fn what_a_program_is_made_of_changes_its_language_alone() {
    let before = fleet().plan().code;
    for changed in ["net/__main__.py", "net/data.json", "lib/a.py", "lib/b.py", "net/Pulumi.yaml"] {
        let content = match changed {
            "net/Pulumi.yaml" => "name: net\nruntime: python\nmain: src\n",
            "lib/a.py" => "def main(): ...\n",
            _ => "changed",
        };
        let after = fleet().with(changed, content).plan().code;
        assert_ne!(after["python"], before["python"], "{changed}");
        assert_eq!(after["nodejs"], before["nodejs"], "{changed}");
    }
}

#[test]
fn the_digest_is_that_of_all_programs_whichever_stacks_are_chosen() {
    let (fleet, chosen) = (fleet(), r#""verb": "up", "stacks": ["tenant/a"]"#);
    assert_eq!(fleet.asked(chosen).unwrap().code, fleet.plan().code);
    assert_ne!(fleet.asked(chosen).unwrap().hash, fleet.plan().hash);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let fleet = fleet();
    let before = code(&fleet, "python");
    std::os::unix::fs::symlink("/", fleet.directory().join("net/all")).unwrap();
    assert_eq!(code(&fleet, "python"), before);
    fs::remove_file(fleet.directory().join("net/all")).unwrap();
}
