use serde_json::{Value as Json, json};

use super::{Demand, ExpectedStep, Step, differences, judge, text};

#[expect(clippy::unwrap_used, reason = "the test's own JSON")]
fn read<T: serde::de::DeserializeOwned>(json: Json) -> T {
    serde_json::from_value(json).unwrap()
}

fn step(key: &str, action: &str) -> Json {
    json!({ "key": key, "action": action })
}

fn plan() -> Vec<Step> {
    let secret = json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" });
    read(json!([
        step("same", "same"),
        step("looked-up", "read"),
        { "key": "a", "action": "update", "changes": {
            "n": { "kind": "update", "old": 1, "new": null },
            "key": { "kind": "update", "old": secret, "new": "[secret]" },
            "tags": { "kind": "add", "new": { "deep": ["04da6b54-80e4-46f7-96ec-b56ff0331ba9", "x"] } },
        }},
        { "key": "b", "action": "replace", "replaces": ["zone"], "deleteBeforeReplace": true, "failed": true, "changes": {
            "zone": { "kind": "update-replace", "old": "x", "new": "[unknown]" },
        }},
        step("c", "delete"),
    ]))
}

#[test]
fn a_plan_reads_by_resource_and_property() {
    let expected = "update a
    n: 1 -> null
    key: [secret] -> [secret]
    tags: nothing -> {\"deep\": [[unknown], \"x\"]}
replace b because of zone (deletes first) (failed)
    zone: \"x\" -> [unknown] (needs a replacement)
delete c";
    assert_eq!(text(&plan()), expected);
    assert_eq!(text(&read::<Vec<Step>>(json!([step("same", "same")]))), "nothing to do");
}

#[test]
fn long_values_are_cut_off_between_characters() {
    let long = "é".repeat(300);
    let steps: Vec<Step> =
        read(json!([{ "key": "a", "action": "update", "changes": { "n": { "kind": "add", "new": long } } }]));
    assert!(text(&steps).ends_with("é…"));
}

#[test]
fn what_is_missing_otherwise_or_not_expected_has_a_line_of_its_own() {
    let expected: Vec<ExpectedStep> = read(json!([
        { "key": "b", "shown": "\"update\"", "mismatches": ["expected \"update\", got \"replace\""] },
        { "key": "d", "shown": "\"create\"", "mismatches": [] },
        { "key": "c", "shown": "\"delete\"", "mismatches": [] },
    ]));
    let lines = differences(&plan(), &expected);
    assert_eq!(
        lines[..4],
        [
            "  b: expected \"update\", got \"replace\"",
            "      zone: \"x\" -> [unknown] (needs a replacement)",
            "- d: expected \"create\", but nothing is done to it",
            "+ a: update, which is not expected",
        ]
    );
    assert_eq!(lines.len(), 7, "the changes of a follow, and neither `same` nor `read` is told: {lines:?}");
}

#[test]
fn a_replacement_deletes_and_an_update_does_not() {
    let forbidden = |demand| {
        let forbids = |step: &&Step| Demand::forbids(demand, step);
        plan().iter().filter(forbids).map(|step| step.key.clone()).collect::<Vec<_>>()
    };
    assert_eq!(forbidden(Demand::NoChanges), ["a", "b", "c"]);
    assert_eq!(forbidden(Demand::NoReplacements), ["b"]);
    assert_eq!(forbidden(Demand::NoDeletions), ["b", "c"]);
    assert_eq!(forbidden(Demand::UpgradeSafe), ["b", "c"]);
}

#[test]
fn a_demand_says_what_the_plan_has_whichever_way_it_is_asserted() {
    let (holds, told) = judge(&plan(), Demand::NoDeletions);
    assert!(!holds);
    assert!(told.starts_with("expected a plan that deletes nothing; it has\n  replace b because of zone"), "{told}");
    assert!(told.ends_with("\n  delete c"), "{told}");
    let (holds, told) = judge(&read::<Vec<Step>>(json!([step("a", "create")])), Demand::NoDeletions);
    assert!(holds);
    assert_eq!(told, "expected a plan that deletes something; it has\n  create a");
    assert!(judge(&plan(), Demand::UpgradeSafe).1.starts_with("the upgrade is not safe: "));
}
