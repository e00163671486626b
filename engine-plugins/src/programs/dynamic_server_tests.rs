use std::path::PathBuf;

use super::*;

fn settings() -> PluginSettings {
    PluginSettings {
        project: "shop".to_owned(),
        project_root: PathBuf::from("/project"),
        program_directory: PathBuf::from("/project"),
        config: std::collections::BTreeMap::new(),
        runtime_options: std::collections::BTreeMap::new(),
        project_plugins: Vec::new(),
        language_plugins: Vec::new(),
        package_folders: Vec::new(),
        environment: std::collections::BTreeMap::new(),
    }
}

fn rack() -> PackageRequest {
    PackageRequest { name: "rack".to_owned(), ..PackageRequest::default() }
}

fn plugin(program: &str, runtime: PluginRuntime, folder: &Path) -> PluginCommand {
    let runtime = Some((runtime, folder.to_path_buf()));
    PluginCommand { program: program.into(), arguments: Vec::new(), variables: Vec::new(), runtime }
}

#[test]
fn the_server_runs_with_the_interpreter_and_the_modules_of_the_components_plugin() {
    let folder = tempfile::tempdir().expect("a folder");
    let (own, modules) = (folder.path().join("rack"), folder.path().join("node_modules"));
    let server = modules.join("@pulumi/pulumi/cmd/dynamic-provider");
    std::fs::create_dir_all(&server).expect("a folder");
    let python = plugin("/rack/venv/bin/python", PluginRuntime::Python, &own);
    let found = beside(&python, &rack(), "pulumi-python", &settings()).expect("a server");
    assert_eq!(found.program, python.program);
    assert_eq!(found.arguments.last(), Some(&own.clone().into()));
    let node = plugin("node", PluginRuntime::Node, &own);
    let found = beside(&node, &rack(), "pulumi-nodejs", &settings()).expect("a server");
    assert_eq!(found.arguments[found.arguments.len() - 2..], [own.into(), OsString::from(server)]);
    assert_eq!(found.variables, [("PULUMI_NODEJS_PROJECT", "shop".to_owned())]);
}

#[test]
fn a_plugin_without_the_environment_of_the_code_is_named_with_what_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    let failed = |plugin: &PluginCommand, package: &str| {
        beside(plugin, &rack(), package, &settings()).map(|_| ()).expect_err("no server")
    };
    let said = failed(&PluginCommand::of_file("/bin/pulumi-resource-rack".into()), "pulumi-python");
    assert!(said.contains("the plugin of the package 'rack' is the executable /bin/pulumi-resource-rack"), "{said}");
    assert!(said.contains("PULUMI_DEBUG_PROVIDERS=pulumi-python:PORT"), "{said}");
    let said = failed(&plugin("python", PluginRuntime::Python, folder.path()), "pulumi-nodejs");
    assert!(said.contains("runs with Python, and the code is for pulumi-nodejs"), "{said}");
    let said = failed(&plugin("node", PluginRuntime::Node, folder.path()), "pulumi-nodejs");
    assert!(said.contains("run `npm install` in it"), "{said}");
}
