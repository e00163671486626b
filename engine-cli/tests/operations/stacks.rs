//! What is done to stacks between operations, and that operations go on from there.

use serde_json::Value as Json;

use super::language_host::Script;
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
        // A refresh that found nothing is none of them: it changed nothing.
        [r#"2 "update" "failed" """#, r#"1 "update" "succeeded" "first""#]
    );
    assert_eq!(entries[1]["resourceChanges"], serde_json::json!({ "create": 3 }));
    assert_eq!(entries[0]["config"]["shop:token"], serde_json::json!({ "secret": true }));
    assert_eq!(entries[0]["config"]["shop:size"]["value"], "3");
    assert_eq!(entries[0]["environment"]["exec.kind"], "cli");
    assert!(ok(&shop, "stack history --json --show-secrets").contains("hush-hush"));
    let second = ok(&shop, "stack history --page 1 --page-size 1");
    assert!(second.starts_with("Version: 2\nUpdateKind: update\nStatus: failed\n"), "{second}");
    // The files are Pulumi's, and each has the state of its time beside it.
    let directory = shop.path().join(".maloko/.pulumi/history/shop/dev");
    let mut names: Vec<String> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 4, "{names:?}");
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

/// The resources of each former state, the newest first.
fn former(shop: &Shop) -> Vec<Json> {
    let generations: Vec<Json> = serde_json::from_str(&ok(shop, "state restore --json")).unwrap();
    generations.into_iter().map(|generation| generation["resourceCount"].clone()).collect()
}

#[test]
fn a_renamed_stack_has_its_former_states_in_their_order() {
    let shop = deployed();
    for resources in [vec!["a"], vec!["a", "b", "c"], vec!["b"]] {
        assert_eq!(shop.run("up --yes --skip-preview", &script(&resources)).code, 0);
    }
    let before = former(&shop);
    assert!(before.len() > 2 && before != before.iter().rev().cloned().collect::<Vec<_>>(), "{before:?}");
    ok(&shop, "stack rename live");
    assert_eq!(former(&shop), before);
}

fn names(shop: &Shop) -> Vec<String> {
    let stacks: Vec<Json> = serde_json::from_str(&ok(shop, "stack ls --json")).unwrap();
    stacks.iter().map(|stack| stack["name"].as_str().unwrap().to_owned()).collect()
}

