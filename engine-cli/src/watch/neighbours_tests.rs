#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::fs;
use std::os::unix::fs::symlink;

use super::of;

#[test]
fn linked_and_editable_packages_are_neighbours_and_installed_ones_are_not() {
    let workspace = tempfile::tempdir().unwrap();
    let top = workspace.path().canonicalize().unwrap();
    let project = top.join("app");
    for directory in
        ["app", "shared", "deep", "library", "node_modules/installed", ".venv/lib/python3.12/site-packages"]
    {
        fs::create_dir_all(top.join(directory)).unwrap();
    }
    fs::write(project.join("package.json"), r#"{"dependencies": {"shared": "*", "installed": "1"}}"#).unwrap();
    fs::write(top.join("shared/package.json"), r#"{"dependencies": {"@of/deep": "*", "shared": "*"}}"#).unwrap();
    fs::create_dir_all(top.join("node_modules/@of")).unwrap();
    symlink(top.join("shared"), top.join("node_modules/shared")).unwrap();
    symlink(top.join("deep"), top.join("node_modules/@of/deep")).unwrap();
    let links = format!("{}\nimport something\n{}\n", top.join("library").display(), project.display());
    fs::write(top.join(".venv/lib/python3.12/site-packages/__editable__.library.pth"), links).unwrap();
    assert_eq!(of(&project), ["deep", "library", "shared"].map(|name| top.join(name)));
}
