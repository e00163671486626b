//! Where state is kept: `login`, `whoami`, `stack migrate`, and how much is kept there.
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use serde_json::Value as Json;

use crate::testing::World;

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

/// A world with a stack `dev` that has a secret, a resource and a past.
fn with_past() -> World {
    let world = World::with_shared_state();
    world.output("stack init dev");
    for count in 1..4 {
        let urn = |kind: &str, name: &str| format!("urn:pulumi:dev::shop::{kind}::{name}");
        let root = urn("pulumi:pulumi:Stack", "shop-dev");
        let deployment = serde_json::json!({ "version": 3, "deployment": { "manifest": {}, "resources": [
            { "urn": root, "custom": false, "type": "pulumi:pulumi:Stack", "outputs": { "count": count,
                "token": { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hush\"" } } },
        ] } });
        world.write("deployment.json", &deployment.to_string());
        world.output("stack import --file deployment.json");
    }
    world
}

#[test]
fn a_login_that_does_not_work_is_not_recorded() {
    let mut world = World::new();
    world.variables.insert("USER".into(), "ada".into());
    world.output("login file://~/shared");
    let kept = |world: &World| world.output("whoami --json");
    let before = kept(&world);
    assert!(before.contains("HOME/shared"), "{before}");
    let missing = world.failure("login postgres:///shop?host=/nowhere&connect_timeout=2");
    assert!(missing.contains("cannot be used") && missing.contains("The login was not changed"), "{missing}");
    let secret = world.failure("login postgres://ada:hunter2@localhost/shop");
    assert!(secret.contains("~/.pgpass") && !secret.contains("hunter2"), "{secret}");
    let unknown = world.failure("login ftp://host");
    assert!(unknown.contains("there is no backend of the kind 'ftp'") && !unknown.contains("--backend"), "{unknown}");
    let key = world.failure("login s3://AK:hunter2@states/a");
    assert!(key.contains("AWS_SECRET_ACCESS_KEY") && !key.contains("PGPASSWORD") && !key.contains("hunter2"), "{key}");
    world.write("file", "");
    let nowhere = world.failure("login file://file/below");
    assert!(nowhere.contains("The login was not changed"), "{nowhere}");
    if cfg!(target_os = "linux") {
        let nowhere = world.failure("login file:///proc/x");
        assert!(nowhere.contains("cannot be made") && nowhere.contains("The login was not changed"), "{nowhere}");
    }
    assert_eq!(kept(&world), before);
    let out = world.output("logout");
    assert!(out.starts_with("Logged out of file://"), "{out}");
    assert_eq!(world.output("logout"), "Not logged in\n");
}

#[test]
fn whoami_tells_the_user_and_the_place() {
    let world = World::with_shared_state();
    world.output("stack init dev");
    let user = world.output("whoami");
    let shown = world.output("whoami --verbose");
    assert!(shown.starts_with(&format!("User: {user}")), "{shown}");
    assert!(
        shown.contains("Backend URL: file://HOME/state\nChosen by: PULUMI_BACKEND_URL\nState: 1 stack\n"),
        "{shown}"
    );
    let document = json(&world.output("whoami --json"));
    assert_eq!(document["user"], user.trim());
    assert_eq!(document["url"], "file://HOME/state");
    assert_eq!(document["organizations"], serde_json::json!([]));
}

#[test]
fn a_stack_moves_to_another_backend_and_back_with_its_past() {
    let mut world = with_past();
    let exported = world.output("stack export");
    let history = world.output("stack history --json");
    // Nothing has to be decrypted: the passphrase need not be known.
    let passphrase = world.variables.remove("PULUMI_CONFIG_PASSPHRASE").unwrap();
    let said = world.output("stack migrate --to file://~/other");
    assert!(said.contains("Copied the stack 'dev' to file://HOME/other"), "{said}");
    assert!(said.contains("3 entries of its history") && said.contains("set PULUMI_BACKEND_URL="), "{said}");
    assert!(said.contains("It is still in file://HOME/state"), "{said}");
    world.variables.insert("PULUMI_CONFIG_PASSPHRASE".into(), passphrase);
    let there = "--backend file://~/other";
    assert_eq!(world.output(&format!("stack export {there}")), exported);
    assert_eq!(world.output(&format!("stack history --json {there}")), history);
    assert!(world.output(&format!("stack output token --show-secrets {there}")).contains("hush"));
    // Once more is no harm; removing the source is asked for.
    assert!(world.failure("stack migrate --to file://~/other --remove-source").contains("--yes"));
    let said = world.output("stack migrate --to file://~/other --remove-source --yes");
    assert!(said.contains("already, as it is") && said.contains("It is no longer in file://HOME/state"), "{said}");
    assert!(world.failure("stack output").starts_with("6: "));
    // And back.
    world.output(&format!("stack migrate {there} --to file://~/state --remove-source --yes"));
    assert_eq!(world.output("stack export"), exported);
    assert_eq!(world.output("stack history --json"), history);
}

#[test]
fn a_stack_does_not_move_over_another_one() {
    let world = with_past();
    std::fs::create_dir(world.home.join("other")).unwrap();
    world.output("stack init dev --backend file://~/other --no-select");
    let exported = world.output("stack export --backend file://~/other");
    let refused = world.failure("stack migrate --to file://~/other --remove-source --yes");
    assert!(refused.contains("there is another stack 'dev' in file://HOME/other already"), "{refused}");
    assert_eq!(world.output("stack export --backend file://~/other"), exported);
    let unknown = world.failure("stack migrate --to ftp://host");
    assert!(unknown.contains("(from --to)"), "{unknown}");
    let same = world.failure("stack migrate --to file://~/state --remove-source --yes");
    assert!(same.contains("is kept in file://HOME/state already"), "{same}");
    world.output("stack export");
}

#[test]
fn the_history_is_bounded_and_keeps_its_numbers() {
    let mut world = with_past();
    world.variables.insert("MALOKO_HISTORY_LIMIT".into(), "2".into());
    world.output("stack import --file deployment.json");
    let history = json(&world.output("stack history --json"));
    let versions: Vec<_> = history.as_array().unwrap().iter().map(|entry| entry["version"].clone()).collect();
    assert_eq!(versions, [4, 3]);
    let newest = &history[0];
    assert_eq!(newest["kind"], "import");
    let user = newest["environment"].get("maloko.user").and_then(Json::as_str).unwrap_or("unknown");
    assert_eq!(user, world.output("whoami").trim());
    world.variables.insert("MALOKO_HISTORY_LIMIT".into(), "many".into());
    let refused = world.failure("stack history");
    assert!(refused.starts_with("2: MALOKO_HISTORY_LIMIT is 'many'"), "{refused}");
    world.variables.remove("MALOKO_HISTORY_LIMIT");
    world.variables.insert("MALOKO_GENERATIONS".into(), "1".into());
    assert!(world.failure("stack history").contains("at least 3"));
}
