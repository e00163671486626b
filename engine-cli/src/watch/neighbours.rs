//! Packages of a workspace that a project imports from beside it: the people who write the program write them, too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

const NODE_MODULES: &str = "node_modules";
/// Where a virtual environment is looked for, as `maloko` does for a program.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// The directories of those packages, apart from what is below the project anyway.
pub(super) fn of(root: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    linked_packages(root, &mut found);
    for environment in root.ancestors().flat_map(|above| ENVIRONMENTS.map(|name| above.join(name))) {
        found.extend(editable_packages(&environment));
    }
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    found.retain(|package| !package.starts_with(&root) && !root.starts_with(package));
    found.into_iter().collect()
}

/// What the dependencies of a package are links to (npm, pnpm, yarn), and what theirs are.
fn linked_packages(package: &Path, found: &mut BTreeSet<PathBuf>) {
    for name in dependencies(package) {
        let places = package.ancestors().map(|above| above.join(NODE_MODULES).join(&name));
        let Some(target) = places.into_iter().find_map(|place| place.canonicalize().ok()) else { continue };
        // What a package manager keeps in its own folders was installed.
        let is_installed = target.components().any(|part| part.as_os_str() == NODE_MODULES);
        if !is_installed && found.insert(target.clone()) {
            linked_packages(&target, found);
        }
    }
}

fn dependencies(package: &Path) -> Vec<String> {
    let text = fs::read_to_string(package.join("package.json")).unwrap_or_default();
    let settings: Json = serde_json::from_str(&text).unwrap_or_default();
    let kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
    let names = kinds.iter().filter_map(|kind| settings.get(kind)?.as_object()).flat_map(|names| names.keys().cloned());
    names.collect()
}

/// The directories that an environment imports from beside its installed packages (`pip install -e`, members of a workspace).
fn editable_packages(environment: &Path) -> Vec<PathBuf> {
    let read =
        |directory: &Path| fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let lines = |file: PathBuf| fs::read_to_string(file).unwrap_or_default();
    read(&environment.join("lib"))
        .flat_map(|python| read(&python.join("site-packages")))
        .filter(|file| file.extension().is_some_and(|ending| ending == "pth"))
        .flat_map(|file| lines(file).lines().map(PathBuf::from).collect::<Vec<_>>())
        .filter(|line| line.is_absolute() && line.is_dir())
        .filter_map(|directory| directory.canonicalize().ok())
        .collect()
}

#[cfg(test)]
#[path = "neighbours_tests.rs"]
mod tests;
