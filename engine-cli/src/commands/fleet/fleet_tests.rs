#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails with the error")]

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};

use super::request;
use crate::arguments::{Command, parse};
use crate::testing::World;

/// A fleet of the shop's own program, in five stacks.
fn with_fleet() -> World {
    let world = World::new();
    world.write(
        "fleet.yaml",
        "name: shops\nstacks:\n  - { program: ., stack: base }\n  - program: .\n    for: shops.csv\n    stack: \"{shop}-{region}\"\n    \
         needs: base\n    queue: \"{region}\"\n    config: { token: { secretFrom: env SHOP_TOKEN }, key: { secretFrom: file key } }\n\
         waves: [{ select: shop=ada }]\n",
    );
    world.write("shops.csv", "shop,region\nada,eu\nada,us\ngrace,eu\nalan,us\n");
    world
}

#[test]
fn ls_lists_stacks() {
    let world = with_fleet();
    insta::assert_snapshot!(world.output("fleet ls"));
    let some = world.output("fleet ls --select region=eu --stack ada-* --stack grace-eu");
    assert_eq!(some.lines().count(), 3, "{some}");
    let plan: Value = serde_json::from_str(&world.output("fleet ls --json -s base")).unwrap();
    assert_eq!((&plan["fleet"], &plan["stacks"][0]["id"]), (&json!("shops"), &json!("shop/base")));
}

#[test]
fn check_tells_what_a_fleet_comes_to_and_what_is_missing_here() {
    let mut world = with_fleet();
    let done = world.run("fleet check");
    let found: Value = serde_json::from_str(&world.output("fleet check --json")).unwrap();
    let code = found["code"]["python"].as_str().unwrap();
    insta::assert_snapshot!(format!("{}{}", done.out, done.err).replace(code, "DIGEST"));
    world.variables.insert("SHOP_TOKEN".to_owned(), "hush".to_owned());
    world.write("key", "");
    let found: Value = serde_json::from_str(&world.output("fleet check --json")).unwrap();
    let wanted = json!({
        "fleet": "shops", "stacks": 5, "projects": {"shop": 5}, "languages": {"python": 5}, "code": {"python": code},
        "queues": {"default": 1, "eu": 2, "us": 2}, "needs": 4, "longestChain": 2, "warnings": [],
        "waves": [{"name": "shop=ada", "stacks": 3}, {"name": "the rest", "stacks": 2}],
    });
    assert_eq!(found, wanted);
}

#[test]
fn what_is_wrong_is_told_with_exit_code_2() {
    let world = with_fleet();
    let whole = world.failure("fleet results --stack base");
    assert!(whole.starts_with("2: this command is about a whole run and takes no --stack"), "{whole}");
    let unknown = world.failure("fleet ls --select shp=ada");
    assert_eq!(unknown, "2: select: 'shp=ada' selects no stack; did you mean 'shop'?\n");
    world.write("shops.csv", "shop,region\nada\n");
    let wrong = world.failure("fleet check");
    assert!(wrong.starts_with("2: PROJECT/shops.csv:2: the row has 1 values"), "{wrong}");
    world.write("shop.py", "def shops(): ...\n");
    world.write("fleet.yaml", "name: shops\nstacks:\n  - project: shop\n    program: shop.py:shop\n    stack: base\n");
    let function = world.failure("fleet check");
    let place = "PROJECT/fleet.yaml:4:14: stacks[0].program: PROJECT/shop.py";
    assert_eq!(function, format!("2: {place} has no function 'shop'; did you mean 'shops'?\n"));
    let missing = world.failure("fleet check --file other.yaml");
    assert_eq!(missing, "2: there is no fleet file PROJECT/other.yaml; correct --file\n");
    let elsewhere = world.failure("fleet ls --backend file:///tmp");
    assert!(elsewhere.starts_with("2: `fleet` takes no --backend: "), "{elsewhere}");
    let nowhere = World::new().failure("fleet ls");
    assert!(nowhere.starts_with("2: no fleet.yaml found in PROJECT or in any directory above it"), "{nowhere}");
}

