#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use serde_json::json;

use super::in_store;
use crate::testing::World;

/// A state that refers to these stacks.
fn deployment(references: &[&str]) -> String {
    let kind = "pulumi:pulumi:StackReference";
    let resources: Vec<_> = references
        .iter()
        .enumerate()
        .map(|(number, name)| {
            json!({ "urn": format!("urn:pulumi:dev::shop::{kind}::r{number}"), "custom": true, "external": true, "id": name,
                "type": kind, "inputs": { "name": name }, "outputs": { "name": name, "outputs": {}, "secretOutputNames": [] } })
        })
        .collect();
    json!({ "version": 3, "deployment": { "manifest": { "time": "2026-01-02T03:04:05Z" }, "resources": resources } })
        .to_string()
}

fn world(references: &[&str]) -> World {
    let world = World::with_shared_state();
    world.output("stack init dev");
    world.write("deployment.json", &deployment(references));
    world.output("stack import --file deployment.json");
    world
}

fn told(world: &World, line: &str) -> serde_json::Value {
    serde_json::from_str(&world.output(line)).unwrap()
}

#[test]
fn the_references_of_the_selected_stack_are_those_of_its_state() {
    let world = world(&["organization/net/prod", "base", "organization/net/prod"]);
    assert_eq!(told(&world, "stack references --json"), json!({ "shop/dev": ["net/prod", "shop/base"] }));
    assert_eq!(
        world.output("stack references dev none"),
        "STACK      REFERS TO\nshop/dev   net/prod, shop/base\nshop/none  (there is no such stack)\n"
    );
    world.output("stack init empty --no-select");
    assert_eq!(world.output("stack references empty"), "STACK       REFERS TO\nshop/empty  no other stack\n");
}

#[test]
fn a_thousand_stacks_are_told_at_once_and_those_that_do_not_exist_refer_to_nothing() {
    let world = world(&["base"]);
    let names: Vec<String> = (0..999).map(|number| format!("organization/shop/t{number}")).collect();
    let told = told(&world, &format!("stack references dev {} --json --stack t7", names.join(" ")));
    let told = told.as_object().unwrap();
    assert_eq!(told.len(), 1000);
    assert_eq!(told["shop/dev"], json!(["shop/base"]));
    assert_eq!(told["shop/t998"], json!([]));
}

#[test]
fn a_state_that_cannot_be_read_fails_by_its_name() {
    let world = world(&[]);
    let file = world.home.join("state/.pulumi/stacks/shop/dev.json");
    std::fs::write(&file, "{").unwrap();
    let failed = world.failure("stack references none dev --json");
    assert!(failed.starts_with("1: stack 'dev': ") && failed.contains("dev.json"), "{failed}");
}

#[test]
fn a_name_is_told_without_its_organization() {
    let told =
        ["base", "organization/base", "organization/net/prod", "acme/net/prod"].map(|name| in_store(name, "shop"));
    assert_eq!(told, ["shop/base", "shop/base", "net/prod", "net/prod"]);
}
