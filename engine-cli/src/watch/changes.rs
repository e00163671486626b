//! What the platform tells about changes of files.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use maloko_core::message;
use maloko_core::message::Command;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::files::Files;
use crate::failure::{Failure, Result};
use crate::terminal::signals::SignalRelay;

/// How long nothing must happen after a change, so that the many writes of one "save" are one change.
const QUIET: Duration = Duration::from_millis(150);
/// How often it is looked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(100);

/// The changes since it was begun.
pub(super) struct Changes {
    events: Receiver<notify::Result<Event>>,
    /// Ends with it.
    _watcher: RecommendedWatcher,
}

impl Changes {
    /// When this returns, every change of these files is noted.
    pub(super) fn begin(files: &Files) -> Result<Self> {
        let (sender, events) = channel();
        let tell = move |event: notify::Result<Event>| {
            // The receiver goes when the waiting is over.
            drop(sender.send(event));
        };
        let mut watcher = notify::recommended_watcher(tell).map_err(|error| failed(&error))?;
        for directory in files.directories() {
            watcher.watch(&directory, RecursiveMode::NonRecursive).map_err(|error| failed(&error))?;
        }
        Ok(Self { events, _watcher: watcher })
    }

    /// The next one; `None` after a while without any.
    pub(super) fn next_event(&self) -> Result<Option<Event>> {
        match self.events.recv_timeout(PATIENCE) {
            Ok(event) => event.map(Some).map_err(|error| failed(&error)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::new("the watcher of files has ended by itself")),
        }
    }

    /// Waits until nothing changes any more.
    pub(super) fn settle(&self, signals: &SignalRelay) {
        while !signals.any() && self.events.recv_timeout(QUIET).is_ok() {}
    }
}

fn failed(error: &notify::Error) -> Failure {
    Failure::new(message![
        format!("the files of the project cannot be watched: {error}; watch fewer of them with "),
        Command::new("watch").with("--path PATH")
    ])
}