#[test]
fn a_deletion_is_asked_about_before_anything_begins() {
    let world = with_fleet();
    let asked = world.failure("fleet destroy --select region=eu");
    let question = "This deletes every resource of 2 stacks of the fleet 'shops'. Go on?";
    assert!(asked.starts_with(&format!("2: {question} This command cannot ask")), "{asked}");
    let cannot = "1: fleets cannot be driven from here: use the `maloko` of Python or of npm\n";
    assert_eq!(world.failure("fleet destroy --yes"), cannot);
    assert_eq!(world.failure("fleet up"), cannot);
}

/// What a language's package is asked to do, without what all commands have.
fn asked(line: &str) -> Value {
    let world = with_fleet();
    let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let Command::Fleet(fleet) = parse(&arguments).unwrap().command else { panic!("not a fleet") };
    let mut request = request::of(&world.look(line), Path::new("/work/fleet.yaml"), &fleet.command);
    let general = ["file", "directory", "interactive", "columns", "color"].map(|name| request[name].take());
    assert_eq!(general, [json!("/work/fleet.yaml"), json!("/work"), json!(false), json!(0), json!(false)]);
    request.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    request
}

#[test]
fn a_run_is_asked_for_with_its_flags() {
    let line = "fleet up --select shop=a* --select region=eu --stack a --stack b/* --at-a-time 3 --stop-after 5% --detach --yes \
                --workers 2 --cancel-on-interrupt -m note --outputs --json -f /work/fleet.yaml";
    let wanted = json!({
        "command": "up", "select": ["shop=a*", "region=eu"], "stacks": ["a", "b/*"], "atATime": 3, "stopAfter": "5%", "detach": true,
        "yes": true, "workers": 2, "cancelOnInterrupt": true, "message": "note", "outputs": true, "json": true,
    });
    assert_eq!(asked(line), wanted);
    let plain = json!({
        "command": "drift", "select": [], "stacks": [], "detach": false, "yes": false, "cancelOnInterrupt": false, "outputs": false,
        "json": false,
    });
    assert_eq!(asked("fleet drift"), plain);
    assert_eq!(asked("fleet destroy")["yes"], true);
}

#[test]
fn the_other_commands_ask_for_what_they_have() {
    assert_eq!(asked("fleet status"), json!({"command": "status", "json": false}));
    assert_eq!(asked("fleet results r-1 --json"), json!({"command": "results", "run": "r-1", "json": true}));
    for command in ["pause", "resume", "cancel"] {
        assert_eq!(asked(&format!("fleet {command} r-1")), json!({"command": command, "run": "r-1"}));
    }
    let retry = json!({
        "command": "retry", "run": "r-1", "detach": true, "yes": false, "cancelOnInterrupt": false, "json": false,
    });
    assert_eq!(asked("fleet retry r-1 --detach"), retry);
    assert_eq!(asked("fleet logs a/b --run r-1"), json!({"command": "logs", "stack": "a/b", "run": "r-1"}));
    assert_eq!(asked("fleet history --json"), json!({"command": "history", "json": true}));
    let page = asked("fleet page r-1 --output run.html");
    assert!(page["output"].as_str().is_some_and(|path| path.ends_with("/shop/run.html")), "{page}");
    assert_eq!(asked("fleet schedules --apply"), json!({"command": "schedules", "apply": true, "json": false}));
    let worker = json!({"command": "worker", "queues": ["eu", "us"], "slots": 8, "processes": 4});
    assert_eq!(asked("fleet worker --queue eu -q us --slots 8 --processes 4"), worker);
    let dev = json!({"command": "dev", "port": 7000, "uiPort": 8000, "slots": 2});
    assert_eq!(asked("fleet dev --port 7000 --ui-port 8000 --slots 2"), dev);
    assert_eq!(asked("fleet adopt --yes"), json!({"command": "adopt", "yes": true}));
}
