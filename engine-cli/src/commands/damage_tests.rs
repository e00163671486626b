//! What the commands make of a state that was damaged (P3 of docs/internals/reliability.md).
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::testing::World;

fn deployment(stack: &str, names: &[&str]) -> String {
    let resources: Vec<Json> = names
        .iter()
        .map(|name| serde_json::json!({ "urn": format!("urn:pulumi:{stack}::shop::a:b:C::{name}"), "custom": false, "type": "a:b:C" }))
        .collect();
    serde_json::json!({ "version": 3, "deployment": { "manifest": {}, "resources": resources } }).to_string()
}

/// The stacks `dev`, which changed three times, and `prod`.
fn with_stacks() -> World {
    let world = World::with_shared_state();
    world.output("stack init prod");
    world.write("prod.json", &deployment("prod", &["p"]));
    world.output("stack import --file prod.json");
    world.output("stack init dev");
    for names in [["a"].as_slice(), &["a", "b"], &["a", "b", "c"]] {
        world.write("dev.json", &deployment("dev", names));
        world.output("stack import --file dev.json");
    }
    world
}

fn file(world: &World) -> PathBuf {
    world.home.join("state/.pulumi/stacks/shop/dev.json")
}

fn json(world: &World, line: &str) -> Json {
    serde_json::from_str(&world.output(line)).unwrap()
}

fn names(world: &World) -> Vec<String> {
    let resources = json(world, "stack export")["deployment"]["resources"].clone();
    resources
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["urn"].as_str().unwrap().rsplit("::").next().unwrap().to_owned())
        .collect()
}

#[test]
fn a_damaged_stack_is_marked_and_hides_no_other() {
    let world = with_stacks();
    for damage in [b"".as_slice(), b"{", &[0; 64]] {
        fs::write(file(&world), damage).unwrap();
        let listed = json(&world, "stack ls --json");
        assert_eq!((&listed[1]["name"], &listed[1]["resourceCount"]), (&"prod".into(), &1.into()));
        assert_eq!(listed[0]["resourceCount"], Json::Null);
        assert!(listed[0]["error"].as_str().unwrap().contains("maloko state restore"), "{listed}");
        assert!(world.output("stack ls").contains("cannot be read"));
        // Nothing takes it for an empty stack, and nothing writes over it.
        for line in [
            "stack",
            "preview",
            "up --yes --skip-preview",
            "destroy --yes --skip-preview",
            "refresh --yes --skip-preview",
            "stack export",
            "state repair --yes",
            "stack rm --yes",
        ] {
            let message = world.failure(line);
            assert!(message.contains("dev.json") && message.contains("maloko state restore"), "{line}: {message}");
            assert_eq!(fs::read(file(&world)).unwrap(), damage, "{line}");
        }
    }
}

#[test]
fn a_stack_goes_back_to_a_former_state() {
    let world = with_stacks();
    fs::write(file(&world), "{").unwrap();
    let listed = world.output("state restore");
    assert!(listed.contains("GENERATION") && listed.contains("--generation N"), "{listed}");
    let generations = json(&world, "state restore --json");
    assert_eq!((&generations[0]["generation"], &generations[0]["resourceCount"]), (&3.into(), &2.into()));
    assert!(world.failure("state restore --generation 3").contains("add --yes"));
    assert!(world.failure("state restore --generation 9 --yes").contains("kept are 3, 2, 1"));
    let done = world.output("state restore --generation 3 --yes");
    assert!(done.contains("is that of generation 3"), "{done}");
    assert_eq!(names(&world), ["a", "b"]);
    // The damaged file is a generation now, which is said to be of no use.
    let generations = json(&world, "state restore --json");
    assert!(generations[0]["error"].as_str().unwrap().contains("generations"), "{generations}");
    assert!(world.failure("state restore --generation 4 --yes").contains("cannot be used"));
    assert!(world.output("stack history").contains("UpdateKind: restore"));
}

/// Whoever replaces the file leaves the copy in the history as it is.
#[test]
fn what_was_written_last_comes_back_when_the_file_is_lost_or_replaced() {
    let world = with_stacks();
    let replacements: [Option<&[u8]>; 4] = [None, Some(b""), Some(b"garbage"), Some(b"{}")];
    for (number, replacement) in replacements.into_iter().enumerate() {
        fs::remove_file(file(&world)).unwrap();
        if let Some(bytes) = replacement {
            fs::write(file(&world), bytes).unwrap();
        }
        let last = json(&world, "state restore --json")[0].clone();
        assert_eq!((&last["lastWritten"], &last["resourceCount"]), (&true.into(), &3.into()), "{number}: {last}");
        let listed = world.output("state restore");
        let line = format!("Generation {} is the state as maloko wrote it last", last["generation"]);
        assert!(listed.contains(&line) && listed.contains(".checkpoint.json"), "{listed}");
        world.output(&format!("state restore --generation {} --yes", last["generation"]));
        assert_eq!(names(&world), ["a", "b", "c"]);
        let generations = json(&world, "state restore --json");
        assert!(generations.as_array().unwrap().iter().all(|kept| kept["lastWritten"] == false), "{generations}");
    }
}

#[test]
fn a_copy_that_is_not_what_was_written_last_is_not_called_that() {
    let world = with_stacks();
    // All names of the file, the one in the history too.
    fs::write(file(&world), b"garbage").unwrap();
    let generations = json(&world, "state restore --json");
    let found: Vec<_> = generations.as_array().unwrap().iter().map(|kept| kept["resourceCount"].clone()).collect();
    assert_eq!(found, [2, 1, 0]);
    assert!(!world.output("state restore").contains("wrote it last"));
}

#[test]
fn a_missing_file_is_no_empty_stack_either() {
    let world = with_stacks();
    fs::remove_file(file(&world)).unwrap();
    for line in ["stack", "up --yes --skip-preview", "destroy --yes --skip-preview", "preview"] {
        let message = world.failure(line);
        assert!(message.contains("missing") && message.contains("maloko state restore"), "{line}: {message}");
    }
    assert!(!file(&world).exists());
    let listed = json(&world, "stack ls --json");
    assert_eq!((&listed[0]["name"], &listed[1]["name"]), (&"dev".into(), &"prod".into()));
    assert!(world.failure("stack init dev").contains("already"));
    world.output("state restore --generation 3 --yes");
    assert_eq!(names(&world), ["a", "b"]);
}

#[test]
fn a_stack_that_nobody_has_seen_is_missing_and_not_empty() {
    let world = with_stacks();
    for line in [
        "destroy --yes --skip-preview",
        "preview",
        "refresh --yes --skip-preview",
        "stack",
        "state restore",
        "stack export",
        "cancel --yes",
    ] {
        let message = world.failure(&format!("{line} --stack nope"));
        assert!(message.starts_with("6: no stack named 'nope'"), "{line}: {message}");
    }
    assert!(!world.home.join("state/.pulumi/maloko/shop/nope").exists(), "looking makes nothing");
}

#[test]
fn a_stack_that_was_removed_by_mistake_comes_back() {
    let world = with_stacks();
    world.output("stack rm --force --yes");
    assert!(world.failure("stack --stack dev").starts_with("6: no stack"));
    world.output("stack init dev");
    world.output("stack rm --yes");
    let generations = json(&world, "state restore --stack dev --json");
    let number =
        generations.as_array().unwrap().iter().find(|kept| kept["resourceCount"] == 2).unwrap()["generation"].clone();
    world.output(&format!("state restore --stack dev --generation {number} --yes"));
    world.output("stack select dev");
    assert_eq!(names(&world), ["a", "b"]);
}
