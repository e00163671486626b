use super::{Document, Share, units};
use crate::testing::{Fleet, fault, lines};

#[test]
fn a_field_that_nobody_knows_is_told_with_the_nearest_one() {
    assert_eq!(
        Fleet::new("name: tenants\nstaks: []\n").fault(),
        "fleet.yaml:2:1: there is no field `staks`; did you mean 'stacks'?"
    );
    assert_eq!(
        fault("  - program: ./net\n    stack: a\n    colour: red\n"),
        "fleet.yaml:5:5: stacks[0]: there is no field `colour`; the fields here are project, program, for, stack, labels, config, \
         needs, queue"
    );
    let limits = Fleet::of("  - { program: net, stack: a }\nlimits: { at_time: 3 }\n");
    assert_eq!(limits.fault(), "fleet.yaml:4:11: limits: there is no field `at_time`; did you mean 'at_a_time'?");
}

#[test]
fn a_value_of_another_type_is_told() {
    assert_eq!(fault("  stack: a\n"), "fleet.yaml:3:3: stacks: it must be a list, and is a mapping");
    assert_eq!(
        fault("  - program: net\n    stack: { a: 1 }\n"),
        "fleet.yaml:4:12: stacks[0].stack: it must be a list, and is a mapping"
    );
    assert_eq!(
        fault("  - program: [net]\n    stack: a\n"),
        "fleet.yaml:3:14: stacks[0].program: it must be a text, and is a list"
    );
    assert_eq!(fault("  - net\n"), "fleet.yaml:3:5: stacks[0]: it must be a mapping, and is a text");
    assert_eq!(Fleet::new("[]").fault(), "fleet.yaml:1:1: it must be a mapping, and is a list");
    assert_eq!(Fleet::new("").fault(), "fleet.yaml:1:1: it must be a mapping, and is empty");
    let limits = Fleet::of("  - { program: net, stack: a }\nlimits: { at_a_time: [3] }\n");
    assert_eq!(limits.fault(), "fleet.yaml:4:22: limits.at_a_time: it must be a whole number from 1, and is a list");
    let limits = Fleet::of("  - { program: net, stack: a }\nlimits: { at_a_time: many }\n");
    let wrong = "'many' is not a whole number from 1; write one, such as 200";
    assert_eq!(limits.fault(), format!("fleet.yaml:4:22: limits.at_a_time: {wrong}"));
}

#[test]
fn what_has_to_be_there_is_told() {
    assert_eq!(
        Fleet::new("stacks: []\n").fault(),
        "fleet.yaml:1:1: `name` is missing; write one, such as `name: tenants`"
    );
    assert_eq!(
        fault("  - { program: net }\n"),
        "fleet.yaml:3:5: stacks[0]: `stack` is missing; write one, such as `stack: prod`"
    );
    assert_eq!(
        Fleet::new("name: a b\n").fault(),
        "fleet.yaml:1:7: name: 'a b' can be no fleet's name; it may have letters, digits, '-' and '_'"
    );
}

#[test]
fn what_is_no_yaml_is_told_with_its_place() {
    let fault = Fleet::new("name: tenants\nstacks: [\n").fault();
    assert!(fault.starts_with("fleet.yaml:3:1: this is not valid YAML: "), "{fault}");
    assert!(fault.ends_with("; correct the file and try again"), "{fault}");
    let twice = Fleet::new("name: a\nname: b\n").fault();
    let wrong = "this is not valid YAML: 'name' stands twice in this mapping; correct the file and try again";
    assert_eq!(twice, format!("fleet.yaml:2:1: {wrong}"));
    let tagged = Fleet::new("name: !env X\n").fault();
    assert!(tagged.contains("the tag '!env' says nothing here; take it away"), "{tagged}");
    let two = Fleet::new("name: a\n---\nname: b\n").fault();
    assert!(two.contains("a second document begins here, and a file has one"), "{two}");
    let deep = Fleet::new(&format!("name: {}", "[".repeat(70))).fault();
    assert!(deep.contains("values are nested more than 64 deep"), "{deep}");
}

