use std::fs;
use std::path::Path;

use super::{MANIFEST, Manifest, RUN_JAVASCRIPT};
use crate::policies::RunFacts;

/// Is a pack with these files run without the TypeScript compiler?
fn is_run_as_javascript(manifest: &str, files: &[(&str, &str)]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let of_pulumi = Path::new("node_modules/@pulumi/pulumi/cmd/run-policy-pack/index.js");
    for (name, text) in files.iter().copied().chain([(MANIFEST, manifest), (of_pulumi.to_str().unwrap(), "")]) {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let command = Manifest::read(folder.path()).unwrap().command(folder.path(), "engine", &RunFacts::default());
    let arguments = command.unwrap().arguments;
    assert_eq!(arguments.last().unwrap(), folder.path().as_os_str());
    arguments.iter().any(|it| it == RUN_JAVASCRIPT)
}

#[test]
fn packs_of_javascript_alone_run_without_the_typescript_compiler() {
    let package = |main: &str| format!(r#"{{"main": "{main}"}}"#);
    let [plain, said, unsaid] = [
        "runtime: nodejs",
        "runtime: {name: nodejs, options: {typescript: true}}",
        "runtime: {name: nodejs, options: {typescript: false}}",
    ];
    assert!(is_run_as_javascript(plain, &[("index.js", "")]));
    assert!(is_run_as_javascript(plain, &[("package.json", &package("bin/rules.js")), ("bin/rules.js", "")]));
    assert!(!is_run_as_javascript(plain, &[("package.json", &package("rules.ts")), ("rules.ts", "")]));
    assert!(!is_run_as_javascript(plain, &[("index.ts", "")]));
    assert!(!is_run_as_javascript(plain, &[("index.js", ""), ("tsconfig.json", "{}")]));
    assert!(!is_run_as_javascript(said, &[("index.js", "")]));
    assert!(is_run_as_javascript(unsaid, &[("index.js", ""), ("tsconfig.json", "{}")]));
}
