#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use maloko_core::state::check_scheme;

use super::{Origin, place};
use crate::testing::World;

fn chosen(world: &World, line: &str) -> (Origin, String) {
    let context = world.look(line);
    let found = place(&context, Some(&context.project().unwrap())).unwrap();
    (found.origin, found.url)
}

#[test]
fn the_first_that_names_a_place_decides() {
    let mut world = World::new();
    let (origin, url) = chosen(&world, "stack ls");
    assert_eq!((origin, url), (Origin::Embedded, format!("file://{}/.maloko", world.project.display())));
    world.output("login file://~/by-login");
    assert_eq!(chosen(&world, "stack ls"), (Origin::Login, "file://~/by-login".to_owned()));
    world.write("Pulumi.yaml", "name: shop\nruntime: python\nbackend: {url: 'file://by-file'}\n");
    assert_eq!(chosen(&world, "stack ls"), (Origin::ProjectFile, "file://by-file".to_owned()));
    world.variables.insert("PULUMI_BACKEND_URL".into(), "file:///by-pulumi".into());
    assert_eq!(chosen(&world, "stack ls"), (Origin::PulumiVariable, "file:///by-pulumi".to_owned()));
    world.variables.insert("MALOKO_BACKEND_URL".into(), "file:///by-maloko".into());
    assert_eq!(chosen(&world, "stack ls"), (Origin::MalokoVariable, "file:///by-maloko".to_owned()));
    assert_eq!(chosen(&world, "stack ls --backend file:///by-flag").0, Origin::Flag);
}

#[test]
fn a_login_means_the_same_place_from_every_directory() {
    let mut world = World::new();
    world.variables.insert("PULUMI_CONFIG_PASSPHRASE".into(), "test".into());
    let said = world.output("login file://../st");
    let place = world.project.parent().unwrap().join("st");
    let url = format!("file://{}", place.display());
    assert!(said.starts_with("Logged in to ") && said.contains(&format!("({url})")), "{said}");
    assert_eq!(chosen(&world, "stack ls"), (Origin::Login, url.clone()));
    world.output("stack init dev");
    world.write("deeper/down/file", "");
    assert_eq!(chosen(&world, "stack ls --cwd deeper/down"), (Origin::Login, url));
    world.project = world.project.join("deeper/down");
    assert!(world.output("stack ls").contains("dev"));
    // What an earlier version recorded is not guessed at.
    let record = world.home.join(".config/maloko/login.json");
    std::fs::write(&record, r#"{"backend":"file://../st"}"#).unwrap();
    let refused = world.failure("stack ls");
    assert!(refused.starts_with("2: ") && refused.contains("names 'file://../st'"), "{refused}");
    world.output("login file://~");
    assert!(std::fs::read_to_string(record).unwrap().contains(r#""file://~""#));
}

#[test]
fn addresses_that_are_not_served_say_what_is() {
    let urls = ["/a/directory", "mysql://host/db", "https://api.pulumi.com", "ftp://host"];
    let errors: Vec<String> = urls.iter().map(|url| check_scheme(url).unwrap_err().into()).collect();
    insta::assert_snapshot!(errors.join("\n"));
    let failure = World::new().failure("stack ls --backend ftp://host");
    assert!(failure.starts_with("2: ") && failure.contains("(from --backend)"), "{failure}");
}

#[test]
fn embedded_state_is_private_and_ignored_by_git() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.output("stack init dev");
    let mode = |file: &str| std::fs::metadata(world.project.join(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(".maloko"), 0o700);
    assert_eq!(mode(".maloko/passphrase"), 0o600);
    assert_eq!(mode(".maloko/stack"), 0o600);
    assert_eq!(mode(".maloko/.gitignore"), 0o600);
    // Who may change it sends the state elsewhere.
    world.output("login file://~");
    assert_eq!(mode("../home/.config/maloko"), 0o700);
    assert_eq!(mode("../home/.config/maloko/login.json"), 0o600);
    assert!(world.read(".maloko/.gitignore").lines().any(|line| line == "*"));
}

#[test]
fn a_project_that_pulumi_knows_does_not_begin_empty_by_surprise() {
    let world = World::new();
    let state = world.home.join("pulumi-state/.pulumi/stacks/shop");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::create_dir_all(world.home.join(".pulumi")).unwrap();
    let url = format!("file://{}", world.home.join("pulumi-state").display());
    let credentials = serde_json::json!({ "current": url }).to_string();
    std::fs::write(world.home.join(".pulumi/credentials.json"), credentials).unwrap();

    // A login alone says nothing: it must know this project.
    assert_eq!(world.run("stack ls").code, 0);
    std::fs::write(state.join("prod.json"), "{}").unwrap();
    insta::assert_snapshot!(world.failure("stack init dev"));
    assert!(!world.project.join(".maloko").exists());

    // Either choice, once it is named, is taken.
    world.output(&format!("stack init dev --backend file://{}/.maloko", world.project.display()));
    world.output("stack init second");
}

#[test]
fn a_stack_that_the_pulumi_service_holds_is_noticed() {
    let world = World::new();
    std::fs::create_dir_all(world.home.join(".pulumi/workspaces")).unwrap();
    std::fs::write(world.home.join(".pulumi/credentials.json"), r#"{"current":"https://api.pulumi.com"}"#).unwrap();
    let file = world.project.join("Pulumi.yaml");
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, file.to_str().unwrap().as_bytes());
    let hash = digest.as_ref().iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    let workspace = world.home.join(format!(".pulumi/workspaces/shop-{hash}-workspace.json"));
    std::fs::write(workspace, r#"{"stack":"me/shop/prod"}"#).unwrap();
    insta::assert_snapshot!(world.failure("stack init dev"));
}