/// A file where a directory is needed, or the other way round, stops a command in the middle, as a kill does.
#[test]
fn an_interrupted_rename_is_told_of_and_finished_by_the_same_command() {
    for obstacle in [
        ".maloko/.pulumi/locks/organization/shop/live",
        "Pulumi.live.yaml/file",
        ".maloko/.pulumi/history/shop/live",
        "none/of/these",
    ] {
        let shop = deployed();
        ok(&shop, "config set --secret token hush");
        assert_eq!(shop.run("up --yes --skip-preview", &script(&["a", "b"])).code, 0);
        let path = shop.path().join(obstacle);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        let stopped = shop.run("stack rename live --stack dev", &Script::default());
        if stopped.code != 0 {
            for line in ["stack --stack dev", "up --yes --skip-preview --stack dev", "destroy --yes --stack dev"] {
                let refused = shop.run(line, &script(&["a", "b"]));
                assert!(
                    refused.code != 0 && refused.err.contains("being renamed to 'live'"),
                    "{obstacle}: {}",
                    refused.err
                );
                assert!(refused.err.contains("`maloko stack rename live"), "{}", refused.err);
            }
            if obstacle.contains("Pulumi.live.yaml") {
                ok(&shop, "state restore --generation 2 --yes --stack dev");
                let refused = shop.run("stack --stack dev", &Script::default());
                assert!(refused.err.contains("being renamed to 'live'"), "a mark stays: {}", refused.err);
                ok(&shop, "state restore --generation 3 --yes --stack dev");
            }
            let other = shop.run("stack rename other --stack dev", &Script::default());
            assert!(other.code != 0 && other.err.contains("being renamed to 'live'"), "{}", other.err);
            let half = shop.run("up --yes --skip-preview --stack live", &script(&["a", "b"]));
            assert!(half.code != 0 || obstacle.contains("history"), "{obstacle}: {}", half.out);
            let file = path.metadata().unwrap().is_file();
            if file {
                std::fs::remove_file(&path).unwrap();
            } else {
                std::fs::remove_dir_all(&path).unwrap();
            }
            drop(std::fs::remove_dir(shop.path().join("Pulumi.live.yaml")));
            let said = ok(&shop, "stack rename live --stack dev");
            assert!(said.contains("Renamed dev to live"), "{said}");
        }
        assert_eq!(stopped.code == 0, obstacle.contains("none"), "{obstacle}: {}", stopped.err);
        assert_eq!(names(&shop), ["live"]);
        assert_eq!(ok(&shop, "config get token --stack live"), "hush\n");
        let up = shop.run("up --yes --skip-preview --expect-no-changes --stack live", &script(&["a", "b"]));
        assert_eq!(up.code, 0, "{}{}", up.out, up.err);
        assert!(ok(&shop, "stack history --stack live").contains("update"));
        // The former states came along, under the new name.
        let former: Vec<Json> = serde_json::from_str(&ok(&shop, "state restore --json --stack live")).unwrap();
        let full = former.iter().find(|state| state["resourceCount"] == 4).unwrap();
        ok(&shop, &format!("state restore --generation {} --yes --stack live", full["generation"]));
    }
    // Another stack of that name is another stack.
    let shop = deployed();
    ok(&shop, "stack init live");
    let refused = shop.run("stack rename live --stack dev", &Script::default());
    assert!(refused.code != 0 && refused.err.contains("a stack named 'live' already exists"), "{}", refused.err);
    assert!(ok(&shop, "stack --stack dev").contains("stack resources (4)"));
}

#[test]
fn a_stack_that_was_removed_by_force_can_be_brought_back_as_it_was() {
    let shop = deployed();
    assert_eq!(shop.run("up --yes --skip-preview", &script(&["a", "b", "c"])).code, 0);
    // Of a run that was interrupted, what its journal knows belongs to the state.
    let mut child =
        shop.start("up --yes --skip-preview", &Script { hangs_at: Some("e".to_owned()), ..script(&["d", "e"]) });
    child.wait_for("hanging");
    child.interrupt();
    child.wait_for("cancelling");
    child.interrupt();
    child.end();
    ok(&shop, "stack rm dev --force --yes --preserve-config");
    let former: Vec<Json> = serde_json::from_str(&ok(&shop, "state restore --json --stack dev")).unwrap();
    assert_eq!((&former[0]["resourceCount"], &former[0]["pendingOperations"]), (&6.into(), &1.into()), "{former:?}");
    ok(&shop, &format!("state restore --generation {} --yes --stack dev", former[1]["generation"]));
    ok(&shop, "stack rm dev --force --yes --preserve-config");
    let former: Vec<Json> = serde_json::from_str(&ok(&shop, "state restore --json --stack dev")).unwrap();
    assert_eq!(former[0]["resourceCount"], 5, "{former:?}");
    ok(&shop, &format!("state restore --generation {} --yes --stack dev", former[0]["generation"]));
    let up = shop.run("up --yes --skip-preview --expect-no-changes --stack dev", &script(&["a", "b", "c"]));
    assert_eq!(up.code, 0, "{}{}", up.out, up.err);
}

