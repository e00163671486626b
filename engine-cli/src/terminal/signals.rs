//! Ctrl-C, SIGTERM and the end of the terminal (SIGHUP), for the command line only.
//!
//! The handlers are set after the language host has set its own, so that no exception of the host (a
//! `KeyboardInterrupt`) lands in the middle of a create. Nothing here waits for the host: neither an interpreter lock
//! that is held nor an event loop that is blocked keeps a signal from being heard.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// The signals that end a command, with the exit codes by which a shell counts a process that died of them.
const ENDING: [(i32, i32); 3] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)];

/// How long the last words of a process that leaves at once may take: what hangs, the leaving does not wait for. They take milliseconds, on a
/// machine that is busy a second.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Those of them that are dealt with.
fn ending() -> impl Iterator<Item = (i32, i32)> {
    static HEARS_HANGUP: OnceLock<bool> = OnceLock::new();
    let hears_hangup = *HEARS_HANGUP.get_or_init(hears_hangup);
    ENDING.into_iter().filter(move |(signal, _)| hears_hangup || *signal != SIGHUP)
}

/// Is the end of the terminal to be heard? Not under `nohup`, and not where that cannot be told: there it ends the process,
/// as ever. To be asked before the first handler is set.
fn hears_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (SIGHUP - 1) & 1 == 0)
}

/// Told of the signals once their handlers are set.
static WHEN_HANDLED: OnceLock<fn(&[i32])> = OnceLock::new();

/// Has a language host told of the signals that the command line handles, once, when their handlers are set. Each of these calls
/// the handler that was there before: a host whose own are not made to be interrupted by each other sees to that here.
pub fn when_signals_are_handled(tell: fn(&[i32])) {
    // Whoever comes later is the same host.
    let _ = WHEN_HANDLED.set(tell);
}

/// Set while nobody watches: then a signal ends the process where it stands. Without it a signal would be lost between two
/// watches and after the last one, for the system's own way of dying of it is gone with the first handler.
fn unwatched() -> io::Result<&'static AtomicBool> {
    static UNWATCHED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = UNWATCHED.get() {
        return Ok(flag);
    }
    let flag = Arc::new(AtomicBool::new(false));
    for (signal, code) in ending() {
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&flag))?;
    }
    if let Some(tell) = WHEN_HANDLED.get() {
        tell(&ending().map(|(signal, _)| signal).collect::<Vec<_>>());
    }
    Ok(UNWATCHED.get_or_init(|| flag))
}

/// Held by whoever deals with signals; they end the process again when it is dropped.
struct Watching(&'static AtomicBool);

impl Watching {
    fn begin() -> io::Result<Self> {
        let flag = unwatched()?;
        flag.store(false, Ordering::SeqCst);
        Ok(Self(flag))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Notes signals, for the time in which another process of this command works, and sends on to that process what it does not
/// hear of by itself.
pub(crate) struct SignalRelay {
    flag: Arc<AtomicBool>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    _watching: Watching,
}

impl SignalRelay {
    /// Begins to note signals. `send_on` gets each SIGTERM and SIGHUP, and each SIGINT but the first: a terminal sends the
    /// first one to both processes. (Its SIGHUP too, but what is left at once by a second one is a preview.)
    pub(crate) fn begin(send_on: impl Fn(i32) + Send + 'static) -> io::Result<Self> {
        let watching = Watching::begin()?;
        let flag = Arc::new(AtomicBool::new(false));
        let mut signals = Signals::new(ending().map(|(signal, _)| signal))?;
        let handle = signals.handle();
        let noted = Arc::clone(&flag);
        let thread = std::thread::Builder::new().name("maloko-signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                if signal != SIGINT || noted.load(Ordering::Relaxed) {
                    send_on(signal);
                }
                noted.store(true, Ordering::Relaxed);
            }
        })?;
        Ok(Self { flag, handle, thread: Some(thread), _watching: watching })
    }

    /// Was there a signal?
    #[must_use]
    pub(crate) fn any(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

impl Drop for SignalRelay {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Why a process leaves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// A second signal came.
    SecondSignal,
    /// After the first one, the patience has run out.
    NoPatience,
}

/// A thread that waits for signals.
pub(crate) struct Watch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    /// Goes with the watch, which ends the waiting of the thread that knows how long the patience lasts.
    _over: Sender<()>,
    _watching: Watching,
}

impl Watch {
    /// Calls `first` at the first signal. At the second one, or when `patience` has run out after the first, `last_words` is
    /// called and the process leaves with `code`, for which it waits less than a second.
    ///
    /// What `of_others` takes for somebody else's counts for nothing. Both run on threads of their own: whatever they wait for (the interpreter's lock, a terminal that is not read), the
    /// next signal is heard.
    pub(crate) fn begin(
        patience: Duration,
        code: i32,
        of_others: impl Fn(i32) -> bool + Send + 'static,
        first: impl FnOnce(i32) + Send + 'static,
        last_words: impl Fn(Leaving) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let watching = Watching::begin()?;
        let mut signals = Signals::new(ending().map(|(signal, _)| signal))?;
        let handle = signals.handle();
        let (over, ended) = channel::<()>();
        let last_words = Arc::new(last_words);
        let wait = move || {
            let mut arriving = signals.forever().filter(|signal| !of_others(*signal));
            let Some(signal) = arriving.next() else { return };
            let later = Arc::clone(&last_words);
            beside("maloko-cancelling", move || first(signal));
            beside("maloko-patience", move || {
                if ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                    leave_with(code, move || later(Leaving::NoPatience));
                }
            });
            if arriving.next().is_some() {
                leave_with(code, move || last_words(Leaving::SecondSignal));
            }
        };
        let thread = std::thread::Builder::new().name("maloko-signals".to_owned()).spawn(wait)?;
        Ok(Self { handle, thread: Some(thread), _over: over, _watching: watching })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Does something on a thread of its own, which nobody waits for. Where there is no thread to be had, it is done here.
pub(crate) fn beside(name: &str, work: impl FnOnce() + Send + 'static) {
    let work = Arc::new(std::sync::Mutex::new(Some(work)));
    let theirs = Arc::clone(&work);
    let take =
        |work: &std::sync::Mutex<Option<_>>| work.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    let run = move || {
        if let Some(work) = take(&theirs) {
            work();
        }
    };
    if std::thread::Builder::new().name(name.to_owned()).spawn(run).is_err()
        && let Some(work) = take(&work)
    {
        work();
    }
}

/// Says the last words, for as long as there is patience for them, and leaves.
pub(crate) fn leave_with(code: i32, last_words: impl FnOnce() + Send + 'static) -> ! {
    let (done, said) = channel();
    beside("maloko-leaving", move || {
        last_words();
        // Nobody listens once the patience has run out.
        let _ = done.send(());
    });
    let _ = said.recv_timeout(LAST_WORDS);
    leave(code)
}

/// Leaves the process at once: no destructors, no interpreter, no waiting for threads.
pub fn leave(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

#[cfg(test)]
#[path = "signals_tests.rs"]
mod tests;
