//! `shim`: a `pulumi` that is maloko.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use maloko_core::message;
use maloko_core::message::Command;

use crate::context::{Context, SHIM_VARIABLE};
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::shell;

/// The line of the file by which it is known again.
const MARK: &str = "# This `pulumi` is maloko: `maloko shim install` wrote it.";

/// Writes the file, over one of its own.
pub(crate) fn install(context: &Context, directory: &Path) -> Result<()> {
    let directory = context.directory.join(directory);
    let file = directory.join("pulumi");
    match std::fs::read(&file) {
        Ok(text) if !String::from_utf8_lossy(&text).contains(MARK) => {
            return Err(Failure::configuration(format!(
                "{} is there, and is not maloko's; name another folder, or remove the file",
                file.display()
            )));
        }
        _ => {}
    }
    let command = own_command(context)?;
    let text = format!("#!/bin/sh\n{MARK}\n{SHIM_VARIABLE}=1 exec {command} \"$@\"\n");
    let failed = |error: &std::io::Error| Failure::io(format!("{} cannot be written", file.display()), error);
    std::fs::create_dir_all(&directory).map_err(|error| failed(&error))?;
    // Written beside and moved: a tool may be about to start it.
    let beside = directory.join(".pulumi.new");
    std::fs::write(&beside, text).map_err(|error| failed(&error))?;
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o755)).map_err(|error| failed(&error))?;
    std::fs::rename(&beside, &file).map_err(|error| failed(&error))?;
    context.console.line(&format!("{} is maloko now; put its folder before others into PATH:", file.display()));
    context.console.line(&format!("  export PATH={}:\"$PATH\"", shell::word(&directory.display().to_string())));
    Ok(())
}

/// The command that starts this maloko from anywhere.
fn own_command(context: &Context) -> Result<String> {
    let about = context.language_host.about();
    let on_path = || {
        let path = context.text_variable("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| context.directory.join(folder).join("maloko"));
        found.into_iter().find(|file| file.is_file())
    };
    let words: Vec<PathBuf> = match context.language_host.language() {
        // `python -m` would look for modules in the folder of the project first.
        Language::Python => match PathBuf::from(&about.executable).with_file_name("maloko") {
            script if script.is_file() => vec![script],
            _ => vec![about.executable.into(), "-m".into(), "maloko".into()],
        },
        Language::NodeJs => match on_path() {
            Some(file) => vec![file],
            None => {
                return Err(Failure::configuration(message![
                    "the command of this package is not on PATH; run it with npx, which puts it there: npx ",
                    Command::new("shim install").value("DIR")
                ]));
            }
        },
    };
    Ok(words.iter().map(|word| shell::word(&word.display().to_string()).into_owned()).collect::<Vec<_>>().join(" "))
}
