use super::text;
use crate::testing::Fleet;

const PROGRESS: &str = r#"{
    "run": "tenants-up-7f3", "verb": "up", "wave": 2, "waves": 2,
    "counts": {"done": 431, "unchanged": 0, "running": 12, "retrying": 3, "failed": 2, "skipped": 1, "cancelled": 0, "waiting": 551},
    "seconds": 50.0, "perMinute": 528.2, "remaining": 62.0, "state": "running",
    "stacks": [
        {"id": "acme-eu", "text": "creating 12 of 20", "worker": "eu-3", "attempt": 2, "note": "worker eu-1 was lost 14 s ago"},
        {"id": "globex-us", "text": "creating 3 of 20", "worker": null, "attempt": 1, "note": null}
    ],
    "failures": [{"id": "initech-eu", "outcome": "failed", "text": "program: KeyError 'plan'\u001b[31m (tenant/__main__.py:14)", "attempts": 1},
        {"id": "hooli-us", "outcome": "skipped", "text": "needs net-us, which failed", "attempts": 0},
        {"id": "umbrella-us", "outcome": "failed", "text": "provider: 429", "attempts": 5}]
}"#;

#[test]
fn progress_has_a_head_stacks_and_failures() {
    let wanted = "\
run tenants-up-7f3   wave 2 of 2   431 done  12 running  3 retrying  2 failed  1 skipped  551 wait   528 a minute   ETA 1m02s
  acme-eu    worker eu-3  attempt 2 (worker eu-1 was lost 14 s ago)  creating 12 of 20
  globex-us                                                          creating 3 of 20
  and 13 more
failed   initech-eu   not retried  program: KeyError 'plan' (tenant/__main__.py:14)
skipped  hooli-us                  needs net-us, which failed
failed   umbrella-us  5 attempts   provider: 429
";
    assert_eq!(text("progress", PROGRESS, 0).unwrap(), wanted);
}

#[test]
fn lines_are_no_wider_than_the_terminal() {
    let shown = text("progress", PROGRESS, 40).unwrap();
    assert!(shown.starts_with("run tenants-up-7f3   wave 2 of 2   431 …\n"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 40), "{shown}");
}

#[test]
fn a_run_that_does_not_go_on_says_so() {
    let of = |state: &str| {
        text("progress", &PROGRESS.replace("running\",\n    \"stacks", &format!("{state}\",\n    \"stacks")), 0)
    };
    let head = |state: &str| of(state).unwrap().lines().next().unwrap().to_owned();
    assert!(head("paused").starts_with("run tenants-up-7f3   wave 2 of 2   paused   431 done"), "{}", head("paused"));
    assert!(head("ended").ends_with("528 a minute   took 50s"), "{}", head("ended"));
}

#[test]
fn results_tell_what_did_not_go_well_and_count_all() {
    let results = r#"{
        "run": "tenants-up-7f3", "verb": "up", "outcome": "failed", "seconds": 130.0,
        "counts": {"done": 2, "unchanged": 1, "failed": 1, "skipped": 1},
        "ends": [
            {"id": "a/one", "outcome": "done", "changes": {"create": 3, "same": 1}, "reason": null, "text": null, "attempts": 1, "seconds": 2.0, "warnings": ["room: one too many"]},
            {"id": "a/four", "outcome": "skipped", "changes": null, "reason": "needs", "text": "needs a/two, which failed", "attempts": 0, "seconds": 0},
            {"id": "a/two", "outcome": "failed", "changes": {"create": 1}, "reason": "provider", "text": "\n429: too many\nmore", "attempts": 5, "seconds": 9.0}
        ]
    }"#;
    let wanted = "\
failed   a/two   provider  429: too many  (5 attempts)
skipped  a/four  needs     needs a/two, which failed
done     a/one   3 create
warning  a/one  room: one too many
run tenants-up-7f3   up   failed in 2m10s   2 done  1 unchanged  1 failed  1 skipped   resources: 4 create
";
    assert_eq!(text("results", results, 0).unwrap(), wanted);
}

fn results_of(verb: &str, ends: &[serde_json::Value]) -> String {
    let results = serde_json::json!({
        "run": "a-up-1", "verb": verb, "outcome": "done", "seconds": 3.0, "counts": {"done": 1, "unchanged": 2}, "ends": ends
    });
    text("results", &results.to_string(), 0).unwrap()
}

#[test]
fn what_ended_for_the_same_reason_is_one_row_and_only_so_many_rows_are_shown() {
    let skipped = |name: &str| serde_json::json!({"id": name, "outcome": "skipped", "reason": "needs", "text": "needs net/eu, which failed", "attempts": 0});
    let cancelled =
        serde_json::json!({"id": "c", "outcome": "cancelled", "reason": "cancelled", "text": "the run was cancelled"});
    let told = results_of("up", &[skipped("a"), cancelled, skipped("b"), skipped("d")]);
    let wanted = "\
skipped    a and 2 more  needs  needs net/eu, which failed
cancelled  c                    the run was cancelled
";
    assert!(told.starts_with(wanted), "{told}");
    let failed = |number: usize| serde_json::json!({"id": format!("s{number}"), "outcome": "failed", "reason": "program", "text": format!("error {number}")});
    let told = results_of("up", &(0..23).map(failed).collect::<Vec<_>>());
    assert!(
        told.contains("failed  s19  program  error 19\nand 3 more failed: `--json` lists them\nrun a-up-1"),
        "{told}"
    );
}

