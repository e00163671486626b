//! The plugins of an operation: where they are looked for, and what they are told.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use maloko_core::operation::Operation;
use maloko_core::plugin::{PluginHost, PluginsOfRun};
use maloko_plugins::{PluginSettings, Plugins};

use crate::context::Context;
use crate::project::Project;
use crate::workplace::Workplace;

/// The variables of the environment that say where plugins are.
const VARIABLES: [&str; 6] =
    ["HOME", "PATH", "PULUMI_DEBUG_PROVIDERS", "PULUMI_HOME", "PULUMI_IGNORE_AMBIENT_PLUGINS", "USERPROFILE"];

/// The plugin host of an operation. It begins nothing before the run needs its first plugin.
pub(super) fn host(workplace: &Workplace<'_>, operation: &Operation) -> PluginsOfRun {
    PluginsOfRun(Arc::new(Plugins::new(PluginSettings {
        program_directory: operation.program_directory.clone(),
        config: operation.plain_config(),
        ..settings(workplace.context, &workplace.project)
    })))
}

/// The plugins of the project in a directory or above it, for tests that run them. `config` is the configuration of the
/// test's stack, by full key. Without a project the plugins are looked for in the usual places.
///
/// # Errors
/// In words: a project file that cannot be read.
pub fn plugins_for_tests(directory: &Path, config: BTreeMap<String, String>) -> Result<Arc<dyn PluginHost>, String> {
    let variable = |name: &str| std::env::var(name).ok();
    let mut settings = if Project::is_in(directory) {
        settings_with(variable, &Project::find(directory).map_err(|failure| failure.message.to_string())?)
    } else {
        PluginSettings {
            project: String::new(),
            project_root: directory.to_path_buf(),
            program_directory: directory.to_path_buf(),
            config: BTreeMap::new(),
            runtime_options: BTreeMap::new(),
            project_plugins: Vec::new(),
            environment: environment(variable),
        }
    };
    settings.config = config;
    Ok(Arc::new(Plugins::new(settings)))
}

fn environment(variable: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    VARIABLES.into_iter().filter_map(|name| Some((name.to_owned(), variable(name)?))).collect()
}

/// Where the plugins of a project are looked for, without a stack.
pub(crate) fn settings(context: &Context, project: &Project) -> PluginSettings {
    settings_with(|name| context.text_variable(name), project)
}

fn settings_with(variable: impl Fn(&str) -> Option<String>, project: &Project) -> PluginSettings {
    let options = project.runtime_options.as_object().into_iter().flatten();
    let option = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    PluginSettings {
        project: project.name.clone(),
        project_root: project.root.clone(),
        program_directory: project.root.clone(),
        config: BTreeMap::new(),
        runtime_options: options.map(|(name, value)| (name.clone(), option(value))).collect(),
        project_plugins: project.plugins.clone(),
        environment: environment(variable),
    }
}
