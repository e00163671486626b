//! `package rm`.

use maloko_packages::folder::changes;

use crate::arguments::PackageRemove;
use crate::commands::steps::run_step;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::project::RunBy;
use crate::project::sdks::{FOLDER, folder_of};
use crate::yaml;

use super::{link, listed};

/// Runs `package rm`.
pub(super) fn run(context: &Context, arguments: &PackageRemove) -> Result<()> {
    let project = context.project()?;
    let name = &arguments.name;
    let listed = project.packages.iter().find(|package| package.name == *name);
    // One whose schema is in a file is not listed.
    let folder = listed.map_or_else(
        || Some(project.root.join(FOLDER).join(name)).filter(|folder| folder.is_dir()),
        |package| folder_of(&project, package),
    );
    if listed.is_none() && folder.is_none() {
        let known: Vec<&str> = project.packages.iter().map(|package| package.name.as_str()).collect();
        let known =
            if known.is_empty() { "it lists none".to_owned() } else { format!("it lists {}", known.join(", ")) };
        return Err(Failure::configuration(format!("{} lists no package '{name}': {known}", project.file.display())));
    }
    if let Some(folder) = &folder {
        let edits = changes(folder, &[]).map_err(|fault| Failure::new(fault.to_string()))?;
        let mine = edits.is_none_or(|edits| !edits.is_empty());
        if mine && !arguments.force {
            return Err(Failure::new(format!(
                "{} was changed by hand, or another tool made it; it is kept, and `--force` removes it",
                folder.display()
            )));
        }
    }
    if let RunBy::Binding(language) = project.run_by() {
        let shown =
            folder.as_ref().map_or_else(|| format!("{FOLDER}/{name}"), |it| listed::relative(it, &project.root));
        for step in link::undo(context, &project, language, &shown, name)? {
            context.console.line(&format!("$ {}", step.shown()));
            run_step(context, &step)?;
        }
    }
    let failed = |what: String| move |error: std::io::Error| Failure::io(what, &error);
    if listed.is_some() {
        let text = yaml::load("the project file", &project.file)?.unwrap_or_default();
        let keys: &[&str] = if project.packages.len() == 1 { &["packages"] } else { &["packages", name] };
        let (edited, _) = yaml::edit(&project.file, &text, keys, None)?;
        std::fs::write(&project.file, edited)
            .map_err(failed(format!("{} cannot be written", project.file.display())))?;
    }
    if let Some(folder) = folder {
        std::fs::remove_dir_all(&folder).map_err(failed(format!("{} cannot be removed", folder.display())))?;
    }
    context.console.line(&format!("removed: {name}"));
    Ok(())
}
