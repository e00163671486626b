//! `package add`, and the SDKs of listed packages that `install` makes.

use std::path::Path;

use serde_norway::{Mapping, Value};

use maloko_packages::folder::FolderOutcome;

use crate::arguments::{Generator, PackageAdd, PackageSource};
use crate::commands::plugin;
use crate::commands::steps::run_step;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::project::sdks::{FOLDER, folder_of, is_linked, is_stale};
use crate::project::{ListedPackage, Project, RunBy, origin};
use crate::yaml;

use super::source::{PackageSchema, Source, below, is_path};
use super::{link, listed, of, sdk};

/// Runs `package add`.
pub(super) async fn run(context: &Context, arguments: &PackageAdd) -> Result<()> {
    let project = context.project()?;
    let language = language_of(&project)?;
    let PackageSource { source, parameters } = &arguments.source;
    let source = Source::read(source, &context.directory)?;
    if !arguments.no_link {
        link::check(&project, language)?;
    }
    let parameters = source.parameters(parameters, &context.directory, &project.root)?;
    let found = source.find(context, plugin::settings(context), &parameters).await?;
    warn_of_version(context, &source, &found);
    let entry = Listing::new(&project, &found, &source, parameters);
    let folder = sdk::place(&project.root, &found.package);
    let origin = origin(&entry.source_and_version(), &entry.parameters);
    let how = sdk::How { generator: arguments.generator, origin: &origin, force: arguments.force };
    let name = &found.package.name;
    let is_listed = !matches!(source, Source::Schema(_));
    let former = project.packages.iter().find(|it| it.name == *name && it.origin() != origin);
    if let Some(former) = former.filter(|_| !is_listed) {
        return Err(Failure::configuration(format!(
            "{}: the package '{name}' is listed there, made of '{}', which `install` would put back: `maloko package rm \
             {name}` takes it out first",
            project.place(&["packages", name]),
            former.origin()
        )));
    }
    let folder = place(context, &project, &found, language, &folder, how).await?;
    if is_listed {
        // Before the tool of the language, which may be interrupted: `install` goes on from what is written here.
        if let Some(former) = former {
            let was = format!("the package '{name}' was made of '{}'; it takes that one's place", former.origin());
            context.console.note(was);
        }
        list(&project, name, &entry)?;
    } else {
        let what = "its schema is in a file, so it is not in Pulumi.yaml: keep the folder with your program";
        context.console.line(&format!("note: {what}"));
    }
    if !arguments.no_link {
        use_it(context, &project, language, &folder)?;
    }
    let version = &found.package.version;
    let version = if version.is_empty() { String::new() } else { format!(" {version}") };
    context.console.line(&format!("added: {name}{version}, its SDK is in {folder}"));
    context.console.line(&how_to_import(&project, &folder, language));
    Ok(())
}

/// Warns where the plugin that was found is not of the version that was asked for, such as one of `$PATH`.
fn warn_of_version(context: &Context, source: &Source, found: &PackageSchema) {
    let Source::Plugin(request) = source else { return };
    let has = found.plugin_version.trim_start_matches('v');
    if request.download_url.is_empty() && !request.version.is_empty() && !has.is_empty() && has != request.version {
        context.console.note(format!(
            "warning: the plugin {} that was found has the version {has}, not {}; look at your $PATH",
            request.name, request.version
        ));
    }
}

/// Makes the SDKs of listed packages that are missing, or made of something else; gives their folders.
pub(crate) async fn make_listed(context: &Context, project: &Project) -> Result<Vec<String>> {
    let RunBy::Binding(language) = project.run_by() else { return Ok(Vec::new()) };
    let mut made = Vec::new();
    for package in &project.packages {
        let there = folder_of(project, package);
        let is_there = there.is_some() && !is_stale(project, package);
        if is_there || there.is_none() && is_published(context, project, package) {
            continue;
        }
        let source = Source::read(&package.source, &project.root)?;
        let settings = crate::operation::plugins::settings(context, project);
        let found = source.find(context, settings, &package.parameters).await.map_err(|failure| Failure {
            message: format!("{}: {}", project.place(&["packages", &package.name]), failure.message).into(),
            ..failure
        })?;
        let folder = there.unwrap_or_else(|| project.root.join(FOLDER).join(&package.name));
        let how = sdk::How { generator: Generator::Maloko, origin: &package.origin(), force: false };
        let folder = place(context, project, &found, language, &folder, how).await?;
        context.console.line(&format!("made: the SDK of {} in {folder}", package.name));
        // What is linked already is among the dependencies that are installed next.
        if !is_linked(project, folder.rsplit('/').next().unwrap_or_default()) {
            made.push(folder);
        }
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
    if is_linked(project, &package.name) {
        return false;
    }
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

async fn place(
    context: &Context,
    project: &Project,
    found: &PackageSchema,
    language: Language,
    folder: &Path,
    how: sdk::How<'_>,
) -> Result<String> {
    let written = sdk::make(context, found, of(language), folder, how).await?;
    let shown = listed::relative(folder, &project.root);
    if written == FolderOutcome::Same {
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
fn list(project: &Project, name: &str, entry: &Listing) -> Result<()> {
    let text = yaml::load("the project file", &project.file)?.unwrap_or_default();
    let (edited, _) = yaml::edit(&project.file, &text, &["packages", name], Some(&entry.as_yaml()))?;
    if edited == text {
        return Ok(());
    }
    let failed = |error: &std::io::Error| Failure::io(format!("{} cannot be written", project.file.display()), error);
    std::fs::write(&project.file, edited).map_err(|error| failed(&error))
}

/// A package as Pulumi.yaml lists it.
struct Listing {
    source: String,
    /// Empty for none.
    version: String,
    parameters: Vec<String>,
}

impl Listing {
    fn new(project: &Project, found: &PackageSchema, source: &Source, mut parameters: Vec<String>) -> Self {
        let version = found.plugin_version.trim_start_matches('v');
        let version = version.strip_prefix("0.0.0-x").unwrap_or(version);
        let named = match source {
            Source::Plugin(request) if request.download_url.is_empty() => request.name.clone(),
            // As a person writes it.
            Source::Plugin(request) => request.download_url.replacen("git://", "https://", 1),
            Source::Place(_, place) => below(&project.root, place),
            Source::Schema(file) => below(&project.root, file),
        };
        let version = if matches!(source, Source::Plugin(_)) { version.to_owned() } else { String::new() };
        let made = &found.package.version;
        // A fresh clone gets the provider of Terraform that was found now.
        if source.is_of_terraform() && parameters.len() == 1 && !made.is_empty() && !is_path(&parameters[0]) {
            parameters.push(made.clone());
        }
        Self { source: named, version, parameters }
    }

    fn source_and_version(&self) -> String {
        if self.version.is_empty() { self.source.clone() } else { format!("{}@{}", self.source, self.version) }
    }

    fn as_yaml(&self) -> Value {
        if self.parameters.is_empty() {
            return Value::String(self.source_and_version());
        }
        let mut members = Mapping::new();
        let mut set = |name: &str, value: Value| members.insert(Value::String(name.to_owned()), value);
        set("source", Value::String(self.source.clone()));
        if !self.version.is_empty() {
            set("version", Value::String(self.version.clone()));
        }
        set("parameters", Value::Sequence(self.parameters.iter().map(|word| Value::String(word.clone())).collect()));
        Value::Mapping(members)
    }
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