#[test]
fn an_interrupted_move_is_told_of_and_finished_by_the_same_command() {
    for obstacle in [".maloko/.pulumi/stacks/shop/prod.json.bak/file", ".maloko/.pulumi/stacks/shop/dev.json.bak/file"]
    {
        let shop = deployed();
        ok(&shop, "stack init prod --no-select");
        let path = shop.path().join(obstacle);
        drop(std::fs::remove_file(path.parent().unwrap()));
        std::fs::create_dir_all(&path).unwrap();
        let moving = format!("state move --dest prod --include-parents --yes {A}");
        let stopped = shop.run(&moving, &Script::default());
        let finishing = format!("finish it with `maloko state move --source dev --dest prod --include-parents {A}`");
        assert!(stopped.code != 0 && stopped.err.contains(&finishing), "{}", stopped.err);
        for line in ["stack".to_owned(), "up --yes --skip-preview".to_owned(), moving.replace("::a", "::b")] {
            let refused = shop.run(&line, &script(&["a", "b"]));
            assert!(
                refused.code != 0 && refused.err.contains("`maloko state move --source dev --dest prod"),
                "{line}: {}",
                refused.err
            );
        }
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        ok(&shop, &moving);
        for (stack, name) in [("dev", "b"), ("prod", "a")] {
            let up =
                shop.run(&format!("up --yes --skip-preview --expect-no-changes --stack {stack}"), &script(&[name]));
            assert_eq!(up.code, 0, "{}{}", up.out, up.err);
        }
    }
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
    assert!(missing.code == 1 && missing.err.contains("No such resource"), "{}", missing.err);
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
    assert!(edit("s/nothing/else/").err.contains("provided state was not changed"));
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
    let foreign = shop.run("stack change-secrets-provider service://key", &Script::default());
    assert!(foreign.code == 2 && foreign.err.contains("'service' is no secrets provider"), "{}", foreign.err);
    let before = settings();
    let refused = shop.run("stack change-secrets-provider awskms://alias/key", &Script::default());
    assert!(refused.code != 0 && refused.err.contains("set AWS_REGION"), "{}", refused.err);
    assert_eq!(settings(), before);
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
    let ready = shop.path().join(".Pulumi.dev.yaml.rekeyed");
    let digest = ring::digest::digest(&ring::digest::SHA256, &old);
    let digest = digest.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let first = format!("# made from settings with the SHA-256 {digest}\n");
    let lies_ready = [first.as_bytes(), &new].concat();
    std::fs::write(&ready, &lies_ready).unwrap();
    // Somebody edits the settings before the next command: that is not undone, and nothing else is done either.
    let edited = [&old[..], b"  shop:by-hand: \"1\"\n"].concat();
    std::fs::write(&file, &edited).unwrap();
    for line in ["config", "config get token", "config set size 3", "up --yes --skip-preview"] {
        let refused = shop.run_with(line, &[("PULUMI_CONFIG_PASSPHRASE", "new")], "");
        assert_eq!(refused.code, 2, "{line}: {}{}", refused.out, refused.err);
        let named = [file.display().to_string(), ready.display().to_string(), "was changed since".to_owned()];
        assert!(named.iter().all(|text| refused.err.contains(text)), "{line}: {}", refused.err);
        assert_eq!(std::fs::read(&file).unwrap(), edited, "{line}");
        assert_eq!(std::fs::read(&ready).unwrap(), lies_ready, "{line}");
    }
    std::fs::write(&file, old).unwrap();
    let done = shop.run_with("config get token", &[("PULUMI_CONFIG_PASSPHRASE", "new")], "");
    assert_eq!((done.code, done.out.as_str()), (0, "hush\n"), "{}", done.err);
    assert!(!ready.exists());
    assert_eq!(std::fs::read(&file).unwrap(), new);
    // Killed after the settings were put in place, before what lay ready was removed.
    std::fs::write(&ready, lies_ready).unwrap();
    let done = shop.run_with("config get token", &[("PULUMI_CONFIG_PASSPHRASE", "new")], "");
    assert_eq!((done.code, done.out.as_str()), (0, "hush\n"), "{}", done.err);
    assert!(!ready.exists());
    // Killed before the state was written: the settings that lie ready count for nothing.
    std::fs::write(shop.path().join(".Pulumi.dev.yaml.rekeyed"), "encryptionsalt: v1:AAAA:v1:AAAA:AAAA\n").unwrap();
    let done = shop.run_with("config get token", &[("PULUMI_CONFIG_PASSPHRASE", "new")], "");
    assert_eq!((done.code, done.out.as_str()), (0, "hush\n"), "{}", done.err);
    assert!(!shop.path().join(".Pulumi.dev.yaml.rekeyed").exists());
}
