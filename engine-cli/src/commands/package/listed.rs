//! The packages that Pulumi.yaml lists, and whether their SDKs are there.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::arguments::PackageList;
use crate::commands::{pretty, table, text};
use crate::context::Context;
use crate::failure::Result;
use crate::language_host::Language;
use crate::project::{ListedPackage, Project, RunBy};

use super::sdk;

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

/// Runs `package ls`.
pub(super) fn run(context: &Context, arguments: &PackageList) -> Result<()> {
    let project = context.project()?;
    if arguments.format.json() {
        let each = project.packages.iter().map(|package| {
            json!({
                "name": package.name,
                "source": package.source,
                "parameters": package.parameters,
                "sdk": folder_of(&project, package).map(|folder| folder.display().to_string()),
            })
        });
        context.console.line(&pretty(&Value::Array(each.collect())));
        return Ok(());
    }
    if project.packages.is_empty() {
        context.console.line("The project lists no packages: `maloko package add SOURCE` adds one");
        return Ok(());
    }
    let mut shown = table(&["NAME", "SOURCE", "PARAMETERS", "SDK"]);
    for package in &project.packages {
        let sdk = match folder_of(&project, package) {
            Some(folder) => relative(&folder, &project.root),
            None => "missing".to_owned(),
        };
        shown.add_row([package.name.clone(), package.source.clone(), package.parameters.join(" "), sdk]);
    }
    context.console.print(&text(&shown));
    Ok(())
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
pub(super) fn folder_of(project: &Project, package: &ListedPackage) -> Option<PathBuf> {
    let of_project = project.root.join(sdk::FOLDER);
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

/// A path as it is shown in a project.
pub(super) fn relative(folder: &Path, root: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).display().to_string()
}
