#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use crate::testing::World;

/// A state with a provider, a component and two resources, of which the second depends on the first.
fn deployment(stack: &str) -> String {
    let urn = |kind: &str, name: &str| format!("urn:pulumi:{stack}::shop::{kind}::{name}");
    let root = urn("pulumi:pulumi:Stack", &format!("shop-{stack}"));
    let provider = urn("pulumi:providers:pulumi-python", "default");
    let dynamic = "pulumi-python:dynamic:Resource";
    let (first, second) = (urn(dynamic, "first"), urn(dynamic, "second"));
    serde_json::json!({ "version": 3, "deployment": { "manifest": { "time": "2026-01-02T03:04:05Z" },
        "resources": [
            { "urn": root, "custom": false, "type": "pulumi:pulumi:Stack", "outputs": { "url": "http://shop", "size": 3.0,
                "list": [1.0, "two"], "token": { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hush\"" } } },
            { "urn": provider, "custom": true, "id": "p1", "type": "pulumi:providers:pulumi-python" },
            { "urn": first, "custom": true, "id": "1", "type": dynamic, "parent": root, "provider": format!("{provider}::p1"),
                "inputs": { "a": 1.0 }, "outputs": { "a": 1.0 } },
            { "urn": second, "custom": true, "id": "2", "type": dynamic, "parent": root, "protect": true,
                "provider": format!("{provider}::p1"), "dependencies": [first], "propertyDependencies": { "b": [first] } },
        ] } })
    .to_string()
}

fn with_stack() -> World {
    let world = World::with_shared_state();
    world.output("stack init dev");
    world.write("deployment.json", &deployment("dev"));
    world.output("stack import --file deployment.json");
    world
}

#[test]
fn stacks_are_made_listed_selected_renamed_and_removed() {
    let world = World::with_shared_state();
    assert_eq!(world.output("stack init dev"), "Created stack 'dev'\n");
    assert_eq!(world.output("stack init prod --no-select"), "Created stack 'prod'\n");
    assert!(world.read("Pulumi.dev.yaml").starts_with("encryptionsalt: v1:"));
    let names = |line: &str| {
        let listed: serde_json::Value = serde_json::from_str(&world.output(line)).unwrap();
        let entry = |stack: &serde_json::Value| format!("{} {}", stack["name"], stack["current"]);
        listed.as_array().unwrap().iter().map(entry).collect::<Vec<_>>()
    };
    assert_eq!(names("stack ls --json"), ["\"dev\" true", "\"prod\" false"]);
    world.output("stack select prod");
    assert_eq!(names("stack ls --json"), ["\"dev\" false", "\"prod\" true"]);
    world.output("stack rename live");
    assert!(!world.project.join("Pulumi.prod.yaml").exists() && world.project.join("Pulumi.live.yaml").exists());
    assert_eq!(world.output("stack --show-name"), "live\n");
    world.output("stack rm --yes");
    assert!(!world.project.join("Pulumi.live.yaml").exists());
    assert_eq!(names("stack ls --json"), ["\"dev\" false"]);
}

#[test]
fn no_terminal_takes_orders_from_ids_and_outputs() {
    let world = World::with_shared_state();
    world.output("stack init dev");
    let wild = deployment("dev").replace("\"id\":\"1\"", "\"id\":\"1\\u001b[31mred\"");
    world.write("deployment.json", &wild.replace("http://shop", "\\u001b]0;title\\u0007shop"));
    world.output("stack import --file deployment.json");
    for command in ["stack --show-ids", "stack output"] {
        let said = world.output(command);
        assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{command}: {said:?}");
        assert!(said.contains("shop"), "{command}: {said:?}");
    }
    assert!(world.output("stack --show-ids").contains("ID: 1red\n"));
    // Who asks for one value gets it as it is.
    assert_eq!(world.output("stack output url"), "\u{1b}]0;title\u{7}shop\n");
}

#[test]
fn settings_name_the_salt_of_their_secrets_also_where_only_the_state_had_it() {
    let world = World::with_shared_state();
    world.output("stack init dev");
    std::fs::remove_file(world.project.join("Pulumi.dev.yaml")).unwrap();
    world.output("config set token hush --secret");
    // So the file can be read without that state.
    world.output("stack rm --force --yes --preserve-config");
    world.output("stack init dev");
    assert_eq!(world.output("config get token"), "hush\n");
}

