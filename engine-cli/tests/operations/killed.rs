//! Commands that change whole stacks, killed (SIGKILL) before each change of the disk: no object ever belongs to two stacks
//! of which nothing says so, and the same command finishes what was begun.

use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};

use super::language_host::Script;
use super::{Done, Running, Shop, command, script};

/// Every how manieth change of the disk a command is killed before: `KILL_EACH=1` for all.
const EACH: &str = "KILL_EACH";

/// A command, and what is to be when it has come to its end, at once or when it was repeated.
struct Case {
    line: &'static str,
    prepare: fn(&Shop),
    /// Every stack that may be there at some time: how it is named, and what it has at the end; `None`: it is gone.
    stacks: &'static [(&'static str, Option<&'static [&'static str]>)],
    /// What the repeated command says where the first one had come to its end.
    done: Option<&'static str>,
    /// Two of them may have the same objects when all is done, for one is a copy.
    copies: bool,
}

const CASES: [Case; 6] = [
    Case {
        line: "stack rename live --stack dev",
        prepare: |_| {},
        stacks: &[("--stack dev", None), ("--stack live", Some(&["a", "b"]))],
        done: Some("no stack"),
        copies: false,
    },
    Case {
        line: "state move --source dev --dest prod --yes urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::a",
        prepare: |shop| must(shop, "stack init prod --no-select"),
        stacks: &[("--stack dev", Some(&["b"])), ("--stack prod", Some(&["a"]))],
        done: Some("No such resource"),
        copies: false,
    },
    Case {
        line: "stack migrate --to file://./elsewhere --stack dev",
        prepare: |shop| std::fs::create_dir(shop.path().join("elsewhere")).unwrap(),
        stacks: &[("--stack dev", Some(&["a", "b"])), ("--stack dev --backend file://./elsewhere", Some(&["a", "b"]))],
        done: None,
        copies: true,
    },
    Case {
        line: "stack migrate --to file://./elsewhere --stack dev --remove-source --yes",
        prepare: |shop| std::fs::create_dir(shop.path().join("elsewhere")).unwrap(),
        stacks: &[("--stack dev", None), ("--stack dev --backend file://./elsewhere", Some(&["a", "b"]))],
        done: Some("no stack"),
        copies: true,
    },
    Case {
        line: "stack rm dev --force --yes --preserve-config",
        prepare: |_| {},
        stacks: &[("--stack dev", None)],
        done: Some("no stack"),
        copies: false,
    },
    Case {
        line: "state restore --generation 2 --yes --stack dev",
        prepare: |shop| assert_eq!(shop.run("up --yes --skip-preview", &script(&["a", "b", "c"])).code, 0),
        stacks: &[("--stack dev", Some(&["a", "b"]))],
        done: None,
        copies: false,
    },
];

fn must(shop: &Shop, line: &str) {
    let done = shop.run(line, &Script::default());
    assert_eq!(done.code, 0, "{line}: {}{}", done.out, done.err);
}

/// Runs a command, which is killed at this point if one is given.
fn run(shop: &Shop, line: &str, script: &Script, point: Option<&str>) -> Done {
    let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let mut command = command(&arguments, script);
    shop.prepare(&mut command);
    // A store that is not `.maloko` has no key file of its own.
    command.env("PULUMI_CONFIG_PASSPHRASE_FILE", shop.path().join(".maloko/passphrase"));
    command.envs(point.map(|point| ("FAILPOINTS", point)));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    Running { child, out, read: String::new() }.end()
}

/// Those of `a`, `b` and `c` that an `up` would take for this stack's, or why it would not run.
fn owned(shop: &Shop, stack: &str) -> Result<Vec<String>, String> {
    let preview = run(shop, &format!("preview --diff --json {stack}"), &script(&["a", "b", "c"]), None);
    if preview.code != 0 {
        return Err(preview.err);
    }
    let document: serde_json::Value = serde_json::from_str(&preview.out).unwrap();
    let steps = document["steps"].as_array().cloned().unwrap_or_default();
    let name = |step: &serde_json::Value| {
        let name = step["urn"].as_str()?.rsplit("::").next()?;
        (step["op"] == "same" && name.len() == 1).then(|| name.to_owned())
    };
    Ok(steps.iter().filter_map(name).collect())
}

fn copy(source: &Path, target: &Path) {
    let done = Command::new("cp").arg("-a").arg(source.join(".")).arg(target).status().unwrap();
    assert!(done.success());
}

/// Nothing belongs to two stacks that an `up` would run on, and where one cannot be read its error names a command.
fn nothing_is_owned_twice(shop: &Shop, case: &Case, moment: &str) {
    let mut seen: Vec<String> = Vec::new();
    let mut refused = false;
    for (stack, _) in case.stacks {
        match owned(shop, stack) {
            Ok(names) => seen.extend(names),
            Err(told) => {
                assert!(told.contains("`maloko "), "{moment}, {stack}: {told}");
                refused |= told.contains("receiving resources") || told.contains("moving resources");
            }
        }
    }
    let alone = seen.contains(&"a".to_owned());
    assert!(!refused || !alone, "{moment}: one stack has what the other one says may be in both");
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), all, "{moment}: something belongs to two stacks");
}

fn all_is_as_it_is_to_be(shop: &Shop, case: &Case, moment: &str) {
    for (stack, expected) in case.stacks {
        let listed = run(shop, &format!("stack export {stack}"), &Script::default(), None);
        let Some(names) = expected else {
            assert!(listed.code != 0 && listed.err.contains("no stack"), "{moment}, {stack}: {}", listed.err);
            continue;
        };
        let up = run(shop, &format!("up --yes --skip-preview --expect-no-changes {stack}"), &script(names), None);
        assert_eq!(up.code, 0, "{moment}, {stack}: {}{}", up.out, up.err);
    }
}

/// Kills the command before each change of the disk and gives how many changes there are.
fn kill_at_each_change(case: &Case, each: usize) -> usize {
    let template = Shop::new();
    assert_eq!(template.run("up --yes --skip-preview", &script(&["a", "b"])).code, 0);
    (case.prepare)(&template);
    for change in (1..).step_by(each) {
        let shop = Shop { root: tempfile::tempdir().unwrap() };
        copy(template.path(), shop.path());
        let point = format!("kill::disk-change={}*off->1*return", change - 1);
        let killed = run(&shop, case.line, &Script::default(), Some(&point));
        let moment = format!("`maloko {}`, killed before change {change} of the disk", case.line);
        if killed.code != -1 {
            assert_eq!(killed.code, 0, "{moment}: {}", killed.err);
            all_is_as_it_is_to_be(&shop, case, &moment);
            return change;
        }
        if !case.copies {
            nothing_is_owned_twice(&shop, case, &moment);
        }
        let again = run(&shop, case.line, &Script::default(), None);
        let was_done = case.done.is_some_and(|told| again.err.contains(told));
        assert!(again.code == 0 || was_done, "{moment}, repeated: {}{}", again.out, again.err);
        all_is_as_it_is_to_be(&shop, case, &moment);
    }
    0
}

#[test]
fn a_command_that_is_killed_is_finished_by_the_same_command() {
    let each = std::env::var(EACH).ok().and_then(|each| each.parse().ok()).unwrap_or(27);
    std::thread::scope(|scope| {
        for case in &CASES {
            scope.spawn(move || {
                let changes = kill_at_each_change(case, each);
                assert!(changes > 5, "`maloko {}` has {changes} changes of the disk", case.line);
            });
        }
    });
}
