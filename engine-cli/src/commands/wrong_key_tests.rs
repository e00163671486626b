//! A wrong or lost key: no command writes a byte.
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::testing::World;

/// Every command that reads or writes secrets, or writes the state. (`stack ls`, `stack select`, `stack rm`, `config set`
/// of a plain value and the like need no key, and do what they are told.)
const COMMANDS: [&str; 31] = [
    "up --yes --skip-preview",
    "up --yes --skip-preview --config size=3",
    "preview",
    "preview --config size=3",
    "preview --save-plan plan.json",
    "refresh --yes --skip-preview",
    "refresh --yes --skip-preview --clear-pending-creates",
    "destroy --yes --skip-preview",
    "import pulumi-python:dynamic:Resource third 3 --yes --skip-preview",
    "stack --show-secrets",
    "stack output --show-secrets",
    "stack export --show-secrets",
    "stack export --for-pulumi",
    "stack import --file deployment.json",
    "stack rename other",
    "stack change-secrets-provider passphrase",
    "config --show-secrets",
    "config get token",
    "config set --secret another value",
    "state delete urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::first --force --target-dependents --yes",
    "state delete --all --yes --force",
    "state rename urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::first renamed --yes",
    "state protect urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::first",
    "state unprotect urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::second",
    "state unprotect --all --yes",
    "state taint urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::first",
    "state untaint urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::first",
    "state move --source dev --dest prod urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::second --yes",
    "state edit",
    "state repair --yes",
    "state reseal --yes",
];

fn deployment() -> String {
    let urn = |kind: &str, name: &str| format!("urn:pulumi:dev::shop::{kind}::{name}");
    let provider = urn("pulumi:providers:pulumi-python", "default");
    let dynamic = "pulumi-python:dynamic:Resource";
    let secret = serde_json::json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hush\"" });
    serde_json::json!({ "version": 3, "deployment": { "manifest": { "time": "2026-01-02T03:04:05Z" }, "resources": [
        { "urn": urn("pulumi:pulumi:Stack", "shop-dev"), "custom": false, "type": "pulumi:pulumi:Stack", "outputs": { "token": secret } },
        { "urn": provider, "custom": true, "id": "p1", "type": "pulumi:providers:pulumi-python" },
        { "urn": urn(dynamic, "first"), "custom": true, "id": "1", "type": dynamic, "provider": format!("{provider}::p1"),
            "inputs": { "token": secret }, "outputs": { "token": secret } },
        { "urn": urn(dynamic, "second"), "custom": true, "id": "2", "type": dynamic, "protect": true, "provider": format!("{provider}::p1") },
    ] } })
    .to_string()
}

/// Every file of the world, byte for byte.
fn bytes_of(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&world.home, &mut found);
    walk(&world.project, &mut found);
    found
}

fn fill(world: &World) {
    world.output("stack init prod");
    world.output("stack init dev");
    world.output("config set --secret token hush");
    world.write("deployment.json", &deployment());
    world.output("stack import --file deployment.json");
}

/// Runs every command in a world whose key is not the right one (any more).
fn refuse_all(world: &World, commands: &[&str], why: &[&str]) {
    let before = bytes_of(world);
    for command in commands {
        let said = world.failure(command);
        assert!(why.iter().any(|why| said.contains(why)), "{command}: {said}");
        assert!(!said.contains("hush"), "{command}: {said}");
        let after = bytes_of(world);
        let changed: Vec<_> =
            after.iter().filter(|(path, bytes)| before.get(*path) != Some(bytes)).map(|(path, _)| path).collect();
        assert!(changed.is_empty() && before.len() == after.len(), "{command} wrote {changed:?}");
    }
}

#[test]
fn with_a_wrong_passphrase_no_command_writes_a_byte() {
    let mut world = World::with_shared_state();
    fill(&world);
    world.variables.insert("PULUMI_CONFIG_PASSPHRASE".into(), "wrong".into());
    world.variables.insert("EDITOR".into(), "true".into());
    refuse_all(&world, &COMMANDS, &["incorrect passphrase", "the new passphrase is not known"]);
}

#[test]
fn with_another_key_in_the_key_file_no_command_writes_a_byte() {
    let mut world = World::new();
    fill(&world);
    world.variables.insert("EDITOR".into(), "true".into());
    world.write(".maloko/passphrase", "another key\n");
    // Each derives a key, which takes its time: those that write in ways of their own.
    let commands =
        ["up --yes --skip-preview", "stack import --file deployment.json", "stack rename other", "state reseal --yes"];
    refuse_all(&world, &commands, &["incorrect passphrase", "the new passphrase is not known"]);
}

#[test]
fn without_the_key_no_command_writes_a_byte() {
    let mut world = World::new();
    fill(&world);
    world.variables.insert("EDITOR".into(), "true".into());
    std::fs::remove_file(world.project.join(".maloko/passphrase")).unwrap();
    refuse_all(&world, &COMMANDS, &["the passphrase of the stack's secrets is not known"]);
    // A second key would take the place of the first one, which the stacks need.
    let makers = ["stack init other", "stack init other --no-select", "check"];
    refuse_all(&world, &makers, &["stack 'dev': the passphrase of the stack's secrets is not known (and the key file"]);
    world.variables.insert("PULUMI_CONFIG_PASSPHRASE".into(), "of its own".into());
    world.output("stack init other");
    let rekey = ["stack change-secrets-provider key-file --stack other"];
    refuse_all(&world, &rekey, &["stack 'dev': the passphrase of the stack's secrets is not known (and the key file"]);
}

#[test]
fn a_key_file_is_made_where_every_stack_is_known_not_to_need_a_lost_one() {
    let mut world = World::new();
    world.variables.insert("PULUMI_CONFIG_PASSPHRASE".into(), "test".into());
    fill(&world);
    world.output("stack change-secrets-provider key-file");
    assert!(world.read(".maloko/passphrase").len() > 20);
    world.variables.clear();
    assert_eq!(world.output("config get token"), "hush\n");
    world.output("stack init other");
}

#[test]
fn with_a_passphrase_file_that_cannot_be_used_no_command_writes_a_byte() {
    let mut world = World::with_shared_state();
    fill(&world);
    world.variables.remove("PULUMI_CONFIG_PASSPHRASE");
    world.variables.insert("EDITOR".into(), "true".into());
    let file = world.home.join("passphrase-of-mine");
    world.variables.insert("PULUMI_CONFIG_PASSPHRASE_FILE".into(), file.display().to_string());
    refuse_all(&world, &COMMANDS, &["there is no file"]);
    std::fs::write(&file, "wrong\n").unwrap();
    refuse_all(&world, &["up --yes --skip-preview", "state delete --all --yes --force"], &["incorrect passphrase"]);
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    refuse_all(&world, &COMMANDS, &["it is not valid UTF-8"]);
}

/// The bug turns the test of the promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn the_planted_bug_of_keys_is_noticed() {
    use maloko_core::fail_points::is_noticed;
    assert!(is_noticed("planted::key-not-verified", with_a_wrong_passphrase_no_command_writes_a_byte));
}
