use crate::testing::{Fleet, fault, lines};

const ENTRY: &str = "  - { program: tenant, stack: \"{tenant}\", for: TABLE }\n";

fn of_table(name: &str, content: impl AsRef<[u8]>) -> Fleet {
    Fleet::of(&ENTRY.replace("TABLE", name)).with(name, content)
}

fn stacks(fleet: &Fleet) -> Vec<String> {
    fleet.plan().stacks.into_iter().map(|stack| stack.stack).collect()
}

#[test]
fn rows_come_from_each_kind_of_table() {
    assert_eq!(stacks(&of_table("a.csv", "tenant, size\nacme, 3\n\n\"globex\", 4\n")), ["acme", "globex"]);
    assert_eq!(stacks(&of_table("a.csv", "\u{feff}tenant\nacme\n")), ["acme"]);
    assert_eq!(stacks(&of_table("a.jsonl", "{\"tenant\": \"acme\"}\n\n{\"tenant\": 7}\n")), ["acme", "7"]);
    assert_eq!(stacks(&of_table("a.ndjson", "{\"tenant\": \"acme\"}")), ["acme"]);
    assert_eq!(stacks(&of_table("a.json", "[{\"tenant\": \"acme\"},\n {\"tenant\": \"b\"}]")), ["acme", "b"]);
    let listed = Fleet::of(&ENTRY.replace("TABLE", "[{ tenant: acme }, { tenant: 1.10 }]"));
    assert_eq!(stacks(&listed), ["acme", "1.10"]);
}

#[test]
fn lists_are_combined_and_the_last_changes_fastest() {
    let entry = "  - { program: net, stack: \"{region}-{size}\", for: { region: [eu, us], size: [s, 2] } }\n";
    assert_eq!(stacks(&Fleet::of(entry)), ["eu-s", "eu-2", "us-s", "us-2"]);
}

