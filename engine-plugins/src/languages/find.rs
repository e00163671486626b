//! Where the host of a language is: the first that is found, in the order of the reference engine.

use std::path::Path;

use maloko_core::message::suggestions::nearest;

use super::{CLIENT_RUNTIME, ForeignProgram};
use crate::install::PluginFolder;
use crate::locate::{entry_of, installed_of, is_executable, on_path};
use crate::programs::runtime_command::PluginCommand;
use crate::settings::PluginSettings;

/// A host that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LocatedHost {
    /// It runs already and listens at that address.
    Attached(String),
    /// A library serves the program at that address, and knows the engine from each run.
    Client(String),
    /// It is started; `installed` is its folder among the installed ones.
    Program { command: PluginCommand, installed: Option<PluginFolder> },
}

const KIND: &str = "language";
/// The runtimes that a mistaken one may have been meant to be.
const KNOWN: [&str; 6] = ["python", "nodejs", "go", "dotnet", "java", "yaml"];

/// The name of a runtime in those of files.
fn file_name(runtime: &str) -> String {
    runtime.replace('/', "_")
}

/// The executable of a language's host.
pub(super) fn executable(runtime: &str) -> String {
    format!("pulumi-language-{}", file_name(runtime))
}

/// Looks for the host of a runtime. The error says where it was looked for, and what helps.
pub(super) fn find(program: &ForeignProgram, settings: &PluginSettings) -> Result<LocatedHost, String> {
    let runtime = program.runtime.as_str();
    if runtime == CLIENT_RUNTIME {
        let address = program.option("address").map(|address| LocatedHost::Client(address.to_owned()));
        return address
            .ok_or_else(|| format!("`runtime: {CLIENT_RUNTIME}` is for programs that a library serves (--client)"));
    }
    if let Some(port) = entry_of(settings, "PULUMI_DEBUG_LANGUAGES", runtime)? {
        return Ok(LocatedHost::Attached(format!("127.0.0.1:{port}")));
    }
    let executable = executable(runtime);
    if let Some(listed) = settings.language_plugins.iter().find(|plugin| plugin.name == runtime) {
        let place = settings.project_root.join(&listed.path);
        let file = if place.is_dir() { place.join(&executable) } else { place };
        return of_file(file, "plugins.languages of Pulumi.yaml names")
            .map(|command| LocatedHost::Program { command, installed: None });
    }
    let looks_at_path = !settings.is_on("PULUMI_IGNORE_AMBIENT_PLUGINS");
    if looks_at_path && let Some(file) = on_path(settings, &executable) {
        return Ok(LocatedHost::Program { command: PluginCommand::of_file(file), installed: None });
    }
    let folder = settings.plugin_folder();
    if let Some(folder) = folder.as_deref().and_then(|folder| installed_of(folder, KIND, &file_name(runtime), None)) {
        let command = of_file(folder.join(&executable), "the installed plugin should have")?;
        return Ok(LocatedHost::Program { command, installed: Some(PluginFolder::new(folder)) });
    }
    Err(not_found(runtime, &executable, looks_at_path, folder.as_deref()))
}

fn of_file(file: std::path::PathBuf, who: &str) -> Result<PluginCommand, String> {
    if is_executable(&file) {
        return Ok(PluginCommand::of_file(file));
    }
    Err(format!("{who} {}, which is no executable file: the host of a language is one", file.display()))
}

fn not_found(runtime: &str, executable: &str, looks_at_path: bool, folder: Option<&Path>) -> String {
    let path = if looks_at_path { " or on your $PATH" } else { "" };
    let there = folder.map(|folder| folder.join(format!("{KIND}-{}-vVERSION", file_name(runtime)))).unwrap_or_default();
    let own = if looks_at_path {
        "Put its executable into a folder of $PATH, or into"
    } else {
        "$PATH is not looked at (PULUMI_IGNORE_AMBIENT_PLUGINS). Put its executable into"
    };
    let meant = nearest(runtime, KNOWN).map(|name| format!(" Did you mean `runtime: {name}`?")).unwrap_or_default();
    format!(
        "no language plugin '{executable}' found in the workspace{path}: it runs programs of `runtime: {runtime}`, and comes \
         with the Pulumi CLI or with the language's own package.{meant}\n{own} {}",
        there.display()
    )
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
