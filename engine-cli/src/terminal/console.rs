//! Where a command writes to, and whether there is somebody to ask.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use maloko_core::invisible::clean;
use maloko_core::message;
use maloko_core::message::Message;

use crate::advice::CommandContext;
use crate::arguments::{ColorChoice, GlobalArguments};
use crate::failure::Failure;

/// Why something that was to be shown was not, first of all. A reader that has gone away is no error of the command's.
#[derive(Clone, Default)]
struct FirstWriteError {
    first: Arc<Mutex<Option<String>>>,
    /// A file that it was to be written to; `None` for stdout.
    file: Option<Arc<str>>,
}

impl FirstWriteError {
    fn note(&self, error: &std::io::Error) {
        if !matches!(error.kind(), std::io::ErrorKind::BrokenPipe | std::io::ErrorKind::Interrupted) {
            let message = || match &self.file {
                Some(file) => format!("{file} could not be written: {error}"),
                None => format!("the output could not be written: {error}; look at where stdout goes"),
            };
            self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(message);
        }
    }
}

/// Notes what cannot be written.
struct ErrorNotingWriter {
    to: Box<dyn Write + Send>,
    first_error: FirstWriteError,
}

impl Write for ErrorNotingWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.to.write(bytes).inspect_err(|error| self.first_error.note(error))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush().inspect_err(|error| self.first_error.note(error))
    }
}

/// A stream to which several write, a whole text at a time.
#[derive(Clone)]
pub(crate) struct Stream(Arc<Mutex<ErrorNotingWriter>>);

impl Stream {
    fn new(to: Box<dyn Write + Send>, first_error: FirstWriteError) -> Self {
        Self(Arc::new(Mutex::new(ErrorNotingWriter { to, first_error })))
    }

    fn say(&self, text: &str) {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What fails was noted; whatever the command does goes on.
        drop(stream.write_all(text.as_bytes()).and_then(|()| stream.flush()));
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Takes a line that is told beside the command's own work.
type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// Has [`Console::tell`] told elsewhere until it is dropped.
pub(crate) struct Listening(Arc<Mutex<Option<Listener>>>);

impl Drop for Listening {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The two output streams of a command.
#[derive(Clone)]
pub(crate) struct Console {
    out: Stream,
    err: Stream,
    /// What did not get to stdout. What does not get to stderr cannot be told anywhere.
    first_error: FirstWriteError,
    listener: Arc<Mutex<Option<Listener>>>,
    /// May what is piped into the process be read?
    pub(crate) reads_stdin: bool,
    /// May questions be asked?
    pub(crate) interactive: bool,
    /// Is stdout a terminal?
    pub(crate) is_terminal: bool,
    /// Is output coloured?
    pub(crate) color: bool,
    /// What commands in messages have to act on.
    pub(crate) aim: CommandContext,
}

impl Console {
    /// The process's own streams.
    #[must_use]
    pub(crate) fn system(global: &GlobalArguments, variable: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        if matches!(global.color, ColorChoice::Never | ColorChoice::Raw) {
            // Questions are painted by their library.
            console::set_colors_enabled_stderr(false);
        }
        let first_error = FirstWriteError::default();
        Self {
            out: Stream::new(Box::new(std::io::stdout()), first_error.clone()),
            err: Stream::new(Box::new(std::io::stderr()), FirstWriteError::default()),
            first_error,
            listener: Arc::default(),
            reads_stdin: true,
            interactive: !global.non_interactive && std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
            is_terminal,
            color: match global.color {
                ColorChoice::Always => true,
                ColorChoice::Never | ColorChoice::Raw => false,
                ColorChoice::Auto => wants_color(is_terminal, variable),
            },
            aim: CommandContext::default(),
        }
    }

    /// Streams of somebody's own; nothing is asked, nothing is read.
    pub(crate) fn to(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Self {
        let first_error = FirstWriteError::default();
        let (out, err) = (Stream::new(out, first_error.clone()), Stream::new(err, FirstWriteError::default()));
        Self {
            out,
            err,
            first_error,
            listener: Arc::default(),
            reads_stdin: false,
            interactive: false,
            is_terminal: false,
            color: false,
            aim: CommandContext::default(),
        }
    }

    /// The same streams, with colours if that is asked for.
    pub(crate) fn with_color(self, global: &GlobalArguments) -> Self {
        Self { color: global.color == ColorChoice::Always, ..self }
    }

    /// Where stdout goes.
    pub(crate) fn out(&self) -> Stream {
        self.out.clone()
    }

    /// A copy of stdout, made before stdout is captured: what cannot be written to it counts as that of stdout.
    pub(crate) fn kept_aside(&self, copy: std::fs::File) -> Stream {
        Stream::new(Box::new(copy), self.first_error.clone())
    }

    /// The failure of a command that did what it was to do, except that not all of its output was written.
    #[must_use]
    pub(crate) fn unwritten(&self) -> Option<Failure> {
        self.first_error.first.lock().unwrap_or_else(PoisonError::into_inner).clone().map(Failure::new)
    }

    /// A stream to a file that the user asked for: what cannot be written to it counts as that of stdout. `file` names it.
    pub(crate) fn to_file(&self, file: &str, to: std::fs::File) -> Stream {
        Stream::new(Box::new(to), FirstWriteError { file: Some(file.into()), ..self.first_error.clone() })
    }

    /// Where stderr goes.
    pub(crate) fn err(&self) -> Stream {
        self.err.clone()
    }

    /// Writes text to stdout, without what a terminal would obey: names, ids and errors are of somebody else.
    pub(crate) fn print(&self, text: &str) {
        self.out.say(&clean(text));
    }

    /// Writes a value to stdout, for whoever reads it there: as it is, save on a terminal.
    pub(crate) fn data(&self, text: &str) {
        if self.is_terminal {
            self.print(text);
        } else {
            self.out.say(text);
        }
    }

    /// Writes to stdout what the display made, with its colours.
    pub(crate) fn display(&self, text: &str) {
        self.out.say(text);
    }

    /// Writes a line to stdout.
    pub(crate) fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    /// Writes a line to stderr.
    pub(crate) fn note(&self, text: impl Into<Message>) {
        self.err.say(&format!("{}\n", clean(&self.aim.tell(&text.into()))));
    }

    /// Tells what goes on beside the command's own work, such as what a store waits for: during an operation among its
    /// messages, for what is written to stderr then is the program's.
    pub(crate) fn tell(&self, text: &str) {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match listener {
            Some(listener) => listener(text),
            None => self.note(text),
        }
    }

    /// From now on [`Console::tell`] tells the listener, until the answer is dropped.
    #[must_use]
    pub(crate) fn listen(&self, listener: Listener) -> Listening {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
        Listening(Arc::clone(&self.listener))
    }

    /// Writes a warning to stderr.
    pub(crate) fn warn(&self, text: impl Into<Message>) {
        self.note(message!["warning: ", text]);
    }
}

/// Are colours wanted where no flag says so? `NO_COLOR` has the last word, then `CLICOLOR_FORCE`, then `CLICOLOR=0`; a
/// terminal that calls itself dumb has none.
fn wants_color(is_terminal: bool, variable: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    if variable("NO_COLOR").is_some_and(|text| !text.is_empty()) {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some_and(|text| !text.is_empty() && text != "0") {
        return true;
    }
    let off =
        variable("CLICOLOR").is_some_and(|text| text == "0") || variable("TERM").is_some_and(|text| text == "dumb");
    is_terminal && !off
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
