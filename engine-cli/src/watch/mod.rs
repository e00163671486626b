//! `watch`: an `up` for every change of the project's files.

mod changes;
mod files;
mod loaded;
mod neighbours;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notify::Event;

use crate::arguments::{ColorChoice, WatchArguments};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::terminal::signals::SignalRelay;
use crate::workplace::Workplace;

use changes::Changes;
use files::Files;
use loaded::List;

/// How long after our last line a program behind a pipe (`| tee FILE`) may take to write it into a file of the project.
const ECHO: Duration = Duration::from_millis(300);

/// Runs `up`, and again after every change, until Ctrl-C.
pub(crate) async fn run(context: &Context, arguments: &WatchArguments) -> Result<()> {
    context.refuse_in_library("watch")?;
    let workplace = Workplace::open(context)?;
    workplace.require(&workplace.stack_to_begin_with().await?).await?;
    let mut files = Files::new(&workplace.project.root, &arguments.path)?;
    files.leave_out_outputs(&files::outputs());
    let signals = SignalRelay::begin({
        let language_host = std::sync::Arc::clone(&context.language_host);
        move |signal| language_host.interrupt_pass(signal)
    })
    .map_err(|error| Failure::io("signals cannot be watched", &error))?;
    // Whoever names files means only those.
    let follows_loaded = arguments.path.is_empty();
    // The file that the last run began for, where it had changed during the one before.
    let mut meanwhile: Option<PathBuf> = None;
    loop {
        let before = files.look();
        let list = follows_loaded.then(List::begin).transpose()?;
        let command = up(context, list.as_ref(), &arguments.up_flags);
        // No changes are noted meanwhile: what a run writes itself is none.
        let code = context.language_host.run_pass(command).await.code;
        if signals.any() {
            return Ok(());
        }
        if code != 0 {
            context.console.note(format!("`up` ended with exit code {code}"));
        }
        if let Some(list) = list {
            files.follow(&list.end(), code != 0);
        }
        // They are noted before the files are looked at: what changes in between is seen by one of the two.
        let watcher = Changes::begin(&files)?;
        let mut changed = files.changed_program(&before);
        if let Some(written) = changed.take_if(|file| meanwhile.as_ref() == Some(&*file)) {
            let shown = files.shown(&written);
            context
                .console
                .note(format!("{shown} changes in each run: the program writes it, so it counts only between runs"));
            files.is_written_by_the_program(written);
            changed = files.changed_program(&before);
        }
        meanwhile.clone_from(&changed);
        if changed.is_none() {
            changed = wait(context, &files, &watcher, &signals)?;
        }
        let Some(changed) = changed else { return Ok(()) };
        // Also what changed during the run may be half of a "save".
        watcher.settle(&signals);
        context.console.line(&format!("{} changed", files.shown(&changed)));
    }
}

/// The command line of one run.
fn up(context: &Context, list: Option<&List>, flags: &[OsString]) -> Vec<OsString> {
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
    if let Some(list) = list {
        command.extend(["--loaded-file".into(), list.path().into()]);
    }
    command.extend_from_slice(flags);
    command
}

/// Waits for a change; `None` when Ctrl-C was pressed.
fn wait(context: &Context, files: &Files, changes: &Changes, signals: &SignalRelay) -> Result<Option<PathBuf>> {
    context.console.line("Waiting for changes; Ctrl-C ends");
    let begun = Instant::now();
    while !signals.any() {
        let Some(event) = changes.next_event()? else { continue };
        if let Some(changed) = relevant(files, &event, begun.elapsed() < ECHO) {
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
    paths.find(|path| files.counts(path) && (!is_echo || files.is_program(path)))
}