#[test]
fn aliases_do_not_come_to_more_than_there_is_room_for() {
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    let level = |level: usize| format!("a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 10].join(", "));
    let text = format!("{first}{}", lines(1..9, level));
    let fault = Fleet::new(&text).fault();
    assert!(fault.contains("the aliases come to more than 2000000 values"), "{fault}");
}

#[test]
fn an_alias_repeats_what_it_names() {
    let fleet = Fleet::of("  - { program: &it net, stack: a }\n  - { program: *it, stack: b }\n");
    assert_eq!(fleet.ids(r#""verb": "up""#), ["net/a", "net/b"]);
}

#[test]
fn a_file_that_is_no_text_is_told_with_its_line() {
    let fleet = Fleet::new("").with("fleet.yaml", b"name: a\nbackend: \xff\n");
    assert_eq!(fleet.fault(), "fleet.yaml:2: this is no UTF-8 text; save the file as UTF-8 and try again");
    let marked = Fleet::new("").with("fleet.yaml", "\u{feff}name: a\nstacks: [{ program: net, stack: a }]\n");
    assert_eq!(marked.plan().fleet, "a");
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let fault = crate::plan("/nowhere/fleet.yaml", r#"{"verb": "up"}"#).unwrap_err().to_string();
    assert!(fault.starts_with("/nowhere/fleet.yaml: the file cannot be read: No such file"), "{fault}");
}

#[test]
fn code_makes_a_fleet_without_a_file() {
    let folder = Fleet::of("");
    let source = |stacks: &str| {
        let stacks: serde_json::Value = serde_json::from_str(stacks).unwrap();
        let document = serde_json::json!({ "name": "made", "directory": folder.directory(), "stacks": stacks });
        crate::plan(&document.to_string(), r#"{"verb": "up"}"#).map_err(|fault| fault.to_string())
    };
    let plan = source(r#"[{"program": "net", "stack": "{size}", "for": [{"size": 3}, {"size": "l"}]}]"#).unwrap();
    assert!(plan.contains(r#""id":"net/3""#) && plan.contains(r#""id":"net/l""#), "{plan}");
    assert!(plan.contains(&format!(r#""directory":"{}""#, folder.directory().display())), "{plan}");
    let wrong = source(r#"[{"program": "net", "stack": "{size}", "for": [{"siz": 3}]}]"#).unwrap_err();
    assert_eq!(wrong, "the fleet: stacks[0].stack: the row stacks[0].for[0] has no column 'size'; did you mean 'siz'?");
    let nowhere = crate::plan(r#"{"name": "made"}"#, r#"{"verb": "up"}"#).unwrap_err().to_string();
    let missing = "directory: it is missing or not absolute; say against which directory paths count";
    assert_eq!(nowhere, format!("the fleet: {missing}"));
    assert!(crate::plan("{", r#"{"verb": "up"}"#).unwrap_err().to_string().contains("it is not valid JSON"));
}

#[test]
fn places_in_a_file_made_by_hand_are_those_of_its_values() {
    let fleet = Fleet::new("name: tenants\n\nstacks:\n  -\n    program: net\n    stack:\n      - a\n      - {}\n");
    assert_eq!(fleet.fault(), "fleet.yaml:8:9: stacks[0].stack[1]: it must be a text, and is a mapping");
    assert!(Document::of_source(&fleet.file()).is_ok());
}

#[test]
fn durations_have_units() {
    assert_eq!(units::duration("1h30m"), Some(5400.0));
    assert_eq!(units::duration("0s"), Some(0.0));
    for none in ["", "5", "m", "5 minutes", "-5s", "999999999h"] {
        assert_eq!(units::duration(none), None, "{none}");
    }
}

#[test]
fn a_share_is_a_number_or_a_part_of_all() {
    let of = |text: &str, all| Share::read(text).map(|share| share.of(all));
    assert_eq!(of("5", 1000), Some(5));
    assert_eq!(of("10%", 30), Some(3));
    assert_eq!(of("10%", 31), Some(4));
    assert_eq!(of("0.1%", 10), Some(1));
    assert_eq!(of("100%", 7), Some(7));
    for none in ["0", "0%", "101%", "-1", "five", "%", ""] {
        assert_eq!(of(none, 10), None, "{none}");
    }
}
