//! The page of a run: kept up to date in its file while the run goes on, so that a run that is killed leaves one too.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::data::PageData;
use super::html;
use super::past::Past;
use super::recorder::Recorder;
use crate::failure::{Failure, Result};

/// The file is first written again after this time, and then each time after twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// And at last this often.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A page that is being written.
pub(crate) struct RunPage {
    source: Source,
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone)]
struct Source {
    file: PathBuf,
    recorder: Arc<Recorder>,
    past: Arc<Past>,
}

impl Source {
    fn write(&self) -> Result<()> {
        write(&self.file, "--page", &self.past.complete(self.recorder.data(), &self.recorder.shower))
    }
}

impl RunPage {
    /// Writes the page of a run that begins, and again from time to time.
    pub(crate) fn begin(file: PathBuf, recorder: Arc<Recorder>, past: Arc<Past>) -> Result<Self> {
        let source = Source { file, recorder, past };
        // What cannot be written is said before anything is done.
        source.write()?;
        let (stop, stopped) = channel();
        let writing = source.clone();
        let thread = std::thread::Builder::new().name("maloko-page".to_owned()).spawn(move || keep(&writing, &stopped));
        // Without a thread it is written at the end alone.
        Ok(Self { source, stop, thread: thread.ok() })
    }

    /// Writes the page of the whole run.
    pub(crate) fn finish(mut self) -> Result<()> {
        let _ = self.stop.send(());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        self.source.write()
    }
}

fn keep(source: &Source, stopped: &Receiver<()>) {
    let mut pause = FIRST_PAUSE;
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        // One that cannot be written now is written at the end, where that is told.
        drop(source.write());
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Writes a page; `from` is the flag that names the file.
pub(crate) fn write(file: &Path, from: &str, data: &PageData) -> Result<()> {
    let page = html::render(data)?;
    crate::platform::replace_private_file(file, page.as_bytes()).map_err(|error| {
        // Without the name of the file that was to take its place.
        let why = error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error);
        Failure::io(format!("the page {} (from {from}) cannot be written", file.display()), &why)
    })
}
