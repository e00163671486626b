//! Programs in Go: an executable of their own, which needs no host.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};

use maloko_rpc::child::{Child, ChildCommand, Listener, Stream};

use super::{ForeignProgram, LanguageAbout, watch};
use crate::locate::{is_executable, on_path};
use crate::settings::PluginSettings;

/// The exit code of a program that has said why it failed.
const SAID_WHY: i32 = 32;

/// Is the program run without a host?
pub(super) fn is_run_by_itself(program: &ForeignProgram) -> bool {
    program.runtime == "go"
}

/// Where the program's executable is, in words, or what builds it.
pub(super) fn find(program: &ForeignProgram, settings: &PluginSettings) -> Result<String, String> {
    let file = match program.option("binary") {
        Some(binary) => executable(program, settings, binary)?,
        None => compiler(settings)?,
    };
    Ok(file.display().to_string())
}

/// The executable that `options.binary` names: a path from the program's or the project's folder, or a name on `$PATH`.
fn executable(program: &ForeignProgram, settings: &PluginSettings, binary: &str) -> Result<PathBuf, String> {
    let places = [program.directory.join(binary), program.root.join(binary)];
    if let Some(file) = places.iter().find(|file| is_executable(file)) {
        return Ok(file.clone());
    }
    let by_name = if binary.contains('/') { None } else { on_path(settings, binary) };
    by_name.ok_or_else(|| {
        format!(
            "`runtime.options.binary` names '{binary}', and there is no executable file {}; build the program first, or leave \
             the option out to have it built with `go build`",
            places[0].display()
        )
    })
}

fn compiler(settings: &PluginSettings) -> Result<PathBuf, String> {
    on_path(settings, "go").ok_or_else(|| {
        "the program is built with `go build`, and there is no 'go' on your $PATH; install Go, or name a program that is built \
         already in `runtime.options.binary`"
            .to_owned()
    })
}

/// Where the executable of a program is, which is built first unless the project names one that is there.
pub(super) async fn built(
    program: &ForeignProgram,
    settings: &PluginSettings,
    folder: &Path,
    listener: &Listener,
) -> Result<PathBuf, String> {
    if let Some(binary) = program.option("binary") {
        return executable(program, settings, binary);
    }
    let target = match program.option("buildTarget") {
        Some(target) => program.root.join(target),
        None => folder.join("program"),
    };
    listener(Stream::Out, "Compiling the program ...");
    let target_text = target.clone().into_os_string();
    go(program, settings, vec!["build".into(), "-o".into(), target_text, ".".into()], listener)
        .await
        .map_err(|reason| format!("error in compiling Go: {reason}"))?;
    listener(Stream::Out, "Finished compiling");
    Ok(target)
}

/// Fetches the modules of a program.
pub(super) async fn install(
    program: &ForeignProgram,
    settings: &PluginSettings,
    print: Listener,
) -> Result<(), String> {
    if !program.directory.join("go.mod").is_file() {
        return Ok(());
    }
    let done = go(program, settings, vec!["mod".into(), "download".into()], &print).await;
    done.map_err(|reason| format!("`go mod download` failed: {reason}"))
}

/// Which Go builds programs.
pub(super) async fn about(program: &ForeignProgram, settings: &PluginSettings) -> Result<LanguageAbout, String> {
    let found = compiler(settings)?;
    let said = Arc::new(Mutex::new(String::new()));
    let into = Arc::clone(&said);
    let listener: Listener = Arc::new(move |_, line| maloko_rpc::lock(&into).push_str(line));
    go(program, settings, vec!["version".into()], &listener).await?;
    let version = maloko_rpc::lock(&said).trim_start_matches("go version ").to_owned();
    Ok(LanguageAbout {
        host: "none: maloko runs programs in Go itself".to_owned(),
        host_version: String::new(),
        executable: found.display().to_string(),
        version,
    })
}

async fn go(
    program: &ForeignProgram,
    settings: &PluginSettings,
    arguments: Vec<std::ffi::OsString>,
    listener: &Listener,
) -> Result<(), String> {
    let command = ChildCommand {
        program: compiler(settings)?,
        arguments,
        directory: program.directory.clone(),
        variables: Vec::new(),
    };
    let child = Child::begin(&command, &watch()?, Some(Arc::clone(listener)))?;
    let status = child.ended().await;
    child.end().await;
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(status.to_string()),
        None => Err("how it ended is not known".to_owned()),
    }
}

/// How a program ended, as its run hears it: `Ok` when all went well, else the error, empty where the program has told it. Its first
/// words are those by which the official Automation APIs know it.
pub(super) fn outcome(status: Option<ExitStatus>) -> Result<(), String> {
    let what = match status {
        Some(status) if status.success() => return Ok(()),
        Some(status) => match status.code() {
            Some(SAID_WHY) => return Err(String::new()),
            Some(code) => format!("program exited with non-zero exit code: {code}"),
            None => format!("the program's process was ended ({status})"),
        },
        None => "how the program's process ended is not known".to_owned(),
    };
    Err(format!("an unhandled error occurred: {what}"))
}
