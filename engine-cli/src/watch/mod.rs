//! `watch`: an `up` for every change of the project's files.

mod files;
mod neighbours;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

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
/// How long after our last line a program behind a pipe (`| tee FILE`) may take to write it into a file of the project.
const ECHO: Duration = Duration::from_millis(300);
/// How often it is looked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Runs `up`, and again after every change, until Ctrl-C.
pub(crate) async fn run(context: &Context, arguments: &WatchArguments) -> Result<()> {
    context.refuse_in_library("watch")?;
    let workplace = Workplace::open(context)?;
    workplace.require(&workplace.stack_to_begin_with().await?).await?;
    let mut files = Files::new(&workplace.project.root, &arguments.path)?;
    files.leave_out_outputs(&files::outputs());
    let noted = Noted::begin({
        let language_host = std::sync::Arc::clone(&context.language_host);
        move |signal| language_host.interrupt_pass(signal)
    })
    .map_err(|error| Failure::io("signals cannot be watched", &error))?;
    let command = up(context, &arguments.up_flags);
    // The file that the last run began for, where it had changed during the one before.
    let mut meanwhile: Option<PathBuf> = None;
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
        let mut changed = files.changed_program(&before);
        if let Some(written) = changed.take_if(|file| meanwhile.as_ref() == Some(&*file)) {
            let shown = files.shown(&written);
            context.console.note(format!("{shown} changes in each run: the program writes it, so it no longer counts"));
            files.leave_out(written);
            changed = files.changed_program(&before);
        }
        meanwhile.clone_from(&changed);
        let changed = match changed {
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
    option("--lock-timeout", global.lock_timeout.map(|time| format!("{}s", time.as_secs_f64()).into()));
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
    context.console.line("Waiting for changes; Ctrl-C ends");
    let (sender, events) = channel();
    let begun = Instant::now();
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
    while !noted.any() {
        let event = match events.recv_timeout(PATIENCE) {
            Ok(event) => event.map_err(failed)?,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::new("the watcher of files has ended by itself"));
            }
        };
        if let Some(changed) = relevant(files, &event, begun.elapsed() < ECHO) {
            settle(&events, noted);
            return Ok(Some(changed.to_owned()));
        }
    }
    Ok(None)
}

/// The file that a change is about, where it counts. `is_echo`: it may come from what maloko itself has just written.
fn relevant<'e>(files: &Files, event: &'e Event, is_echo: bool) -> Option<&'e Path> {
    if event.kind.is_access() {
        return None;
    }
    let mut paths = event.paths.iter().map(PathBuf::as_path);
    paths.find(|path| files.counts(path) && (!is_echo || files::is_program(path)))
}

/// Waits until nothing changes any more.
fn settle(events: &Receiver<notify::Result<Event>>, noted: &Noted) {
    while !noted.any() && events.recv_timeout(QUIET).is_ok() {}
}
