use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::settings::ProjectPlugin;

fn settings(root: &Path, environment: &[(&str, String)]) -> PluginSettings {
    PluginSettings {
        project: "shop".to_owned(),
        project_root: root.to_owned(),
        program_directory: root.to_owned(),
        config: BTreeMap::new(),
        runtime_options: BTreeMap::new(),
        project_plugins: Vec::new(),
        language_plugins: Vec::new(),
        package_folders: Vec::new(),
        environment: environment.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
    }
}

fn go2() -> ForeignProgram {
    ForeignProgram {
        runtime: "go2".to_owned(),
        options: serde_json::Value::Null,
        root: "/shop".into(),
        directory: "/shop".into(),
        entry_point: ".".to_owned(),
    }
}

fn executable_at(file: &Path) {
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(file, "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("set");
}

fn program(found: Result<LocatedHost, String>) -> std::path::PathBuf {
    match found {
        Ok(LocatedHost::Program { command, .. }) => command.program,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_of_all_places_counts() {
    let root = TempDir::new().expect("a folder");
    let at = |name: &str| root.path().join(name);
    let environment = [("PATH", at("bin").display().to_string()), ("PULUMI_HOME", at("home").display().to_string())];
    let mut settings = settings(root.path(), &environment);
    let missing = find(&go2(), &settings).expect_err("nowhere");
    assert!(
        missing.contains("no language plugin 'pulumi-language-go2' found in the workspace or on your $PATH"),
        "{missing}"
    );
    let installed = at("home/plugins/language-go2-v1.2.0/pulumi-language-go2");
    executable_at(&installed);
    executable_at(&at("home/plugins/language-go2-v1.1.0/pulumi-language-go2"));
    assert_eq!(program(find(&go2(), &settings)), installed);
    executable_at(&at("bin/pulumi-language-go2"));
    assert_eq!(program(find(&go2(), &settings)), at("bin/pulumi-language-go2"));
    settings.environment.insert("PULUMI_IGNORE_AMBIENT_PLUGINS".to_owned(), "true".to_owned());
    assert_eq!(program(find(&go2(), &settings)), installed);
    executable_at(&at("tools/host"));
    let listed = |path: &str| ProjectPlugin { name: "go2".to_owned(), path: path.into(), version: String::new() };
    settings.language_plugins = vec![listed("tools/host")];
    assert_eq!(program(find(&go2(), &settings)), at("tools/host"));
    settings.environment.insert("PULUMI_DEBUG_LANGUAGES".to_owned(), "other:1,go2:42".to_owned());
    assert_eq!(find(&go2(), &settings), Ok(LocatedHost::Attached("127.0.0.1:42".to_owned())));
}

#[test]
fn a_host_that_is_no_executable_file_is_refused() {
    let root = TempDir::new().expect("a folder");
    std::fs::write(root.path().join("host"), "text").expect("written");
    let mut settings = settings(root.path(), &[]);
    settings.language_plugins =
        vec![ProjectPlugin { name: "go2".to_owned(), path: "host".into(), version: String::new() }];
    let refused = find(&go2(), &settings).expect_err("no executable");
    assert!(
        refused.contains("plugins.languages of Pulumi.yaml names") && refused.contains("no executable file"),
        "{refused}"
    );
}

#[test]
fn a_slash_in_a_runtime_s_name_is_none_in_that_of_a_file() {
    assert_eq!(executable("acme/lang"), "pulumi-language-acme_lang");
}

#[test]
fn a_program_that_a_library_serves_is_at_its_address() {
    let options = serde_json::json!({ "address": "127.0.0.1:7" });
    let served = ForeignProgram { runtime: "client".to_owned(), options, ..go2() };
    assert_eq!(find(&served, &settings(Path::new("/shop"), &[])), Ok(LocatedHost::Client("127.0.0.1:7".to_owned())));
    let refused =
        find(&ForeignProgram { options: serde_json::Value::Null, ..served }, &settings(Path::new("/shop"), &[]));
    assert!(refused.is_err_and(|reason| reason.contains("--client")));
}
