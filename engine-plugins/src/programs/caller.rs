//! The process that called the command line: its interpreter has what the code of an inline program needs.

use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};

use crate::programs::runtime_command::{PluginCommand, PluginRuntime};

/// What runs the program of the caller, and the folder of that program. `package` is that of the code (`pulumi-python`,
/// `pulumi-nodejs`). Python also looks for modules where the caller works. The error says what is wrong, and what helps.
pub(crate) fn command(package: &str) -> Result<PluginCommand, String> {
    let process = PathBuf::from(format!("/proc/{}", parent_id()));
    let helps = |what: &str| {
        format!(
            "the code of the inline program cannot be run, because {what}; start the SDK's server yourself and name its port: \
             PULUMI_DEBUG_PROVIDERS={package}:PORT"
        )
    };
    let runtime = if package == "pulumi-python" { PluginRuntime::Python } else { PluginRuntime::Node };
    let folder = std::fs::read_link(process.join("cwd"))
        .map_err(|error| helps(&format!("the process that called the command line cannot be seen ({error})")))?;
    let program = program(&process, &folder, runtime)
        .ok_or_else(|| helps(&format!("the process that called the command line is not run by {runtime}")))?;
    let searched = std::env::var("PYTHONPATH").unwrap_or_default();
    let searched =
        std::iter::once(folder.clone()).chain(std::env::split_paths(&searched).filter(|it| !it.as_os_str().is_empty()));
    let searched = std::env::join_paths(searched).unwrap_or_default().to_string_lossy().into_owned();
    let folder = script(&process, &folder).and_then(|script| Some(script.parent()?.to_path_buf())).unwrap_or(folder);
    let variables = vec![("PYTHONPATH", searched)];
    Ok(PluginCommand { program, arguments: Vec::new(), variables, runtime: Some((runtime, folder)) })
}

/// The file that an interpreter was told to run; `None` for a module, and for code in its arguments.
fn script(process: &Path, folder: &Path) -> Option<PathBuf> {
    let arguments = std::fs::read_to_string(process.join("cmdline")).ok()?;
    let mut files = arguments.split('\0').skip(1).take_while(|argument| !matches!(*argument, "-c" | "-m" | "-e"));
    let found = files.find(|argument| !argument.starts_with('-') && folder.join(argument).is_file())?;
    folder.join(found).canonicalize().ok()
}

/// The interpreter of a process. That of a virtual environment is a link to another one, so it is as it was called.
fn program(process: &Path, folder: &Path, runtime: PluginRuntime) -> Option<PathBuf> {
    let parts = |file: &str| std::fs::read_to_string(process.join(file)).ok();
    let arguments = parts("cmdline")?;
    let called = arguments.split('\0').next()?;
    let executable = std::fs::read_link(process.join("exe")).ok()?;
    let name = executable.file_name()?.to_string_lossy().into_owned();
    if !name.starts_with(if runtime == PluginRuntime::Python { "python" } else { "node" }) {
        return None;
    }
    if called.contains('/') {
        return Some(folder.join(called)).filter(|program| program.is_file());
    }
    let environment = parts("environ").unwrap_or_default();
    let path = environment.split('\0').find_map(|variable| variable.strip_prefix("PATH="));
    let mut found = std::env::split_paths(path.unwrap_or_default()).map(|folder| folder.join(called));
    Some(found.find(|program| program.is_file()).unwrap_or(executable))
}

#[cfg(test)]
#[path = "caller_tests.rs"]
mod tests;
