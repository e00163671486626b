//! Standard output and error of the process while an operation runs.
//!
//! Provider code, C extensions and child processes print when and what they like. During an operation file descriptors
//! 1 and 2 are pipes whose lines go to the operation's log; what the command line itself shows goes to the descriptors
//! that were there before. So nothing can get into the middle of a JSON event or of the tree of resources.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use maloko_core::redaction::Redactor;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};

/// Takes one line, without its end.
pub(crate) type LineSink = Box<dyn Fn(&str) + Send + Sync>;

/// A line longer than this is cut into several.
const MAX_LINE_LENGTH: usize = 64 * 1024;
/// How long printed bytes are waited for at most, so that they are told before what follows.
const MAX_WAIT: Duration = Duration::from_millis(200);

/// A descriptor of the same file, which no program that is started inherits: whoever reads the pipe at its other end would
/// wait for that program as well.
fn duplicate(descriptor: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(descriptor, 3)
}

/// A copy of standard output as it is now, for what the command line itself shows.
pub(crate) fn standard_output() -> std::io::Result<File> {
    Ok(File::from(duplicate(rustix::stdio::stdout())?))
}

/// A copy of standard error as it is now.
pub(crate) fn standard_error() -> std::io::Result<File> {
    Ok(File::from(duplicate(rustix::stdio::stderr())?))
}

/// The captured descriptors; they are given back when this is dropped.
pub(crate) struct Capture {
    saved: Arc<[OwnedFd; 2]>,
    redactor: Arc<Redactor>,
    pipes: Arc<Pipes>,
    stop: OwnedFd,
    reader: Option<JoinHandle<()>>,
}

/// The reading ends, and whether the reader has handed on what it took from them.
struct Pipes {
    ends: [OwnedFd; 2],
    /// By stream: the line that is not complete yet.
    begun: Mutex<[Vec<u8>; 2]>,
    busy: Mutex<bool>,
    idle: Condvar,
    lines: Lines,
}

impl Capture {
    /// Replaces descriptors 1 and 2 by pipes, and begins to hand their lines on. `redactor` says where a line that is
    /// too long may be cut.
    pub(crate) fn begin(sink: LineSink, redactor: Arc<Redactor>) -> std::io::Result<Self> {
        let saved = Arc::new([duplicate(rustix::stdio::stdout())?, duplicate(rustix::stdio::stderr())?]);
        // The ends that are kept must not be inherited: a child that outlives the operation holds only its own.
        let (out_read, out_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (err_read, err_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stop_read, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        for end in [&out_read, &err_read] {
            rustix::fs::fcntl_setfl(end, rustix::fs::OFlags::NONBLOCK)?;
        }
        let pipes = Arc::new(Pipes {
            ends: [out_read, err_read],
            begun: Mutex::default(),
            busy: Mutex::new(false),
            idle: Condvar::new(),
            lines: Lines { sink, redactor: Arc::clone(&redactor) },
        });
        let theirs = Arc::clone(&pipes);
        let reader = std::thread::Builder::new()
            .name("maloko-output".to_owned())
            .spawn(move || read_lines(&theirs, &stop_read))?;
        let capture = Self { saved, redactor, pipes, stop, reader: Some(reader) };
        drop(std::io::stdout().flush());
        rustix::stdio::dup2_stdout(&out_write)?;
        rustix::stdio::dup2_stderr(&err_write)?;
        Ok(capture)
    }

    /// Hands out something that waits for what was printed, without keeping the capture itself.
    #[must_use]
    pub(crate) fn settler(&self) -> Settler {
        Settler(Arc::clone(&self.pipes))
    }

    /// Hands out something that lends the descriptors of before to others for a while.
    pub(crate) fn lendable(&self) -> Lendable {
        Lendable {
            saved: Arc::clone(&self.saved),
            redactor: Arc::clone(&self.redactor),
            pipes: Arc::clone(&self.pipes),
        }
    }

    /// Gives the descriptors back and hands on what is still in the pipes.
    pub(crate) fn end(mut self) {
        self.restore();
    }

    fn restore(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        drop(std::io::stdout().flush());
        // What cannot be given back is lost; there is no place left to say so.
        let _ = put(&self.saved);
        // A child process may hold its end for ever: the reader takes what is there now and leaves.
        let _ = rustix::io::write(&self.stop, b".");
        drop(reader.join());
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Lends the descriptors that were there before.
pub(crate) struct Lendable {
    saved: Arc<[OwnedFd; 2]>,
    redactor: Arc<Redactor>,
    pipes: Arc<Pipes>,
}

/// The writing ends of the pipes, while descriptors 1 and 2 are those of before.
pub(crate) struct LentDescriptors([OwnedFd; 2]);

impl Lendable {
    /// Were standard output and error a terminal's?
    pub(crate) fn are_of_a_terminal(&self) -> bool {
        self.saved.iter().all(std::io::IsTerminal::is_terminal)
    }

    /// Makes descriptors 1 and 2 those of before. What was printed so far is handed on; a line that was begun, such as a
    /// question, is written there.
    pub(crate) fn lend(&self) -> std::io::Result<LentDescriptors> {
        const ABOVE_STANDARD: i32 = 3;
        drop(std::io::stdout().flush());
        let lent = LentDescriptors([
            rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), ABOVE_STANDARD)?,
            rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), ABOVE_STANDARD)?,
        ]);
        Settler(Arc::clone(&self.pipes)).settle();
        let mut begun = self.pipes.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = put(&self.saved) {
            self.take_back(lent);
            return Err(error);
        }
        for (to, begun) in self.saved.iter().zip(begun.iter_mut()) {
            let text = std::mem::take(begun);
            let text = String::from_utf8_lossy(&text);
            // A terminal that is gone has nobody who reads it.
            let _ = rustix::io::write(to, self.redactor.message(&text).as_bytes());
        }
        Ok(lent)
    }