#[test]
fn looks_name_the_stacks_that_differ_and_outputs_are_shown() {
    let ends = [
        serde_json::json!({"id": "a", "outcome": "done", "changes": {"update": 2, "same": 1}, "differences": ["Note b changed [~size]"]}),
        serde_json::json!({"id": "b", "outcome": "unchanged", "changes": {"same": 3}}),
    ];
    let told = results_of("preview", &ends);
    assert_eq!(
        told,
        "changes  a  2 update  Note b changed [~size]; and 1 more\nrun a-up-1   preview   done in 3.0s   1 differ  2 unchanged   resources: 2 update\n"
    );
    let told = results_of("up", &ends);
    assert_eq!(
        told,
        "done  a  2 update  Note b changed [~size]; and 1 more\nrun a-up-1   up   done in 3.0s   1 done  2 unchanged   resources: 2 update\n"
    );
    let many = (0..21)
        .map(|number| serde_json::json!({"id": format!("s{number}"), "outcome": "done", "changes": {"update": 1}}));
    let told = results_of("up", &many.collect::<Vec<_>>());
    let line = "run a-up-1   up   done in 3.0s   1 done  2 unchanged   resources: 21 update\n";
    assert_eq!(told, format!("21 done: `--json` lists them\n{line}"));
    let told = results_of("drift", &ends);
    let next = "nothing was changed: `maloko fleet refresh` takes it into the states; a `maloko fleet up` after that undoes it\n";
    assert!(
        told.starts_with("drift  a  2 update  Note b changed [~size]; and 1 more\n") && told.ends_with(next),
        "{told}"
    );
    let empty = serde_json::json!({"id": "a", "outcome": "unchanged", "changes": {}});
    let told = results_of("drift", &[empty.clone(), empty.clone()]);
    assert!(told.ends_with("\n2 stacks have no resources in the state: never made, or destroyed\n"), "{told}");
    assert!(!results_of("up", &[empty]).contains("never made"));
    let end = serde_json::json!({"id": "a", "outcome": "unchanged", "outputs": {"url": "https://a", "ports": [1, 2]}});
    let told = results_of("up", &[end]);
    assert!(told.starts_with("output  a  url    https://a\noutput  a  ports  [1,2]\nrun"), "{told}");
}

#[test]
fn stacks_and_runs_are_tables() {
    let fleet = Fleet::of(
        "  - { program: net, stack: \"{region}\", for: { region: [eu] }, queue: q }\n  - { program: tenant, stack: a, needs: eu }\n",
    );
    let plan = fleet.plan().to_json();
    let wanted = "\
STACK     LABELS     QUEUE    NEEDS   WAVE
net/eu    region=eu  q                1 all
tenant/a             default  net/eu  1 all
";
    assert_eq!(text("stacks", &plan, 0).unwrap(), wanted);
    let runs = r#"{"runs": [{"run": "a-up-1", "verb": "up", "state": "ended", "started": "2026-11-29T10:43:03Z", "stacks": 3, "failed": 0}]}"#;
    let wanted = "\
RUN     VERB  STATE  STARTED                  STACKS  FAILED
a-up-1  up    ended  2026-11-29 10:43:03 UTC  3       0
";
    assert_eq!(text("runs", runs, 0).unwrap(), wanted);
    let told = text("runs", &runs.replace(r#""failed": 0"#, r#""failed": 1, "message": "on Monday""#), 0).unwrap();
    assert!(told.contains("FAILED  MESSAGE\n") && told.contains("1       on Monday\n"), "{told}");
    assert_eq!(text("runs", r#"{"runs": []}"#, 0).unwrap(), "There are no runs\n");
}

#[test]
fn what_runs_did_with_a_stack_is_a_table() {
    let past = r#"{"stack": "net/eu", "operations": [{"run": "a-up-1", "attempt": 2, "kind": "update", "result": "succeeded",
        "started": "2026-11-29T10:43:03Z", "changes": {"create": 2, "same": 1}}]}"#;
    let wanted = "\
RUN     ATTEMPT  KIND    RESULT     STARTED                  CHANGES
a-up-1  2        update  succeeded  2026-11-29 10:43:03 UTC  2 create, 1 same
";
    assert_eq!(text("past", past, 0).unwrap(), wanted);
    let none = text("past", r#"{"stack": "net/eu", "operations": []}"#, 0).unwrap();
    assert_eq!(none, "No run of the fleet has worked on net/eu\n");
}

#[test]
fn what_is_no_document_is_told() {
    let unknown = text("poem", "{}", 0).unwrap_err().to_string();
    assert_eq!(unknown, "there is no text of a fleet named 'poem'");
    let wrong = text("runs", "{}", 0).unwrap_err().to_string();
    assert!(wrong.starts_with("what the text 'runs' is made of cannot be read: missing field `runs`"), "{wrong}");
}
