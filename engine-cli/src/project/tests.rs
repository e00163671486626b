#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;

use super::{Kind, Project};
use crate::language_host::Language;
use crate::project::RunBy;

fn parse(text: &str) -> Result<Project, String> {
    Project::parse(Path::new("/p/Pulumi.yaml"), text.to_owned()).map_err(|failure| failure.message.into())
}

#[test]
fn a_whole_project_file_is_understood() {
    let project = parse(
        "name: shop
runtime:
  name: python
  options:
    virtualenv: venv
main: src
description: what it is
stackConfigDir: stacks
backend:
  url: file://~
options:
  refresh: always
config:
  size:
    type: integer
    default: 3
  shop:tags:
    type: array
    items: {type: string}
  aws:region: eu-central-1
  token: {secret: true, type: string, description: of the shop}
",
    )
    .unwrap();
    assert_eq!((project.name.as_str(), project.runtime.as_str()), ("shop", "python"));
    assert_eq!(project.runtime_options, serde_json::json!({ "virtualenv": "venv" }));
    assert_eq!(project.settings_file("dev"), Path::new("/p/stacks/Pulumi.dev.yaml"));
    assert_eq!(project.backend_url.as_deref(), Some("file://~"));
    assert!(project.refresh_always);
    let keys: Vec<&str> = project.declarations.iter().map(|declaration| declaration.key.as_str()).collect();
    assert_eq!(keys, ["shop:size", "shop:tags", "aws:region", "shop:token"]);
    assert_eq!(project.declarations[1].kind, Some(Kind::Array(Box::new(Kind::String))));
    let required: Vec<bool> = project.declarations.iter().map(super::Declaration::is_required).collect();
    assert_eq!(required, [false, true, false, true]);
}

#[test]
fn errors_name_the_file_the_line_and_what_to_do() {
    let texts = [
        "",
        "- a list",
        "name: [unclosed\nruntime: python",
        "runtime: python",
        "name: shop",
        "name: my shop\nruntime: python",
        "name: shop\nruntime: {options: {}}",
        "name: shop\nruntime:\n  name: python\n  options: 3",
        "name: shop\nruntime: python\noptions:\n  refresh: sometimes",
        "name: shop\nruntime: python\nbackend: file://~",
        "name: shop\nruntime: python\nmain: [a]",
        "name: shop\nruntime: python\nconfig: dir\nstackConfigDir: other",
        "name: shop\nruntime: python\nconfig:\n  a: {type: text}",
        "name: shop\nruntime: python\nconfig:\n  a:\n    type: array",
        "name: shop\nruntime: python\nconfig:\n  a: {type: integer, default: many}",
        "name: shop\nruntime: python\nconfig:\n  a: {default: 1, value: 2}",
        "name: shop\nruntime: python\nconfig:\n  aws:region: {type: string}",
        "name: shop\nruntime: python\nconfig:\n  a:b:c:d: 1",
        "name: shop\nruntime: python\nconfig:\n  a: {description: nothing else}",
    ];
    let errors: Vec<String> = texts.iter().map(|text| format!("{text}\n=> {}", parse(text).unwrap_err())).collect();
    insta::assert_snapshot!(errors.join("\n\n"));
}

#[test]
fn config_is_the_old_name_of_the_settings_directory() {
    let project = parse("name: shop\nruntime: python\nconfig: settings").unwrap();
    assert_eq!(project.settings_file("dev"), Path::new("/p/settings/Pulumi.dev.yaml"));
    assert!(project.declarations.is_empty());
}