    /// From now on what is printed is captured again.
    #[expect(clippy::unused_self, reason = "only what was lent here can be given back here")]
    pub(crate) fn take_back(&self, LentDescriptors(ends): LentDescriptors) {
        drop(std::io::stdout().flush());
        // Where this fails, what is printed goes on to the terminal.
        let _ = put(&ends);
    }
}

fn put([out, err]: &[OwnedFd; 2]) -> std::io::Result<()> {
    rustix::stdio::dup2_stdout(out)?;
    rustix::stdio::dup2_stderr(err)?;
    Ok(())
}

/// Waits until what was printed so far has been handed on.
#[derive(Clone)]
pub(crate) struct Settler(Arc<Pipes>);

impl Settler {
    /// Returns at once when nothing is on its way, and in any case soon.
    pub(crate) fn settle(&self) {
        let deadline = Instant::now() + MAX_WAIT;
        let mut busy = self.0.busy.lock().unwrap_or_else(PoisonError::into_inner);
        while (*busy || self.0.has_bytes()) && Instant::now() < deadline {
            let wait = Duration::from_millis(1);
            busy = self.0.idle.wait_timeout(busy, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The same at the end of a program: a line that it has begun is told, too.
    pub(crate) fn settle_whole(&self) {
        self.settle();
        self.0.tell_begun();
    }
}

impl Pipes {
    fn has_bytes(&self) -> bool {
        self.ends.iter().any(|end| rustix::io::ioctl_fionread(end).is_ok_and(|bytes| bytes > 0))
    }

    /// Hands on the lines that are not complete: nobody goes on with them.
    fn tell_begun(&self) {
        let begun = std::mem::take(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner));
        for rest in begun.iter().filter(|rest| !rest.is_empty()) {
            (self.lines.sink)(&String::from_utf8_lossy(rest));
        }
    }

    fn set_busy(&self, busy: bool) {
        *self.busy.lock().unwrap_or_else(PoisonError::into_inner) = busy;
        if !busy {
            self.idle.notify_all();
        }
    }
}

fn read_lines(pipes: &Pipes, stop: &OwnedFd) {
    let mut open = [true, true];
    let mut stopping = false;
    while !stopping && open.contains(&true) {
        let mut watched = vec![PollFd::new(stop, PollFlags::IN)];
        watched.extend(
            pipes.ends.iter().zip(open).filter(|(_, open)| *open).map(|(end, _)| PollFd::new(end, PollFlags::IN)),
        );
        match poll(&mut watched, None) {
            Ok(_) => stopping = !watched[0].revents().is_empty(),
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
        }
        pipes.set_busy(true);
        let mut begun = pipes.begun.lock().unwrap_or_else(PoisonError::into_inner);
        for (stream, end) in pipes.ends.iter().enumerate() {
            open[stream] = open[stream] && drain(end, &mut begun[stream], &pipes.lines);
        }
        drop(begun);
        pipes.set_busy(false);
    }
    pipes.tell_begun();
}

/// Takes what is there now; `false` when nothing will follow.
fn drain(end: impl AsFd, pending: &mut Vec<u8>, lines: &Lines) -> bool {
    let mut buffer = [0; 16 * 1024];
    loop {
        match rustix::io::read(&end, &mut buffer) {
            Ok(0) => return false,
            Ok(count) => lines.take(&buffer[..count], pending),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return true,
            Err(_) => return false,
        }
    }
}

/// Where lines go.
struct Lines {
    sink: LineSink,
    redactor: Arc<Redactor>,
}

impl Lines {
    /// Takes bytes as they come, in whatever pieces: a secret in a line is whole when the line is handed on.
    fn take(&self, bytes: &[u8], pending: &mut Vec<u8>) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            pending.extend_from_slice(part);
            if part.ends_with(b"\n") {
                (self.sink)(String::from_utf8_lossy(pending).trim_end_matches(['\n', '\r']));
                pending.clear();
            } else if pending.len() >= MAX_LINE_LENGTH {
                self.cut(pending);
            }
        }
    }

    /// Hands on the beginning of a line that is too long.
    fn cut(&self, pending: &mut Vec<u8>) {
        let whole = match std::str::from_utf8(pending) {
            // The end of a letter may still come.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => pending.len(),
        };
        let (length, text) = match std::str::from_utf8(&pending[..whole]) {
            Ok(text) => (self.redactor.cut(text), text.into()),
            Err(_) => (0, String::from_utf8_lossy(pending)),
        };
        if length > 0 {
            (self.sink)(&text[..length]);
            drop(text);
            pending.drain(..length);
        } else if pending.len() >= 2 * MAX_LINE_LENGTH
            || whole == pending.len() && std::str::from_utf8(pending).is_err()
        {
            // No text, or a secret of that size: it goes on as it is.
            (self.sink)(&text);
            drop(text);
            pending.clear();
        }
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
