//! The plugins of an operation: where they are looked for, and what they are told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use maloko_core::operation::{Adoption, Operation, OperationKind};
use maloko_core::plugin::PluginsOfRun;
use maloko_core::resource_state::ResourceState;
use maloko_core::served_by::{ServedBy, served_by};
use maloko_core::state::Snapshot;
use maloko_plugins::{PluginSettings, Plugins, variables};

use super::request::Request;
use crate::context::Context;
use crate::language_host::Language;
use crate::project::{Project, RunBy, sdks};
use crate::workplace::Workplace;

/// The plugin host of an operation. It begins nothing before the run needs its first plugin.
pub(super) fn host(workplace: &Workplace<'_>, operation: &Operation) -> PluginsOfRun {
    PluginsOfRun(Arc::new(Plugins::new(PluginSettings {
        program_directory: operation.program_directory.clone(),
        config: operation.plain_config(),
        ..settings(workplace.context, &workplace.project)
    })))
}

/// Can a `refresh`, `destroy` or `import` do without the program? It brings live objects and hooks; what plugins serve needs
/// neither, nor does a stack that has nothing, or its own resource alone.
pub(super) fn need_no_program(request: &Request, operation: &Operation, snapshot: &Snapshot) -> bool {
    if request.kind == OperationKind::Import {
        let of_plugin = |adoption: &Adoption| served_by(&adoption.kind) == ServedBy::Plugin;
        return !request.asks_for_program && operation.adoptions.iter().all(of_plugin);
    }
    let without = |resource: &ResourceState| resource.served_by() != ServedBy::LiveObject && resource.hooks.is_empty();
    matches!(request.kind, OperationKind::Refresh | OperationKind::Destroy)
        && !request.asks_for_program
        && snapshot.all_resources().all(without)
}

/// Where the plugins of a project are looked for, without a stack.
pub(crate) fn settings(context: &Context, project: &Project) -> PluginSettings {
    of_project(|name| context.text_variable(name), project, package_folders(context, project))
}

/// Where the plugins of a project are looked for; `variable` is one of the environment.
pub(super) fn of_project(
    variable: impl Fn(&str) -> Option<String>,
    project: &Project,
    package_folders: Vec<PathBuf>,
) -> PluginSettings {
    let options = project.runtime_options.as_object().into_iter().flatten();
    let option = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    PluginSettings {
        project: project.name.clone(),
        project_root: project.root.clone(),
        program_directory: project.root.clone(),
        runtime_options: options.map(|(name, value)| (name.clone(), option(value))).collect(),
        project_plugins: project.plugins.clone(),
        language_plugins: project.language_plugins.clone(),
        package_folders,
        ..without_project(variable, &project.root)
    }
}

/// Where plugins are looked for without a project.
pub(crate) fn settings_of_user(context: &Context) -> PluginSettings {
    without_project(|name| context.text_variable(name), &context.directory)
}

/// Where plugins are looked for, and what they are told, without a project; `variable` is one of the environment.
pub(super) fn without_project(variable: impl Fn(&str) -> Option<String>, directory: &Path) -> PluginSettings {
    PluginSettings {
        project: String::new(),
        project_root: directory.to_path_buf(),
        program_directory: directory.to_path_buf(),
        config: BTreeMap::new(),
        runtime_options: BTreeMap::new(),
        project_plugins: Vec::new(),
        language_plugins: Vec::new(),
        package_folders: Vec::new(),
        environment: variables().filter_map(|name| Some((name.to_owned(), variable(name)?))).collect(),
    }
}

/// Folders with the SDKs that the project's program may import, and with those that were made for it, whether it finds them there
/// or not.
pub(super) fn folders_with_own_sdks(context: &Context, project: &Project) -> Vec<PathBuf> {
    let own = project.root.join(sdks::FOLDER);
    let each = std::fs::read_dir(&own).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut folders: Vec<PathBuf> = each.collect();
    folders.push(own);
    folders.extend(package_folders(context, project));
    folders
}

/// Folders with the SDKs that the project's program may import.
fn package_folders(context: &Context, project: &Project) -> Vec<PathBuf> {
    let language = context.language_host.language();
    if project.run_by() != RunBy::Binding(language) {
        return Vec::new();
    }
    match language {
        Language::Python => {
            let option = |name: &str| project.runtime_options.get(name).and_then(serde_json::Value::as_str);
            let environment = match (option("virtualenv"), option("toolchain")) {
                (Some(environment), _) if !environment.is_empty() => Some(environment),
                (_, Some("uv" | "poetry")) => Some(".venv"),
                _ => None,
            };
            let libraries = environment.map(|environment| project.root.join(environment).join("lib"));
            let versions = libraries.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
            let own: Vec<PathBuf> = versions
                .filter_map(|version| Some(version.ok()?.path().join("site-packages")))
                .filter(|folder| folder.is_dir())
                .collect();
            if own.is_empty() { context.language_host.about().search_path } else { own }
        }
        Language::NodeJs => {
            let program = project.program().ok();
            let start = program.map_or_else(|| project.root.clone(), |program| Project::program_directory(&program));
            start.ancestors().map(|folder| folder.join("node_modules")).filter(|folder| folder.is_dir()).collect()
        }
    }
}
