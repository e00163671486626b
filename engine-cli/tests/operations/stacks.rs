//! What is done to stacks between operations, and that operations go on from there.

use std::path::Path;

use serde_json::Value as Json;

use super::front::Script;
use super::{Shop, script};

const A: &str = "urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::a";

fn deployed() -> Shop {
    let shop = Shop::new();
    assert_eq!(shop.run("up --yes --skip-preview -m first", &script(&["a", "b"])).code, 0);
    shop
}

fn ok(shop: &Shop, line: &str) -> String {
    let done = shop.run(line, &Script::default());
    assert_eq!(done.code, 0, "{line}: {}{}", done.out, done.err);
    done.out
}

#[test]
fn every_operation_is_in_the_history_with_what_it_did() {
    let shop = deployed();
    ok(&shop, "config set --secret token hush-hush");
    ok(&shop, "config set size 3");
    assert_eq!(
        shop.run("up --yes --skip-preview", &Script { fails_at: Some("c".into()), ..script(&["a", "b", "c"]) }).code,
        1
    );
    assert_eq!(shop.run("refresh --yes --skip-preview", &script(&["a", "b"])).code, 0);
    assert_eq!(shop.run("preview", &script(&["a", "b"])).code, 0);
    let history = ok(&shop, "stack history --json");
    assert!(!history.contains("hush-hush"), "{history}");
    let entries: Vec<Json> = serde_json::from_str(&history).unwrap();
    let shown: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} {} {} {}", entry["version"], entry["kind"], entry["result"], entry["message"]))
        .collect();
    assert_eq!(
        shown,
        [r#"3 "refresh" "succeeded" """#, r#"2 "update" "failed" """#, r#"1 "update" "succeeded" "first""#]
    );
    assert_eq!(entries[2]["resourceChanges"], serde_json::json!({ "create": 3 }));
    assert_eq!(entries[1]["config"]["shop:token"], serde_json::json!({ "secret": true }));
    assert_eq!(entries[1]["config"]["shop:size"]["value"], "3");
    assert_eq!(entries[1]["environment"]["exec.kind"], "cli");
    assert!(ok(&shop, "stack history --json --show-secrets").contains("hush-hush"));
    let second = ok(&shop, "stack history --page 2 --page-size 1");
    assert!(second.starts_with("Version: 2\nUpdateKind: update\nStatus: failed\n"), "{second}");
    // The files are Pulumi's, and each has the state of its time beside it.
    let directory = shop.path().join(".maloko/.pulumi/history/shop/dev");
    let mut names: Vec<String> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 6, "{names:?}");
    assert!(names[0].ends_with(".checkpoint.json") && names[1].ends_with(".history.json"), "{names:?}");
    let first: Json = serde_json::from_slice(&std::fs::read(directory.join(&names[1])).unwrap()).unwrap();
    assert_eq!((&first["kind"], &first["message"]), (&"update".into(), &"first".into()));
}

#[test]
fn a_renamed_stack_keeps_resources_configuration_and_history() {
    let shop = deployed();
    ok(&shop, "config set --secret token hush");
    ok(&shop, "stack rename live");
    assert_eq!(ok(&shop, "config get token"), "hush\n");
    let history: Vec<Json> = serde_json::from_str(&ok(&shop, "stack history --json")).unwrap();
    assert_eq!(history.iter().map(|entry| entry["kind"].as_str().unwrap()).collect::<Vec<_>>(), ["rename", "update"]);
    let up = shop.run("up --yes --skip-preview --expect-no-changes", &script(&["a", "b"]));
    assert_eq!(up.code, 0, "{}{}", up.out, up.err);
    assert_eq!(shop.run("stack history --stack dev", &Script::default()).code, 6);
}

