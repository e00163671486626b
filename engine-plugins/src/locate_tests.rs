use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;

use super::*;

struct Place {
    folder: tempfile::TempDir,
    settings: PluginSettings,
    warnings: Mutex<Vec<String>>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let variable = |name: &str| root.join(name).display().to_string();
        let settings = PluginSettings {
            project: "project".to_owned(),
            project_root: root.join("project"),
            program_directory: root.join("project"),
            config: std::collections::BTreeMap::new(),
            runtime_options: std::collections::BTreeMap::new(),
            project_plugins: Vec::new(),
            language_plugins: Vec::new(),
            package_folders: Vec::new(),
            environment: [("PATH".to_owned(), variable("bin")), ("PULUMI_HOME".to_owned(), variable("home"))].into(),
        };
        Self { folder, settings, warnings: Mutex::default() }
    }

    fn write(&self, file: &str, mode: u32) -> PathBuf {
        let file = self.folder.path().join(file);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        std::fs::write(&file, "#!/bin/sh\n").expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
        file
    }

    fn installed(&self, version: &str) -> PathBuf {
        self.write(&format!("home/plugins/resource-x-v{version}/pulumi-resource-x"), 0o755)
    }

    fn locate(&self, version: &str) -> Result<LocatedPlugin, String> {
        let package = PackageRequest { name: "x".to_owned(), version: version.to_owned(), ..PackageRequest::default() };
        locate(&self.settings, &package, &|text| self.warnings.lock().expect("no panic").push(text.to_owned()))
            .map_err(LocateError::into_text)
    }
}

fn file_of(located: Result<LocatedPlugin, String>) -> PathBuf {
    match located {
        Ok(LocatedPlugin::Program { command, .. }) => command.program,
        other => panic!("{other:?}"),
    }
}

#[test]
fn exactly_the_version_is_taken_that_is_asked_for_else_the_newest_release() {
    let place = Place::new();
    let old = place.installed("1.0.0");
    let release = place.installed("1.2.0");
    let alpha = place.installed("2.0.0-alpha.1");
    assert_eq!(file_of(place.locate("1.0.0")), old);
    assert_eq!(file_of(place.locate("v1.0.0")), old);
    assert_eq!(file_of(place.locate("")), release);
    assert_eq!(file_of(place.locate("2.0.0-alpha.1")), alpha);
    assert_eq!(file_of(place.locate("1.2.0+built.here")), release);
    assert!(place.locate("1.2.1").is_err(), "a patch is another version");
    let error = place.locate("1.1.0").expect_err("not there");
    assert!(
        error.contains("no resource plugin 'pulumi-resource-x' found in the workspace at version v1.1.0"),
        "{error}"
    );
    assert!(place.locate("one").expect_err("no version").contains("'one'"));
}

#[test]
fn a_plugin_that_is_half_installed_is_none() {
    let place = Place::new();
    place.installed("1.0.0");
    place.write("home/plugins/resource-x-v1.0.0.partial", 0o644);
    assert!(place.locate("1.0.0").is_err());
}

#[test]
fn the_path_comes_before_what_is_installed_and_says_so() {
    let mut place = Place::new();
    let installed = place.installed("1.0.0");
    place.write("bin/pulumi-resource-x", 0o644);
    assert_eq!(file_of(place.locate("")), installed, "a file that cannot be run is none");
    let ambient = place.write("bin/pulumi-resource-x", 0o755);
    match place.locate("9.9.9") {
        Ok(LocatedPlugin::Program { command, on_path: true, .. }) => assert_eq!(command.program, ambient),
        other => panic!("{other:?}"),
    }
    place.settings.environment.insert("PULUMI_IGNORE_AMBIENT_PLUGINS".to_owned(), "true".to_owned());
    assert_eq!(file_of(place.locate("")), installed);
    let error = place.locate("9.9.9").expect_err("not there");
    assert!(!error.contains("or on your $PATH"), "{error}");
}

#[test]
fn the_project_names_a_folder_first_of_all() {
    let mut place = Place::new();
    place.write("bin/pulumi-resource-x", 0o755);
    let own = place.write("project/own/pulumi-resource-x", 0o755);
    let entry = |version: &str| crate::ProjectPlugin {
        name: "x".to_owned(),
        path: Path::new("own").to_owned(),
        version: version.to_owned(),
    };
    place.settings.project_plugins = vec![entry("")];
    assert_eq!(file_of(place.locate("1.0.0")), own);
    place.settings.project_plugins = vec![entry("2.0.0")];
    assert_ne!(file_of(place.locate("1.0.0")), own);
    assert!(place.warnings.lock().expect("no panic")[0].contains("passed over"));
}

#[test]
fn a_plugin_that_runs_already_is_attached() {
    let mut place = Place::new();
    let mut set = |text: &str| {
        place.settings.environment.insert("PULUMI_DEBUG_PROVIDERS".to_owned(), text.to_owned());
        place.locate("")
    };
    assert_eq!(set("other:1,x:2345"), Ok(LocatedPlugin::Attached(2345)));
    assert!(set("x").expect_err("no port").contains("'x'"));
}

#[test]
fn a_folder_with_a_manifest_is_run_by_its_runtime() {
    let place = Place::new();
    let manifest = place.write("home/plugins/resource-x-v1.0.0/PulumiPlugin.yaml", 0o644);
    let folder = manifest.parent().expect("a parent").to_owned();
    std::fs::write(&manifest, "runtime: python\n").expect("a file");
    assert!(place.locate("").expect_err("no environment").contains("venv"));
    let python = place.write("home/plugins/resource-x-v1.0.0/venv/bin/python", 0o755);
    place.write("home/plugins/resource-x-v1.0.0/__main__.py", 0o644);
    match place.locate("") {
        Ok(LocatedPlugin::Program { command, .. }) => {
            assert_eq!((command.program, command.arguments), (python, vec![folder.into_os_string()]));
        }
        other => panic!("{other:?}"),
    }
    std::fs::write(&manifest, "runtime: cobol\n").expect("a file");
    assert!(place.locate("").expect_err("no such runtime").contains("'cobol'"));
}
