//! The plugins of an operation: where they are looked for, and what they are told.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::operation::{Operation, OperationKind};
use maloko_core::plugin::PluginsOfRun;
use maloko_core::resource_state::ResourceState;
use maloko_core::served_by::ServedBy;
use maloko_core::state::Snapshot;
use maloko_plugins::{PluginSettings, Plugins};

use super::request::Request;
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

/// Can a `refresh` or `destroy` do without the program? It brings live objects and hooks; what plugins serve needs neither,
/// nor does a stack that has nothing but its own row.
pub(super) fn need_no_program(request: &Request, snapshot: &Snapshot) -> bool {
    let without = |row: &ResourceState| row.served_by() != ServedBy::LiveObject && row.hooks.is_empty();
    matches!(request.kind, OperationKind::Refresh | OperationKind::Destroy)
        && !request.asks_for_program
        && !snapshot.rows.is_empty()
        && snapshot.all_rows().all(without)
}

/// Where the plugins of a project are looked for, without a stack.
pub(crate) fn settings(context: &Context, project: &Project) -> PluginSettings {
    let options = project.runtime_options.as_object().into_iter().flatten();
    let option = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let variable = |name: &str| Some((name.to_owned(), context.text_variable(name)?));
    PluginSettings {
        project: project.name.clone(),
        project_root: project.root.clone(),
        program_directory: project.root.clone(),
        config: BTreeMap::new(),
        runtime_options: options.map(|(name, value)| (name.clone(), option(value))).collect(),
        project_plugins: project.plugins.clone(),
        environment: VARIABLES.into_iter().filter_map(variable).collect(),
    }
}