#[cfg(unix)]
#[test]
fn a_lock_of_a_process_that_has_ended_is_not_taken_for_use() {
    let world = World::with_shared_state();
    world.output("stack init dev");
    let urn = "urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::lamp";
    let resource = serde_json::json!({ "urn": urn, "custom": true, "type": "pulumi-python:dynamic:Resource" });
    let open = serde_json::json!({ "resource": resource, "type": "creating" });
    let deployment = serde_json::json!({ "manifest": {}, "resources": [], "pending_operations": [open] });
    world.write("open.json", &serde_json::json!({ "version": 3, "deployment": deployment }).to_string());
    world.output("stack import --file open.json");
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let locks = world.home.join("state/.pulumi/locks/organization/shop/dev");
    std::fs::create_dir_all(&locks).unwrap();
    let shown = |pid: u32, tool: serde_json::Value| {
        let lock = serde_json::json!({ "pid": pid, "username": "ann", "hostname": host, "timestamp": "2026-01-02T03:04:05Z",
            "maloko": tool, "operation": "maloko up" });
        std::fs::write(locks.join("0ab3.json"), lock.to_string()).unwrap();
        world.output("stack").lines().find(|line| line.contains("process")).unwrap().to_owned()
    };
    let line = shown(child.id(), "0.1.0".into());
    assert!(
        line.contains("Left locked by maloko of ann") && line.ends_with("the next run takes the stack over"),
        "{line}"
    );
    let line = shown(child.id(), serde_json::Value::Null);
    assert!(
        line.contains("Left locked by pulumi of ann") && line.ends_with("`pulumi cancel` removes its lock"),
        "{line}"
    );
    let said = world.output("stack");
    assert!(said.contains("1 unresolved create, whose object may exist"), "{said}");
    assert!(shown(std::process::id(), "0.1.0".into()).contains("In use by maloko of ann"));
    // What a run has begun is no riddle while it runs.
    let said = world.output("stack");
    assert!(
        said.contains(&format!("1 operation under way, or interrupted before:\n    {urn} while creating")),
        "{said}"
    );
    assert!(!said.contains("unresolved"), "{said}");
    assert!(world.output("stack ls --json").contains("\"updateInProgress\": true"));
}

#[test]
fn what_is_wrong_with_a_stack_is_said() {
    let world = World::with_shared_state();
    let mut errors = vec![world.failure("stack"), world.failure("stack output --stack dev")];
    world.output("stack init dev");
    world.write("deployment.json", &deployment("other"));
    for line in [
        "stack init dev",
        "stack init a/b/c/d",
        "stack init ..",
        "stack init x --secrets-provider awskms",
        "stack select gone",
        "stack rm",
        "stack import --file missing.json",
        "stack import --file deployment.json",
        "stack output nothing",
    ] {
        errors.push(world.failure(line));
    }
    insta::assert_snapshot!(errors.join("\n\n"));
}