#[test]
fn a_project_of_another_language_names_the_command_to_run() {
    let errors: Vec<String> = [("python", Language::Python), ("nodejs", Language::NodeJs)]
        .iter()
        .map(|(runtime, theirs)| {
            let project = parse(&format!("name: shop\nruntime: {runtime}")).unwrap();
            assert_eq!(project.run_by(), RunBy::Binding(*theirs));
            project.of_other_binding(*theirs).message.into()
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn a_project_of_any_other_runtime_has_a_process_of_its_own() {
    for runtime in ["go", "yaml", "{name: java}"] {
        assert_eq!(parse(&format!("name: shop\nruntime: {runtime}")).unwrap().run_by(), RunBy::OwnProcess);
    }
}

#[test]
fn a_project_is_found_above_the_directory() {
    let root = tempfile::tempdir().unwrap();
    let below = root.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(root.path().join("Pulumi.yml"), "name: shop\nruntime: python\nmain: gone\n").unwrap();
    let project = Project::find(&below).unwrap();
    assert_eq!(project.root, root.path());
    assert!(project.settings_file("dev").ends_with("Pulumi.dev.yml"));
    let missing = project.program().unwrap_err();
    assert!(missing.message.contains("Pulumi.yml:3: `main` names"), "{missing}");
    let nowhere = Project::find(Path::new("/nowhere/at/all")).unwrap_err();
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.message.contains("no Pulumi.yaml found in /nowhere/at/all"), "{nowhere}");
}

#[test]
fn packages_in_folders_are_plugins_with_the_packages_that_they_list() {
    let root = tempfile::tempdir().unwrap();
    for (folder, listed) in [("one", "two: ../two"), ("two", "one: {source: ../one}\n  far: other@1.0.0")] {
        std::fs::create_dir_all(root.path().join(folder)).unwrap();
        let manifest = format!("runtime: python\npackages:\n  {listed}\n");
        std::fs::write(root.path().join(folder).join("PulumiPlugin.yaml"), manifest).unwrap();
    }
    let file = root.path().join("Pulumi.yaml");
    std::fs::write(&file, "name: shop\nruntime: python\npackages:\n  one: ./one\n  random: random@4.0.0\n").unwrap();
    let plugins = Project::read(&file).unwrap().plugins;
    assert_eq!((plugins[0].name.as_str(), plugins[0].path.to_str()), ("one", Some("one")));
    assert_eq!((plugins[1].name.as_str(), plugins[1].path.to_str()), ("two", Some("one/../two")));
    // Packages that list each other come to an end.
    assert_eq!(plugins.len(), 2);
}

#[test]
fn packages_that_cannot_be_meant_are_named_with_their_places() {
    for (listed, expected) in [
        ("packages: [random]", "Pulumi.yaml:3: `packages` must be a mapping of names to sources"),
        (
            "packages:\n  random: 3",
            "Pulumi.yaml:4: `packages.random` must say where its plugin comes from; it is a number",
        ),
        ("packages:\n  random: {version: 1.0.0}", "Pulumi.yaml:4: `packages.random` has no `source`"),
        ("packages:\n  random: ''", "Pulumi.yaml:4: `packages.random` has no `source`"),
        (
            "packages:\n  random: {source: terraform-provider, parameters: hashicorp/random}",
            "Pulumi.yaml:4: `packages.random.parameters` must be a list of texts; there is a text",
        ),
        (
            "packages:\n  random: {source: terraform-provider, paramters: [a]}",
            "Pulumi.yaml:4: `packages.random` has no member `paramters`; did you mean 'parameters'?",
        ),
        (
            "packages:\n  random: {source: terraform-provider, parameters: [hashicorp/random, 3.10]}",
            "Pulumi.yaml:4: `packages.random.parameters` has a version that YAML reads as the number 3.1; write it in quotes",
        ),
        (
            "packages:\n  random: {source: random, version: 1.10}",
            "Pulumi.yaml:4: `packages.random.version` has a version",
        ),
        ("packages:\n  parts: github.com/acme/parts@main", "Pulumi.yaml:4: 'main' is neither a version such as 1.2.3"),
    ] {
        let text = format!("name: shop\nruntime: python\n{listed}\n");
        let failure = Project::parse(Path::new("Pulumi.yaml"), text).unwrap_err();
        assert!(failure.message.starts_with(expected), "{}", failure.message.to_string());
    }
    let fine =
        "packages:\n  random: {source: terraform-provider, version: 1.0.0, parameters: [hashicorp/random, 3, true]}";
    let project = Project::parse(Path::new("Pulumi.yaml"), format!("name: shop\nruntime: python\n{fine}\n")).unwrap();
    assert_eq!(project.packages[0].origin(), "terraform-provider@1.0.0 hashicorp/random 3 true");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_file() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("Pulumi.yaml");
    std::fs::write(&file, "\u{feff}name: shop\nruntime: python\n").unwrap();
    assert_eq!(Project::read(&file).unwrap().name, "shop");
}
