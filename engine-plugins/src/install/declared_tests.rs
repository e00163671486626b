use super::*;

fn write(root: &Path, file: &str, text: &str) {
    let file = root.join(file);
    std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
    std::fs::write(file, text).expect("a file");
}

fn shown(folder: &Path) -> Vec<String> {
    let found = declared_plugins(&[folder.to_owned()]);
    found.iter().map(|plugin| format!("{} {} {}", plugin.name, plugin.version, plugin.url)).collect()
}

#[test]
fn python_packages_ask_for_their_plugins() {
    let place = tempfile::tempdir().expect("a folder");
    let root = place.path();
    write(root, "pulumi_random/pulumi-plugin.json", r#"{"resource": true, "name": "random", "version": "4.21.4"}"#);
    write(
        root,
        "pulumi_own_thing/pulumi-plugin.json",
        r#"{"resource": true, "version": "v1.0.0", "server": "https://h.test"}"#,
    );
    write(root, "pulumi_policy/pulumi-plugin.json", r#"{"resource": false, "name": "policy"}"#);
    write(root, "broken/pulumi-plugin.json", "{");
    write(root, "other/__init__.py", "");
    assert_eq!(shown(root), ["own-thing 1.0.0 https://h.test", "random 4.21.4 "]);
}

#[test]
fn a_package_that_is_made_from_a_parameter_has_another_ones_plugin() {
    let place = tempfile::tempdir().expect("a folder");
    let told = |role: &str, name: &str| {
        format!(
            r#"{{"resource": true, "name": "base", "version": "0.9.0", "{role}": {{"name": "{name}", "version": "3.8.0", "value": "AP8="}}}}"#
        )
    };
    write(place.path(), "pulumi_netbox/pulumi-plugin.json", &told("parameterization", "netbox"));
    write(place.path(), "pulumi_gadgets/pulumi-plugin.json", &told("extensionParameterization", "gadgets"));
    let found = |name: &str| declared_plugin(&[place.path().to_owned()], name).expect("declared");
    assert_eq!((found("netbox").name.as_str(), found("netbox").version.as_str()), ("base", "0.9.0"));
    let AdoptedPackage { request, extension } = found("netbox").adopted_package();
    let parameter = PackageParameter { plugin: "base".into(), version: "0.9.0".into(), value: vec![0, 255] };
    assert_eq!((request.name.as_str(), request.version.as_str()), ("netbox", "3.8.0"));
    assert_eq!((request.parameter, extension), (Some(parameter), None));
    let AdoptedPackage { request, extension } = found("gadgets").adopted_package();
    assert_eq!((request.name.as_str(), request.version.as_str(), request.parameter), ("base", "0.9.0", None));
    assert_eq!(extension.map(|it| (it.name, it.value)), Some(("gadgets".to_owned(), vec![0, 255])));
}

#[test]
fn sdks_that_name_different_places_are_ambiguous() {
    let place = tempfile::tempdir().expect("a folder");
    let one = r#"{"resource": true, "name": "own", "version": "1.0.0"}"#;
    write(place.path(), "a/pulumi_own/pulumi-plugin.json", one);
    let two = r#"{"resource": true, "name": "own", "version": "1.1.0", "server": "https://user:pw@h.test"}"#;
    write(place.path(), "b/pulumi_own/pulumi-plugin.json", two);
    let folders = [place.path().join("a"), place.path().join("b")];
    let reason = ambiguous_places(&folders, "own").expect("ambiguous");
    assert!(reason.contains("from the usual places (") && reason.contains("from https://h.test ("), "{reason}");
    assert_eq!(ambiguous_places(&folders[..1], "own"), None);
    assert_eq!(ambiguous_places(&folders, "other"), None);
    // Of one version, too.
    write(place.path(), "b/pulumi_own/pulumi-plugin.json", &two.replace("1.1.0", "1.0.0"));
    assert_eq!(ambiguous_places(&folders, "own").expect("ambiguous"), reason);
    assert_eq!(declared_plugins(&folders).len(), 2);
}

#[test]
fn node_packages_ask_for_their_plugins_nested_ones_and_linked_ones_too() {
    let place = tempfile::tempdir().expect("a folder");
    let root = place.path().join("node_modules");
    let package = |name: &str, version: &str| {
        format!(r#"{{"name": "{name}", "version": "{version}", "pulumi": {{"resource": true}}}}"#)
    };
    write(&root, "@pulumi/random/package.json", &package("@pulumi/random", "4.16.7"));
    write(&root, "@pulumi/pulumi/package.json", r#"{"name": "@pulumi/pulumi", "version": "3.0.0"}"#);
    write(&root, "lib/package.json", r#"{"name": "lib"}"#);
    write(&root, "lib/node_modules/@pulumi/random/package.json", &package("@pulumi/random", "4.20.0"));
    write(place.path(), "store/own/package.json", &package("own", "1.0.0"));
    std::os::unix::fs::symlink(place.path().join("store/own"), root.join("own")).expect("a link");
    std::fs::create_dir_all(place.path().join("store/own/node_modules")).expect("a folder");
    std::os::unix::fs::symlink(&root, place.path().join("store/own/node_modules/own")).expect("a link");
    assert_eq!(shown(&root), ["own 1.0.0 ", "random 4.16.7 ", "random 4.20.0 "]);
    let newest = declared_plugin(std::slice::from_ref(&root), "random").expect("declared");
    assert_eq!(newest.version, "4.20.0");
    assert_eq!(declared_plugin(&[root], "aws"), None);
}
