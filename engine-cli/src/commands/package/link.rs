//! How a project comes to use an SDK in a folder of its own: by the tool of its language.

use std::fs;
use std::path::Path;

use crate::commands::steps::{Step, node_tool, own_python, python_of, python_steps};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::project::Project;

/// The group of poetry's dependencies that SDKs are in.
const POETRY_GROUP: &str = "sdks";

/// What has to be done, in this order; files that pip reads are written at once.
pub(super) fn steps(context: &Context, project: &Project, language: Language, folder: &str) -> Result<Vec<Step>> {
    match language {
        Language::Python => python(context, project, folder),
        Language::NodeJs => node(project, folder),
    }
}

/// Can the project use an SDK? The error says what it lacks.
pub(super) fn check(project: &Project, language: Language) -> Result<()> {
    let lacks = match language {
        Language::NodeJs if node_tool(project)?.is_none() => ("package.json", "npm init"),
        Language::Python if tool(project) != "pip" && !project.root.join("pyproject.toml").is_file() => {
            ("pyproject.toml", if tool(project) == "uv" { "uv init" } else { "poetry init" })
        }
        _ => return Ok(()),
    };
    Err(Failure::configuration(format!(
        "{} has no {}: make one with `{}`, and add the package again",
        project.root.display(),
        lacks.0,
        lacks.1
    )))
}

/// What takes an SDK out again, also one whose folder is gone: `package` is then what its name is made of.
pub(super) fn undo(
    context: &Context,
    project: &Project,
    language: Language,
    folder: &str,
    package: &str,
) -> Result<Vec<Step>> {
    let usual = match language {
        Language::Python => format!("pulumi_{}", package.replace('-', "_")),
        Language::NodeJs => format!("@pulumi/{package}"),
    };
    let name = name_in(&project.root.join(folder), language).unwrap_or(usual);
    match language {
        Language::Python => Ok(match tool(project) {
            "uv" => vec![Step::new("uv", &["remove", &name], &project.root)],
            "poetry" => vec![Step::new("poetry", &["remove", &name], &project.root)],
            _ => {
                let requirements = project.root.join("requirements.txt");
                if let Ok(text) = fs::read_to_string(&requirements) {
                    let kept: Vec<&str> = text.lines().filter(|line| !is_line_of(line, folder)).collect();
                    write(&requirements, &(kept.join("\n") + "\n"))?;
                }
                let python = python_of(context, project);
                let uninstall = ["-m", "pip", "uninstall", "--quiet", "--yes", &name];
                python.map(|python| Step::new(python, &uninstall, &project.root)).into_iter().collect()
            }
        }),
        Language::NodeJs => {
            let Some((tool, directory)) = node_tool(project)? else { return Ok(Vec::new()) };
            let verb = if tool == "npm" { "uninstall" } else { "remove" };
            Ok(vec![Step::new(tool, &[verb, &name], &directory)])
        }
    }
}

fn tool(project: &Project) -> &str {
    project.runtime_options.get("toolchain").and_then(serde_json::Value::as_str).unwrap_or("pip")
}

fn python(context: &Context, project: &Project, folder: &str) -> Result<Vec<Step>> {
    let place = format!("./{folder}");
    match tool(project) {
        // As a member of a workspace nothing of uv works while the folder is missing, not even what makes it again.
        "uv" => return Ok(vec![Step::new("uv", &["add", "--no-workspace", &place], &project.root)]),
        "poetry" => return poetry(project, &place),
        _ => {}
    }
    let requirements = project.root.join("requirements.txt");
    if requirements.is_file() || !project.root.join("pyproject.toml").is_file() {
        let text = match fs::read_to_string(&requirements) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::io(format!("{} cannot be read", requirements.display()), &error)),
        };
        if !text.lines().any(|line| is_line_of(line, folder)) {
            let separator = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            write(&requirements, &format!("{text}{separator}{place}\n"))?;
        }
    }
    let Some(python) = python_of(context, project) else {
        // The environment is made first, and then it gets all that the project needs.
        return python_steps(project, &own_python(context));
    };
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &place];
    Ok(vec![Step::new(python, &quiet, &project.root)])
}

/// Where the project's own table lists dependencies, poetry writes the folder as a path of this machine. In a group it keeps it as it is.
fn poetry(project: &Project, place: &str) -> Result<Vec<Step>> {
    let file = project.root.join("pyproject.toml");
    let text =
        fs::read_to_string(&file).map_err(|error| Failure::io(format!("{} cannot be read", file.display()), &error))?;
    let has = |table: &str| text.lines().any(|line| line.trim() == table);
    if !has("[project]") {
        return Ok(vec![Step::new("poetry", &["add", place], &project.root)]);
    }
    let group = format!("[tool.poetry.group.{POETRY_GROUP}.dependencies]");
    if !has(&group) {
        write(&file, &format!("{}\n\n{group}\n", text.trim_end()))?;
    }
    Ok(vec![Step::new("poetry", &["add", "--group", POETRY_GROUP, place], &project.root)])
}

/// Does a line of requirements.txt name the folder?
fn is_line_of(line: &str, folder: &str) -> bool {
    let words = line.trim();
    let words = words.strip_prefix("-e ").unwrap_or(words).trim();
    words.strip_prefix("./").unwrap_or(words).trim_end_matches('/') == folder
}

fn node(project: &Project, folder: &str) -> Result<Vec<Step>> {
    let Some((tool, directory)) = node_tool(project)? else {
        return Err(Failure::configuration(format!(
            "{} has no package.json: make one with `npm init`, and add the package again",
            project.root.display()
        )));
    };
    let place = project.root.join(folder);
    let place = place.strip_prefix(&directory).map_or_else(|_| place.clone(), Path::to_path_buf);
    let place = if place.is_absolute() { place.display().to_string() } else { format!("./{}", place.display()) };
    let name = name_in(&project.root.join(folder), Language::NodeJs).unwrap_or_default();
    Ok(vec![match tool {
        "npm" => Step::new(tool, &["install", "--no-audit", "--no-fund", &place], &directory),
        "yarn" => Step::new(tool, &["add", &format!("{name}@file:{place}")], &directory),
        _ => Step::new(tool, &["add", &place], &directory),
    }])
}

/// What the SDK in a folder is called for the tool of its language.
fn name_in(folder: &Path, language: Language) -> Option<String> {
    match language {
        Language::NodeJs => {
            let read = fs::read(folder.join("package.json")).ok()?;
            let read: serde_json::Value = serde_json::from_slice(&read).ok()?;
            read.get("name")?.as_str().map(ToOwned::to_owned)
        }
        Language::Python => {
            let text = fs::read_to_string(folder.join("pyproject.toml")).ok()?;
            let line = text.lines().find_map(|line| line.trim().strip_prefix("name"))?;
            let name = line.trim().strip_prefix('=')?.trim().trim_matches(['"', '\'']);
            Some(name.to_owned())
        }
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).map_err(|error| Failure::io(format!("{} cannot be written", file.display()), &error))
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