/// Every file of a directory is put into another one, unless it is there already.
fn fill_in(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            fill_in(&path, &target);
        } else if !target.exists() {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// As a kill leaves it: before the old state was removed, and before the settings had their new name.
#[test]
fn a_rename_that_was_killed_is_finished_by_the_same_command() {
    let shop = deployed();
    ok(&shop, "config set --secret token hush");
    let (state, before) = (shop.path().join(".maloko"), tempfile::tempdir().unwrap());
    let (old_settings, new_settings) = (shop.path().join("Pulumi.dev.yaml"), shop.path().join("Pulumi.live.yaml"));
    fill_in(&state, before.path());
    ok(&shop, "stack rename live");
    for both_are_there in [true, false] {
        if both_are_there {
            fill_in(before.path(), &state);
            std::fs::remove_file(state.join(".pulumi/maloko/shop/live/seal")).unwrap();
        }
        std::fs::rename(&new_settings, &old_settings).unwrap();
        let said = ok(&shop, "stack rename live --stack dev");
        assert!(said.contains("Renamed 'dev' to 'live'"), "{said}");
        let stacks: Vec<Json> = serde_json::from_str(&ok(&shop, "stack ls --json")).unwrap();
        assert_eq!(stacks.iter().map(|stack| stack["name"].as_str().unwrap()).collect::<Vec<_>>(), ["live"]);
        assert_eq!(ok(&shop, "config get token --stack live"), "hush\n");
        let up = shop.run("up --yes --skip-preview --expect-no-changes --stack live", &script(&["a", "b"]));
        assert_eq!(up.code, 0, "{}{}", up.out, up.err);
    }
    // Another stack of that name is another stack.
    ok(&shop, "stack init dev");
    assert_eq!(shop.run("up --yes --skip-preview --stack dev", &script(&["c"])).code, 0);
    let refused = shop.run("stack rename live --stack dev", &Script::default());
    assert!(refused.code != 0 && refused.err.contains("there is a stack named 'live' already"), "{}", refused.err);
}

#[test]
fn resources_move_to_another_stack_and_both_programs_find_theirs() {
    let shop = deployed();
    ok(&shop, "stack init prod --no-select");
    let moved = ok(&shop, &format!("state move --dest prod --yes {A}"));
    assert!(moved.contains("urn:pulumi:prod::shop::pulumi-python:dynamic:Resource::a"), "{moved}");
    for (stack, name) in [("dev", "b"), ("prod", "a")] {
        let up = shop.run(&format!("up --yes --skip-preview --json --stack {stack}"), &script(&[name]));
        assert_eq!(up.code, 0, "{}{}", up.out, up.err);
        let steps: Vec<String> = up.steps().into_iter().filter(|step| !step.contains("shop-")).collect();
        assert_eq!(steps, [format!("same {name}")]);
    }
    let missing = shop.run(&format!("state move --dest prod --yes {A}"), &Script::default());
    assert!(missing.code == 1 && missing.err.contains("there is no resource"), "{}", missing.err);
    let same = shop.run(&format!("state move --source dev --dest dev --yes {A}"), &Script::default());
    assert!(same.code == 2 && same.err.contains("--dest"), "{}", same.err);
}

#[test]
fn an_edited_state_is_checked_and_never_lost() {
    let shop = deployed();
    let edit = |sed: &str| {
        let editor = shop.path().join("editor");
        std::fs::write(&editor, format!("sed -i '{sed}' \"$1\"\n")).unwrap();
        shop.run_with("state edit", &[("EDITOR", &format!("sh {}", editor.display()))], "")
    };
    let done = edit("s/\"id\": \"id-a\"/\"id\": \"by-hand\"/");
    assert_eq!((done.code, done.out.as_str()), (0, "The state was changed\n"), "{}", done.err);
    assert!(ok(&shop, "stack --show-ids").contains("ID: by-hand"));
    assert_eq!(edit("s/nothing/else/").out, "Nothing was changed\n");
    for (sed, problem) in [
        ("s/\"version\": 3,/\"version\": 3/", "line 3"),
        ("s/dynamic:Resource::a/dynamic:Resource::b/", "is there twice"),
        (
            "s/urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::a/urn:pulumi:other::shop::pulumi-python:dynamic:Resource::a/",
            "none of stack 'dev'",
        ),
        ("s/\"salt\": \"v1:/\"salt\": \"v1:AAAA/", "change-secrets-provider"),
    ] {
        let before = ok(&shop, "stack export");
        let refused = edit(sed);
        assert!(refused.code == 1 && refused.err.contains(problem), "{sed}: {}", refused.err);
        assert_eq!(ok(&shop, "stack export"), before);
        let kept = refused.err.split("kept in ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
        assert!(std::fs::read_to_string(kept).unwrap().contains("resources"));
        std::fs::remove_file(kept).unwrap();
    }
    let none = shop.run("state edit", &Script::default());
    assert!(none.code == 2 && none.err.contains("EDITOR"), "{}", none.err);
}

#[test]
fn secrets_move_between_the_key_file_and_a_passphrase() {
    let shop = deployed();
    ok(&shop, "config set --secret token hush");
    let settings = || std::fs::read_to_string(shop.path().join("Pulumi.dev.yaml")).unwrap();
    let before = settings();
    let changed = shop.run_with("stack change-secrets-provider passphrase", &[], "open sesame\n");
    assert_eq!(changed.code, 0, "{}", changed.err);
    assert!(settings() != before && settings().contains("secretsprovider: passphrase"), "{}", settings());
    // Neither the key file nor a wrong passphrase opens it now.
    let without = shop.run("config get token", &Script::default());
    assert!(without.code == 2 && without.err.contains("PULUMI_CONFIG_PASSPHRASE"), "{}", without.err);
    assert_ne!(shop.run_with("config get token", &[("PULUMI_CONFIG_PASSPHRASE", "wrong")], "").code, 0);
    let right = [("PULUMI_CONFIG_PASSPHRASE", "open sesame")];
    assert_eq!(shop.run_with("config get token", &right, "").out, "hush\n");
    let other = shop.run_with("stack change-secrets-provider passphrase", &right, "another\n");
    assert!(other.code == 0 && other.err.contains("still holds the old one"), "{}", other.err);
    let right = [("PULUMI_CONFIG_PASSPHRASE", "another")];
    assert_eq!(shop.run_with("stack export --show-secrets", &right, "").code, 0);
    assert_eq!(shop.run_with("stack change-secrets-provider key-file", &right, "").code, 0);
    assert_eq!(ok(&shop, "config get token"), "hush\n");
    let up = shop.run("up --yes --skip-preview --expect-no-changes", &script(&["a", "b"]));
    assert_eq!(up.code, 0, "{}{}", up.out, up.err);
    let foreign = shop.run("stack change-secrets-provider awskms://alias/key", &Script::default());
    assert!(foreign.code == 2 && foreign.err.contains("no secrets provider of maloko"), "{}", foreign.err);
    let silent = shop.run("stack change-secrets-provider passphrase", &Script::default());
    assert!(silent.code == 2 && silent.err.contains("pipe it in"), "{}", silent.err);
}

#[test]
fn a_change_of_the_passphrase_that_was_killed_is_completed() {
    let shop = deployed();
    ok(&shop, "config set --secret token hush");
    let file = shop.path().join("Pulumi.dev.yaml");
    let old = std::fs::read(&file).unwrap();
    assert_eq!(shop.run_with("stack change-secrets-provider passphrase", &[], "new\n").code, 0);
    let new = std::fs::read(&file).unwrap();
    // Killed between the two files: the state is the new one, the settings lie ready.
    std::fs::write(&file, old).unwrap();
    std::fs::write(shop.path().join(".Pulumi.dev.yaml.rekeyed"), new).unwrap();
    let done = shop.run_with("config get token", &[("PULUMI_CONFIG_PASSPHRASE", "new")], "");
    assert_eq!((done.code, done.out.as_str()), (0, "hush\n"), "{}", done.err);
    assert!(!shop.path().join(".Pulumi.dev.yaml.rekeyed").exists());
    // Killed before the state was written: the settings that lie ready count for nothing.
    std::fs::write(shop.path().join(".Pulumi.dev.yaml.rekeyed"), "encryptionsalt: v1:AAAA:v1:AAAA:AAAA\n").unwrap();
    let done = shop.run_with("config get token", &[("PULUMI_CONFIG_PASSPHRASE", "new")], "");
    assert_eq!((done.code, done.out.as_str()), (0, "hush\n"), "{}", done.err);
    assert!(!shop.path().join(".Pulumi.dev.yaml.rekeyed").exists());
}
