//! `watch`: an `up` for every change of the project's files.

mod files;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use maloko_core::message;
use maloko_core::message::Command;
use notify::{Event, RecursiveMode, Watcher};

use crate::arguments::{ColorChoice, WatchArguments};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::terminal::signals::Noted;
use crate::workplace::Workplace;

use files::Files;

/// How long nothing must happen after a change, so that the many writes of one "save" are one change.
const QUIET: Duration = Duration::from_millis(150);
/// How often it is looked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Runs `up`, and again after every change, until Ctrl-C.
pub(crate) async fn run(context: &Context, arguments: &WatchArguments) -> Result<()> {
    context.refuse_in_library("watch")?;
    let workplace = Workplace::open(context)?;
    workplace.require(&workplace.stack_to_begin_with().await?).await?;
    let files = Files::new(&workplace.project.root, &arguments.path)?;
    let noted = Noted::begin({
        let language_host = std::sync::Arc::clone(&context.language_host);
        move |signal| language_host.interrupt_pass(signal)
    })
    .map_err(|error| Failure::io("signals cannot be watched", &error))?;
    let command = up(context, &arguments.up_flags);
    loop {
        let before = files.look();
        // No watcher runs meanwhile: what a run writes itself is no change.
        let code = context.language_host.run_pass(command.clone()).await.code;
        if noted.any() {
            return Ok(());
        }
        if code != 0 {
            context.console.note(format!("`up` ended with exit code {code}"));
        }
        let changed = match files.changed_program(&before) {
            Some(changed) => changed,
            None => match wait(context, &files, &noted)? {
                Some(changed) => changed,
                None => return Ok(()),
            },
        };
        context.console.line(&format!("{} changed", files.shown(&changed)));
    }
}

/// The command line of one run.
fn up(context: &Context, flags: &[OsString]) -> Vec<OsString> {
    let global = &context.global;
    let mut command: Vec<OsString> = vec!["--cwd".into(), context.directory.clone().into()];
    let mut option = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            command.extend([name.into(), value]);
        }
    };
    option("--stack", global.stack.clone().map(Into::into));
    option("--backend", global.backend.clone().map(Into::into));
    option("--config-file", global.config_file.clone().map(Into::into));
    let color = match global.color {
        ColorChoice::Always => "always",
        ColorChoice::Never | ColorChoice::Raw => "never",
        ColorChoice::Auto => "auto",
    };
    option("--color", Some(color.into()));
    let set = [
        ("--non-interactive", global.non_interactive),
        ("--disable-integrity-checking", global.disable_integrity_checking),
    ];
    command.extend(set.iter().filter(|(_, set)| *set).map(|(name, _)| (*name).into()));
    command.extend(["up".into(), "--skip-preview".into()]);
    command.extend_from_slice(flags);
    command
}

/// Waits for a change; `None` when Ctrl-C was pressed.
fn wait(context: &Context, files: &Files, noted: &Noted) -> Result<Option<PathBuf>> {
    let (sender, events) = channel();
    let failed = |error: notify::Error| {
        Failure::new(message![
            format!("the files of the project cannot be watched: {error}; watch fewer of them with "),
            Command::new("watch").with("--path PATH")
        ])
    };
    let tell = move |event: notify::Result<Event>| {
        // The receiver goes when the waiting is over.
        drop(sender.send(event));
    };
    let mut watcher = notify::recommended_watcher(tell).map_err(failed)?;
    for directory in files.directories() {
        watcher.watch(&directory, RecursiveMode::NonRecursive).map_err(failed)?;
    }
    context.console.line("Waiting for changes; Ctrl-C ends");
    while !noted.any() {
        let event = match events.recv_timeout(PATIENCE) {
            Ok(event) => event.map_err(failed)?,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::new("the watcher of files has ended by itself"));
            }
        };
        if let Some(changed) = relevant(files, &event) {
            settle(&events, noted);
            return Ok(Some(changed.to_owned()));
        }
    }
    Ok(None)
}

fn relevant<'e>(files: &Files, event: &'e Event) -> Option<&'e Path> {
    if event.kind.is_access() {
        return None;
    }
    event.paths.iter().map(PathBuf::as_path).find(|path| files.counts(path))
}

/// Waits until nothing changes any more.
fn settle(events: &Receiver<notify::Result<Event>>, noted: &Noted) {
    while !noted.any() && events.recv_timeout(QUIET).is_ok() {}
}