#[test]
fn a_command_prints_rows() {
    let command = r#"{ command: [sh, -c, 'echo "{\"tenant\": \"$NAME\"}"; pwd >&2'] }"#;
    let fleet = Fleet::of(&ENTRY.replace("TABLE", command));
    let plan = fleet.asked(r#""verb": "up", "variables": {"NAME": "acme", "PATH": "/usr/bin:/bin"}"#).unwrap();
    assert_eq!(plan.stacks[0].id, "tenant/acme");

    let failing = Fleet::of(&ENTRY.replace("TABLE", "{ command: [sh, -c, 'echo no table >&2; exit 3'] }"));
    let failed = "'sh' failed (exit status: 3): no table";
    assert_eq!(failing.fault(), format!("fleet.yaml:3:59: stacks[0].for.command: {failed}"));
    let missing = Fleet::of(&ENTRY.replace("TABLE", "{ command: [no-such-program] }")).fault();
    assert!(missing.contains("stacks[0].for.command: 'no-such-program' cannot be started: "), "{missing}");
    let wrong = Fleet::of(&ENTRY.replace("TABLE", "{ command: [echo, hello] }")).fault();
    let what = "the row is not a JSON object, such as {\"tenant\": \"acme\"}: expected value; correct it";
    assert_eq!(wrong, format!("fleet.yaml:3:59: stacks[0].for.command: output of echo:1: {what}"));
    let nothing = Fleet::of(&ENTRY.replace("TABLE", "{ command: [] }")).fault();
    assert!(nothing.ends_with("it names no program; write one, such as [python, tenants.py]"), "{nothing}");
}

#[test]
fn a_row_with_another_number_of_values_is_told() {
    let wanted = "the row has 1 values, and the header 2 columns; write a value for each of them";
    assert_eq!(of_table("a.csv", "tenant,size\nacme,3\nglobex\n").fault(), format!("a.csv:3: {wanted}"));
    let quote = "a quote that begins in this row or before it is never closed; close it, or take it away";
    assert_eq!(of_table("a.csv", "tenant,size\nacme,3\n\"globex,3\n").fault(), format!("a.csv:3: {quote}"));
}

#[test]
fn a_header_is_looked_at() {
    let twice = "the header has two columns 'tenant'; give one of them another name";
    assert_eq!(of_table("a.csv", "tenant,tenant\na,b\n").fault(), format!("a.csv:1: {twice}"));
    let nameless = "column 2 of the header has no name; give it one";
    assert_eq!(of_table("a.csv", "tenant,\na,b\n").fault(), format!("a.csv:1: {nameless}"));
}

#[test]
fn a_table_that_is_no_text_is_told_with_its_line() {
    let wrong = "this is no UTF-8 text; save the file as UTF-8 and try again";
    assert_eq!(of_table("a.csv", b"tenant\nacme\nglob\xffx\n").fault(), format!("a.csv:3: {wrong}"));
    assert_eq!(of_table("a.jsonl", b"\xff").fault(), format!("a.jsonl:1: {wrong}"));
}

#[test]
fn a_line_that_is_no_object_is_told() {
    let what = "the row is not a JSON object, such as {\"tenant\": \"acme\"}";
    let lines = of_table("a.jsonl", "{\"tenant\": \"acme\"}\n[1]\n").fault();
    assert!(lines.starts_with(&format!("a.jsonl:2: {what}: ")), "{lines}");
    let list = of_table("a.json", "[{\"tenant\": \"acme\"},\n\n 7]").fault();
    assert!(list.starts_with(&format!("a.json:3: {what}: ")), "{list}");
    let none = of_table("a.json", "\n{}").fault();
    assert!(none.starts_with("a.json:2: the table is not a list of JSON objects: "), "{none}");
}

#[test]
fn a_table_without_rows_is_told() {
    let what = "there are no rows, so there would be no stacks; add some, or take the entry away";
    assert_eq!(of_table("a.csv", "tenant\n").fault(), format!("fleet.yaml:3:48: stacks[0].for: {what}"));
    assert_eq!(of_table("a.csv", "").fault(), format!("fleet.yaml:3:48: stacks[0].for: {what}"));
    let lists = fault("  - { program: net, stack: a, for: { region: [] } }\n");
    assert_eq!(lists, format!("fleet.yaml:3:36: stacks[0].for: {what}"));
}

#[test]
fn a_table_that_cannot_be_used_is_told() {
    let missing = Fleet::of(&ENTRY.replace("TABLE", "other.csv")).fault();
    let what = "the table other.csv cannot be read: No such file or directory";
    assert!(missing.starts_with(&format!("fleet.yaml:3:48: stacks[0].for: {what}")), "{missing}");
    let unknown = Fleet::of(&ENTRY.replace("TABLE", "rows.py")).fault();
    let what = "'rows.py' is no table that is known; name a .csv, .jsonl, .ndjson or .json file";
    assert_eq!(unknown, format!("fleet.yaml:3:48: stacks[0].for: {what}"));
    let number = Fleet::of(&ENTRY.replace("TABLE", "7")).fault();
    let what = "it must be a table (a .csv, .jsonl or .json file), lists by column, a list of rows or a command, and is a number";
    assert_eq!(number, format!("fleet.yaml:3:48: stacks[0].for: {what}"));
}

#[test]
fn there_are_no_more_stacks_than_a_person_can_look_after() {
    let table = format!("tenant\n{}", lines(0..100_001, |number| format!("t{number}")));
    let what = "100001 rows are more than the 100000 stacks that a fleet may have; make several fleets of them";
    assert_eq!(of_table("a.csv", table).fault(), format!("fleet.yaml:3:48: stacks[0].for: {what}"));
    let lists = ["[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"; 6];
    let lists: Vec<String> = lists.iter().enumerate().map(|(number, list)| format!("c{number}: {list}")).collect();
    let product = fault(&format!("  - {{ program: net, stack: a, for: {{ {} }} }}\n", lists.join(", ")));
    let what = "1000000 rows are more than the 100000 stacks that a fleet may have; make several fleets of them";
    assert_eq!(product, format!("fleet.yaml:3:36: stacks[0].for: {what}"));
}
