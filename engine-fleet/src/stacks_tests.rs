use serde_json::json;

use crate::testing::{Fleet, fault};

const TENANTS: &str = "  - program: tenant\n    for: tenants.csv\n    stack: \"{tenant}-{region}\"\n";

#[test]
fn a_row_fills_the_fields_of_its_stack() {
    let fleet = Fleet::of(&format!(
        "{TENANTS}    labels: {{ ring: \"r-{{ring}}\", kind: app }}\n    queue: \"{{region}}\"\n    config:\n      \
         name: \"{{tenant}}\"\n      tenant:limit: 3\n      ratio: 1.50\n      on: true\n      many: [1, \"{{region}}\"]\n      \
         one: {{ secretFrom: env TOKEN }}\n      two: {{ secretFrom: {{ env: \"TOKEN_{{tenant}}\" }} }}\n      \
         three: {{ secretFrom: file keys/x }}\n"
    ));
    let stack = fleet.plan().stacks.remove(0);
    assert_eq!((stack.id.as_str(), stack.queue.as_str(), stack.wave), ("tenant/acme-eu", "eu", 0));
    let labels = json!({"kind": "app", "region": "eu", "ring": "r-canary", "tenant": "acme"});
    assert_eq!(json!(stack.labels), labels);
    let config = json!({
        "name": "acme", "tenant:limit": "3", "ratio": "1.50", "on": "true", "many": "[1,\"eu\"]",
        "one": {"secretFrom": {"env": "TOKEN"}}, "two": {"secretFrom": {"env": "TOKEN_acme"}},
        "three": {"secretFrom": {"file": "keys/x"}},
    });
    assert_eq!(json!(stack.config), config);
}

#[test]
fn an_entry_may_have_several_names_and_say_which_one_it_means() {
    let fleet = Fleet::of("  - { program: net, stack: [dev, prod], config: { stage: \"{stack} of {project}\" } }\n");
    let plan = fleet.plan();
    let shown: Vec<_> = plan.stacks.iter().map(|stack| (stack.id.as_str(), &stack.config["stage"])).collect();
    assert_eq!(shown, [("net/dev", &json!("dev of net")), ("net/prod", &json!("prod of net"))]);
}

#[test]
fn a_column_that_the_row_has_not_is_told() {
    let near = fault("  - { program: tenant, for: tenants.csv, stack: \"{tenent}\" }\n");
    let what = "the row tenants.csv:2 has no column 'tenent'; did you mean 'tenant'?";
    assert_eq!(near, format!("fleet.yaml:3:49: stacks[0].stack: {what}"));
    let far = fault("  - { program: tenant, for: { size: [1] }, stack: \"{elsewhere}\" }\n");
    let what = "the row size=1 has no column 'elsewhere'; the columns are size, and `{project}` may be named, too";
    assert_eq!(far, format!("fleet.yaml:3:51: stacks[0].stack: {what}"));
    let none = fault("  - { program: net, stack: a, config: { b: \"{c}\" } }\n");
    let what = "the entry has no column 'c'; columns come with `for`; without it there are `{project}` and `{stack}`";
    assert_eq!(none, format!("fleet.yaml:3:44: stacks[0].config.b: {what}"));
    let program = fault("  - { program: \"{c}\", stack: a }\n");
    let what = "the entry has no column 'c'; columns come with `for`";
    assert_eq!(program, format!("fleet.yaml:3:16: stacks[0].program: {what}"));
}

#[test]
fn a_table_whose_columns_are_separated_otherwise_is_told_so() {
    let fleet = Fleet::of("  - { program: tenant, for: tenants.csv, stack: \"{tenant}\" }\n");
    let fleet = fleet.with("tenants.csv", "tenant;region\nacme;eu\n");
    let what =
        "the row tenants.csv:2 has no column 'tenant'; its one column is 'tenant;region': separate columns by commas";
    assert_eq!(fleet.fault(), format!("fleet.yaml:3:49: stacks[0].stack: {what}"));
}

#[test]
fn a_name_is_made_of_columns_that_are_filled() {
    let rows = fault("  - { program: tenant, for: { tenant: [acme, ''] }, stack: \"{tenant}-us\" }\n");
    let what = "the row tenant= has nothing in the column 'tenant', of which the stack's name is made";
    assert_eq!(rows, format!("fleet.yaml:3:60: stacks[0].stack: {what}; fill it in, or leave the row out"));
}

#[test]
fn a_stack_that_is_named_twice_is_told_with_both_places() {
    let advice = "have `stack` name a column in which they differ";
    let rows = fault("  - { program: tenant, for: tenants.csv, stack: \"{region}\" }\n");
    let what = "'tenant/us' is named twice, by tenants.csv:3 and by tenants.csv:4";
    assert_eq!(rows, format!("fleet.yaml:3:49: stacks[0].stack: {what}; {advice}"));
    let entries = fault("  - { program: net, stack: a }\n  - { program: net, stack: a }\n");
    let what = "'net/a' is named twice, by fleet.yaml:3 and by fleet.yaml:4";
    assert_eq!(entries, format!("fleet.yaml:4:28: stacks[1].stack: {what}; {advice}"));
}

#[test]
fn names_are_those_that_stacks_may_have() {
    let wrong = fault("  - { program: net, stack: \"a b\" }\n");
    assert!(wrong.starts_with("fleet.yaml:3:28: stacks[0].stack: "), "{wrong}");
    let queue = fault("  - { program: net, stack: a, queue: \"e u\" }\n");
    let what = "'e u' can be no queue; a name has letters, digits, '-', '_' and '.'";
    assert_eq!(queue, format!("fleet.yaml:3:38: stacks[0].queue: {what}"));
}

#[test]
fn a_fleet_has_stacks() {
    let what = "there are no stacks; add an entry with a `program` and a `stack`";
    assert_eq!(Fleet::new("name: a\nstacks: []\n").fault(), format!("fleet.yaml:2:9: stacks: {what}"));
}

#[test]
fn config_that_makes_no_sense_is_told() {
    let of = |value: &str| fault(&format!("  - {{ program: net, stack: a, config: {{ b: {value} }} }}\n"));
    let at = "fleet.yaml:3:44: stacks[0].config.b";
    assert_eq!(of("~"), format!("{at}: it has no value; write one, or \"\" for an empty text"));
    let braces = "`{region}` without quotes is a mapping; write \"{region}\" for the column";
    assert_eq!(of("{region}"), format!("{at}: {braces}"));
    let secret = "a secret is taken from `env NAME` or `file PATH`";
    assert_eq!(of("{ secretFrom: vault x }"), format!("fleet.yaml:3:58: stacks[0].config.b.secretFrom: {secret}"));
    assert_eq!(of("{ secretFrom: {} }"), format!("fleet.yaml:3:58: stacks[0].config.b.secretFrom: {secret}"));
    let other = of("{ secretFrom: env A, more: 1 }");
    assert_eq!(other, "fleet.yaml:3:65: stacks[0].config.b: there is no field `more`; the fields here are secretFrom");
    let brace = "a `{` is never closed; write `{{` for a brace itself";
    assert_eq!(of("\"{x\""), format!("{at}: {brace}"));
    assert_eq!(of("[\"{x\"]"), format!("{at}: {brace}"));
}
