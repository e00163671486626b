//! The SDKs that are made in a project: where they are, and which of them are missing.

use std::path::{Path, PathBuf};

use super::{ListedPackage, Project, RunBy};
use crate::language_host::Language;

/// Where the SDKs of a project are.
pub(crate) const FOLDER: &str = "sdks";

/// A package whose SDK is to be made in the project, and is not there.
pub(crate) struct MissingSdk {
    /// The package.
    pub(crate) name: String,
    /// Where Pulumi.yaml lists it.
    pub(crate) place: String,
}

impl MissingSdk {
    /// Does an error of the program speak of it?
    pub(crate) fn is_in(&self, error: &str) -> bool {
        let python = format!("pulumi_{}", self.name.replace('-', "_"));
        let node = format!("/{}'", self.name);
        error.contains(&python) || error.contains(&node)
    }

    /// What helps.
    pub(crate) fn help(&self) -> String {
        format!("{}: the SDK of the package '{}' is not there: `maloko install` makes it", self.place, self.name)
    }
}

/// The packages whose SDKs the program's language needs, and that are nowhere.
pub(crate) fn missing(project: &Project) -> Vec<MissingSdk> {
    if !matches!(project.run_by(), RunBy::Binding(_)) {
        return Vec::new();
    }
    let without = project.packages.iter().filter(|package| folder_of(project, package).is_none());
    let missing = without.map(|it| MissingSdk { name: it.name.clone(), place: project.place(&["packages", &it.name]) });
    missing.collect()
}

/// The folder of a package's SDK, if it is there.
pub(crate) fn folder_of(project: &Project, package: &ListedPackage) -> Option<PathBuf> {
    let of_project = project.root.join(FOLDER);
    let named = of_project.join(&package.name);
    let marks: &[&str] = match project.run_by() {
        RunBy::Binding(Language::Python) => &["pyproject.toml", "setup.py"],
        RunBy::Binding(Language::NodeJs) => &["package.json"],
        RunBy::OwnProcess => return named.is_dir().then_some(named),
    };
    let is_sdk = |folder: &Path| marks.iter().any(|mark| folder.join(mark).is_file());
    if is_sdk(&named) {
        return Some(named);
    }
    // A package with a publisher has that in the name of its folder.
    let others = std::fs::read_dir(of_project).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let ending = format!("-{}", package.name);
    let is_it = |folder: &PathBuf| folder.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&ending));
    others.filter(is_it).find(|folder| is_sdk(folder))
}

/// Does a file of the project's dependencies name the folder of an SDK?
pub(crate) fn is_linked(project: &Project, name: &str) -> bool {
    let program = project.program().map(|program| Project::program_directory(&program)).ok();
    let folders = std::iter::once(project.root.clone()).chain(program);
    let mut files =
        folders.flat_map(|folder| ["requirements.txt", "pyproject.toml", "package.json"].map(|it| folder.join(it)));
    let named = format!("{FOLDER}/{name}");
    files.any(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.match_indices(&named).any(|(at, _)| {
            let next = text[at + named.len()..].chars().next();
            next.is_none_or(|letter| !letter.is_alphanumeric() && letter != '-' && letter != '_')
        })
    })
}

/// What has to be done about the SDKs of the project, whatever its program imports.
pub(crate) fn problems(project: &Project) -> Vec<String> {
    let missing = missing(project).into_iter().filter(|sdk| is_linked(project, &sdk.name)).map(|sdk| sdk.help());
    let stale = project.packages.iter().filter(|package| is_stale(project, package)).map(|package| {
        let (place, name, origin) = (project.place(&["packages", &package.name]), &package.name, package.origin());
        format!("{place}: the SDK of the package '{name}' was not made of '{origin}': `maloko install` makes it anew")
    });
    missing.chain(stale).collect()
}

/// Was the SDK that is there made of something else than what Pulumi.yaml says now?
pub(crate) fn is_stale(project: &Project, package: &ListedPackage) -> bool {
    let origin = folder_of(project, package).and_then(|folder| maloko_packages::folder::origin(&folder));
    origin.is_some_and(|origin| origin != package.origin())
}
