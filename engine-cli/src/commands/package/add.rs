//! `package add`, and the SDKs of listed packages that `install` makes.

use serde_norway::{Mapping, Value};

use maloko_packages::folder::Written;
use maloko_packages::schema::Package;

use crate::arguments::{PackageAdd, PackageSource};
use crate::commands::plugin;
use crate::commands::steps::run_step;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::project::sdks::folder_of;
use crate::project::{ListedPackage, Project, RunBy};
use crate::yaml;

use super::source::{PackageSchema, Source};
use super::{link, listed, of, sdk};

/// Runs `package add`.
pub(super) async fn run(context: &Context, arguments: &PackageAdd) -> Result<()> {
    let project = context.project()?;
    let language = language_of(&project)?;
    let PackageSource { source, parameters } = &arguments.source;
    let source = Source::read(source, &context.directory)?;
    let found = source.find(context, plugin::settings(context), parameters).await?;
    let folder = place(context, &project, &found.package, language, arguments.force)?;
    if !arguments.no_link {
        use_it(context, &project, language, &folder)?;
    }
    if !matches!(source, Source::Schema(_)) {
        list(&project, &found, &source, parameters)?;
    }
    let version = &found.package.version;
    let version = if version.is_empty() { String::new() } else { format!(" {version}") };
    context.console.line(&format!("added: {}{version}, its SDK is in {folder}", found.package.name));
    context.console.line(&how_to_import(&project, &folder, language));
    Ok(())
}

/// Makes the SDKs of listed packages that are missing; gives their folders.
pub(crate) async fn make_listed(context: &Context, project: &Project) -> Result<Vec<String>> {
    let RunBy::Binding(language) = project.run_by() else { return Ok(Vec::new()) };
    let mut made = Vec::new();
    for package in &project.packages {
        if folder_of(project, package).is_some() || is_published(context, project, package) {
            continue;
        }
        let source = Source::read(&package.source, &project.root)?;
        let settings = crate::operation::plugins::settings(context, project);
        let found = source.find(context, settings, &package.parameters).await.map_err(|failure| Failure {
            message: format!("{}: {}", project.place(&["packages", &package.name]), failure.message).into(),
            ..failure
        })?;
        let folder = place(context, project, &found.package, language, false)?;
        context.console.line(&format!("made: the SDK of {} in {folder}", package.name));
        made.push(folder);
    }
    Ok(made)
}

/// Has the project use SDKs that were made.
pub(crate) fn use_made(context: &Context, project: &Project, folders: &[String]) -> Result<()> {
    let RunBy::Binding(language) = project.run_by() else { return Ok(()) };
    folders.iter().try_for_each(|folder| use_it(context, project, language, folder))
}

/// A package that is not made of a parameter may have an SDK that is installed from a registry.
fn is_published(context: &Context, project: &Project, package: &ListedPackage) -> bool {
    let folders = crate::operation::plugins::settings(context, project).package_folders;
    maloko_plugins::declared_plugin(&folders, &package.name).is_some()
}

fn language_of(project: &Project) -> Result<Language> {
    match project.run_by() {
        RunBy::Binding(language) => Ok(language),
        RunBy::OwnProcess => Err(Failure::configuration(format!(
            "{}: maloko makes SDKs for python and nodejs, and the program's runtime is {}",
            project.place(&["runtime"]),
            project.runtime
        ))),
    }
}

fn place(context: &Context, project: &Project, package: &Package, language: Language, force: bool) -> Result<String> {
    let folder = sdk::place(&project.root, package);
    let written = sdk::make(context, package, of(language), &folder, force)?;
    let shown = listed::relative(&folder, &project.root);
    if written == Written::Same {
        context.console.line(&format!("unchanged: {shown}"));
    }
    Ok(shown)
}

fn use_it(context: &Context, project: &Project, language: Language, folder: &str) -> Result<()> {
    for step in link::steps(context, project, language, folder)? {
        context.console.line(&format!("$ {}", step.shown()));
        run_step(context, &step)?;
    }
    Ok(())
}

/// Writes the package into Pulumi.yaml: `install` makes its SDK from that in a fresh clone.
fn list(project: &Project, found: &PackageSchema, source: &Source, parameters: &[String]) -> Result<()> {
    let text = yaml::load("the project file", &project.file)?.unwrap_or_default();
    let entry = entry(project, found, source, parameters);
    let (edited, _) = yaml::edit(&project.file, &text, &["packages", &found.package.name], Some(&entry))?;
    if edited == text {
        return Ok(());
    }
    let failed = |error: &std::io::Error| Failure::io(format!("{} cannot be written", project.file.display()), error);
    std::fs::write(&project.file, edited).map_err(|error| failed(&error))
}

fn entry(project: &Project, found: &PackageSchema, source: &Source, parameters: &[String]) -> Value {
    let version = found.plugin_version.trim_start_matches('v');
    let version = version.strip_prefix("0.0.0-x").unwrap_or(version);
    let named = match source {
        Source::Plugin(request) if request.download_url.is_empty() => request.name.clone(),
        // As a person writes it.
        Source::Plugin(request) => request.download_url.replacen("git://", "https://", 1),
        Source::Place(_, place) => {
            let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
            let whole = place.canonicalize().unwrap_or_else(|_| place.clone());
            match whole.strip_prefix(&root) {
                Ok(below) => format!("./{}", below.display()),
                Err(_) => whole.display().to_string(),
            }
        }
        Source::Schema(file) => file.display().to_string(),
    };
    let is_plugin = matches!(source, Source::Plugin(_));
    if parameters.is_empty() {
        let with_version = is_plugin && !version.is_empty();
        return Value::String(if with_version { format!("{named}@{version}") } else { named });
    }
    let mut members = Mapping::new();
    let mut set = |name: &str, value: Value| members.insert(Value::String(name.to_owned()), value);
    set("source", Value::String(named));
    if is_plugin && !version.is_empty() {
        set("version", Value::String(version.to_owned()));
    }
    set("parameters", Value::Sequence(parameters.iter().map(|word| Value::String(word.clone())).collect()));
    Value::Mapping(members)
}

fn how_to_import(project: &Project, folder: &str, language: Language) -> String {
    match language {
        Language::Python => {
            let inside = std::fs::read_dir(project.root.join(folder)).into_iter().flatten();
            let names = inside.filter_map(|entry| Some(entry.ok()?.path()));
            let module = names
                .filter(|path| path.join("__init__.py").is_file())
                .find_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
            let module = module.unwrap_or_default();
            let short = module.strip_prefix("pulumi_").unwrap_or(&module);
            format!("use it: import {module} as {short}")
        }
        Language::NodeJs => {
            let read = std::fs::read(project.root.join(folder).join("package.json")).unwrap_or_default();
            let read: serde_json::Value = serde_json::from_slice(&read).unwrap_or_default();
            let name = read.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
            let short = name.rsplit('/').next().unwrap_or_default().replace('-', "_");
            format!("use it: import * as {short} from \"{name}\";")
        }
    }
}
