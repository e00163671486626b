//! The packages that Pulumi.yaml lists, and whether their SDKs are there.

use std::path::Path;

use serde_json::{Value, json};

use crate::arguments::PackageList;
use crate::commands::{pretty, table, text};
use crate::context::Context;
use crate::failure::Result;
use crate::project::sdks::folder_of;

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

/// A path as it is shown in a project.
pub(super) fn relative(folder: &Path, root: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).display().to_string()
}
