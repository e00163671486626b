//! Installs what a plugin needs that is a program: a virtual environment, or `node_modules`.

use std::path::Path;
use std::process::Command;

use super::error::InstallError;
use super::progress::Progress;
use crate::programs::runtime_command::{Needs, needs_of};

/// How many of a tool's last lines an error has.
const LAST_LINES: usize = 5;

/// Installs the packages that the plugin in a folder needs. One with an executable needs none.
pub(crate) fn install(folder: &Path, executable: &str, progress: &dyn Progress) -> Result<(), InstallError> {
    let needs = needs_of(folder, executable).map_err(InstallError::last)?;
    let run = |program: &Path, arguments: &[&str]| run(folder, program, arguments, progress);
    match needs {
        Needs::Python { toolchain, environment } => match toolchain.as_str() {
            "uv" => run(Path::new("uv"), &["sync"]),
            "poetry" => run(Path::new("poetry"), &["install", "--no-ansi"]),
            _ => {
                let python = environment.join("bin").join("python");
                // One that the manifest names elsewhere is the user's own.
                if !python.exists() {
                    run(Path::new("python3"), &["-m", "venv", &environment.display().to_string()])?;
                }
                if folder.join("requirements.txt").is_file() {
                    run(&python, &["-m", "pip", "install", "-r", "requirements.txt"])
                } else if folder.join("pyproject.toml").is_file() {
                    run(&python, &["-m", "pip", "install", "."])
                } else {
                    Ok(())
                }
            }
        },
        Needs::Node if folder.join("package.json").is_file() => run(Path::new("npm"), &["install"]),
        Needs::Nothing | Needs::Node => Ok(()),
    }
}

fn run(folder: &Path, program: &Path, arguments: &[&str], progress: &dyn Progress) -> Result<(), InstallError> {
    if progress.is_cancelled() {
        return Err(InstallError::last("the installation was cancelled"));
    }
    let shown = format!("{} {}", program.display(), arguments.join(" "));
    progress.says(&format!("Running `{shown}`"));
    let output = Command::new(program).args(arguments).current_dir(folder).stdin(std::process::Stdio::null()).output();
    let output = output.map_err(|error| {
        InstallError::io(
            format!("the plugin needs `{shown}`, which cannot be run; install {}", program.display()),
            &error,
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n  ");
    Err(InstallError::last(format!("the plugin needs `{shown}`, which ended with {}:\n  {last}", output.status)))
}