#[test]
fn a_stack_shows_its_resources_and_outputs() {
    let world = with_stack();
    let shown = [
        "stack --show-urns --show-ids",
        "stack output",
        "stack output --json",
        "stack output --json --show-secrets",
        "stack output --shell",
        "stack output url",
        "stack output token",
        "stack output list --json",
        "stack graph",
        "stack ls",
    ]
    .map(|line| format!("> {line}\n{}", world.output(line)));
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn an_export_is_an_import() {
    let world = with_stack();
    let exported = world.output("stack export --show-secrets");
    world.output("stack init copy");
    world.write(
        "copy.json",
        &exported.replace("urn:pulumi:dev::", "urn:pulumi:copy::").replace("shop-dev", "shop-copy"),
    );
    world.output("stack import --file copy.json");
    let token = "stack output token --show-secrets --stack";
    assert_eq!(world.output(&format!("{token} copy")), "hush\n");
    let sealed = world.output("stack export --stack dev");
    // In quotes: a ciphertext may have any four letters in it.
    assert!(!sealed.contains("\"hush") && sealed.contains("v1:"));
    world.output("stack export --stack dev --file sealed.json");
    world.output("stack import --stack dev --file sealed.json");
    assert_eq!(world.output(&format!("{token} dev")), "hush\n");
}

#[test]
fn resources_are_forgotten_renamed_and_flagged() {
    let world = with_stack();
    let urn = |name: &str| format!("urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::{name}");
    let (first, second) = (urn("first"), urn("second"));
    let lines = [
        format!("state delete {first}"),
        format!("state delete {first} --yes"),
        format!("state delete {second} --yes"),
        "state delete urn:pulumi:dev::shop::a:b:C::none --yes".to_owned(),
        format!("state rename {first} second --yes"),
        "state protect urn:pulumi:dev::shop::a:b:C::none".to_owned(),
    ];
    insta::assert_snapshot!(lines.map(|line| world.failure(&line)).join("\n\n"));

    assert_eq!(world.output(&format!("state unprotect {second}")), "1 resources unprotected\n");
    assert_eq!(world.output(&format!("state taint {first} {second} --yes")), "2 resources tainted\n");
    assert_eq!(world.output("state untaint --all --yes"), "All resources untainted\n");
    world.output(&format!("state rename {first} renamed --yes"));
    let exported = world.output("stack export");
    assert!(!exported.contains("::first") && exported.matches("::renamed").count() == 3, "{exported}");
    world.output(&format!("state delete {} --target-dependents --yes", urn("renamed")));
    assert!(!world.output("stack export").contains("dynamic:Resource\""));
}

#[test]
fn configuration_is_set_shown_and_removed() {
    let world = with_stack();
    for line in [
        "config set size 3",
        "config set aws:region eu-1",
        "config set token s3cret-value --secret",
        "config set --path data.list[0] one",
        "config set --path data.on true",
        "config set --path data.hidden t0p --secret",
        "config set ratio 1.5 --type float",
        "config set-all --plaintext a=1 --plaintext b=2 --secret c=3",
        "config rm b",
        "config rm --path data.on",
    ] {
        world.output(line);
    }
    let shown = [
        "config",
        "config --json",
        "config --show-secrets",
        "config get token",
        "config get aws:region",
        "config get --path data.list[0]",
        "config get data --json",
    ]
    .map(|line| format!("> {line}\n{}", world.output(line)));
    insta::assert_snapshot!(shown.join("\n"));
    assert!(!world.read("Pulumi.dev.yaml").contains("s3cret"));
    let errors = [
        "config get none",
        "config rm none",
        "config set password abcdef123456789",
        "config set a:b:c d",
        "config set --path a[ d",
        "config set size many --type int",
        "config set-all --plaintext nonsense",
        "config get size --stack gone",
    ]
    .map(|line| world.failure(line));
    insta::assert_snapshot!("configuration_errors", errors.join("\n\n"));
}

#[test]
fn what_is_a_secret_becomes_readable_on_demand_only() {
    let world = with_stack();
    world.output("config set token hush --secret");
    world.output("config set --path data.token hush --secret");
    for line in ["config set token other", "config set --path data.token other"] {
        let error = world.failure(line);
        assert!(error.contains("has been a secret; add --secret") && error.contains("--plaintext"), "{error}");
    }
    // There is no language to run the program, but the settings are written before that.
    world.run("up --yes --config token=other --config size=3");
    world.run("up --yes --config-path --config data.token=third --config data.size=4");
    assert_eq!(world.output("config get token"), "other\n");
    assert_eq!(world.output("config get --path data.token"), "third\n");
    let settings = world.read("Pulumi.dev.yaml");
    assert!(!settings.contains("other") && !settings.contains("third"), "{settings}");
    assert_eq!(world.output("config get size"), "3\n");
    world.output("config set token other --plaintext");
    assert!(world.read("Pulumi.dev.yaml").contains("other"));
}

#[test]
fn a_wrong_or_missing_passphrase_is_named() {
    let mut world = with_stack();
    world.output("config set token hush --secret");
    world.variables.insert("PULUMI_CONFIG_PASSPHRASE".into(), "wrong".into());
    let wrong = world.failure("config get token");
    world.variables.remove("PULUMI_CONFIG_PASSPHRASE");
    let missing = world.failure("config get token");
    insta::assert_snapshot!(format!("{wrong}\n\n{missing}"));
    // What is not secret needs none.
    world.output("config");
    world.output("stack export");
}

#[test]
fn without_a_passphrase_embedded_state_uses_its_key_file() {
    let world = World::new();
    world.output("stack init dev");
    world.output("config set token hush --secret");
    assert_eq!(world.output("config get token"), "hush\n");
    std::fs::remove_file(world.project.join(".maloko/passphrase")).unwrap();
    insta::assert_snapshot!(world.failure("config get token"));
}

#[test]
fn check_lists_every_problem() {
    let world = with_stack();
    world.write("Pulumi.yaml", "name: shop\nruntime: python\nconfig:\n  size: {type: integer}\n");
    world.write("Pulumi.dev.yaml", "config:\n  shop:size: many\n");
    world.write("Pulumi.prod.yaml", "config: [1]\n");
    world.write("Pulumi.test.yaml", "config: {}\n");
    let done = world.run("check");
    assert_eq!(done.code, 1);
    insta::assert_snapshot!(format!("{}---\n{}", done.out, done.err));
    world.write("Pulumi.yaml", "name: shop\nruntime: python\nmain: gone\n");
    assert!(world.run("check --json").out.contains("which is not there"));
}

#[test]
fn check_names_packages_whose_plugins_are_missing() {
    let world = World::new();
    world.write(
        "index.ts",
        "import * as pulumi from \"@pulumi/pulumi\";\nimport { s3 } from '@pulumi/aws/s3';\n// '@pulumi/gcp'\n",
    );
    world.write("parts/net.js", "const azure = require(\"@pulumi/azure-native\");\nrequire('@pulumi/time');\n");
    world.write("package.json", "{\"dependencies\": {\"@pulumi/time\": \"file:sdks/time\"}}");
    world.write("parts/site.ts", "class Site {\n constructor(n) { super(\"acme:web:Site\", n, {}, {}, true); } }\n");
    world.write("Pulumi.yaml", "name: shop\nruntime: python\npackages:\n  parts: ./parts\n");
    world.write("node_modules/other/index.js", "require('@pulumi/gcp');\n");
    let done = world.run("check");
    assert_eq!(done.code, 1);
    let problems = done.err.lines().filter(|line| line.starts_with("problem"));
    let problems: Vec<&str> = problems.map(|line| line.split(". Run").next().unwrap()).collect();
    insta::assert_snapshot!(problems.join("\n"), @r"
    problem: PROJECT/Pulumi.yaml:4: the package 'parts' is used: the folder PROJECT/parts has neither pulumi-resource-parts nor a PulumiPlugin.yaml that can be read: No such file or directory (os error 2)
    problem: PROJECT/index.ts:2: the SDK '@pulumi/aws' is imported and not installed: name it among the project's dependencies, and run `maloko install`
    problem: PROJECT/parts/net.js:1: the SDK '@pulumi/azure-native' is imported and not installed: name it among the project's dependencies, and run `maloko install`
    problem: PROJECT/parts/net.js:2: the SDK '@pulumi/time' is imported and not installed: run `maloko install`
    problem: PROJECT/parts/site.ts:2: the package 'acme' is used: no resource plugin 'pulumi-resource-acme' found in the workspace or on your $PATH
    ");
}

#[test]
fn a_new_project_is_ready_for_up() {
    let world = World::new();
    let shown = world.output("new python --dir first --name first-one");
    insta::assert_snapshot!(shown);
    assert!(world.read("first/Pulumi.yaml").contains("name: first-one\n"));
    assert!(world.project.join("first/.maloko/.pulumi/stacks/first-one/dev.json").exists());
    world.output("new typescript --dir second");
    assert!(world.read("second/package.json").contains("\"name\": \"second\""));
    for file in ["first/Pulumi.yaml", "second/Pulumi.yaml", "second/package.json", "second/index.ts"] {
        assert!(!world.read(file).contains("{{"), "{file}");
    }
    insta::assert_snapshot!(
        "new_errors",
        [
            world.failure("new python"),
            world.failure("new python --force"),
            world.failure("new python --dir third --name a/b"),
        ]
        .join("\n\n")
    );
}

#[test]
fn about_and_version_name_what_is_there() {
    let world = with_stack();
    insta::assert_snapshot!(
        world.output("about").lines().filter(|line| !line.starts_with("system")).collect::<Vec<_>>().join("\n")
    );
    assert!(world.output("version").starts_with('v'));
    assert!(world.output("about --json").contains("\"project\""));
    assert!(world.output("completion bash").contains("maloko"));
}

#[test]
fn a_lock_names_its_holder_and_can_be_removed() {
    let world = with_stack();
    let state = world.home.join("state/.pulumi/locks/organization/shop/dev");
    std::fs::create_dir_all(&state).unwrap();
    let lock = r#"{"pid":12,"username":"ada","hostname":"engine","timestamp":"2026-01-02T03:04:05Z"}"#;
    std::fs::write(state.join("3fd5b9f4-0000-4000-8000-000000000000.json"), lock).unwrap();
    let locked = world.failure("state untaint --all --yes");
    assert!(locked.contains("ada") && locked.contains("engine") && locked.contains("since TIME"), "{locked}");
    assert!(world.failure("cancel").contains("add --yes"));
    assert_eq!(
        world.output("cancel --yes"),
        "The currently running update for 'dev' has been canceled!\n1 lock of the stack 'dev' removed\n"
    );
    world.output("state untaint --all --yes");
    assert_eq!(world.output("cancel"), "The stack 'dev' is not locked\n");
}
