//! The thread that draws: it takes the events from a queue, so that no slow terminal or pipe ever holds up the engine.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use maloko_core::environment::OwnProcess;
use maloko_core::event::{Event, EventSink};
use maloko_core::urn::Urn;

use super::Display;

/// Turns events into bytes. Lives on the drawing thread; the times are since the display was opened, so that a test can
/// say what time it is.
pub(super) trait Renderer: Send {
    /// Shows one event, which happened at that time.
    fn event(&mut self, at: Duration, event: Event, out: &mut dyn Write) -> io::Result<()>;

    /// The provider of a resource is called now.
    fn called(&mut self, _at: Duration, _urn: &Urn) {}

    /// How often [`Renderer::frame`] wants to be called; `None`: never.
    fn frame_interval(&self) -> Option<Duration> {
        None
    }

    /// Draws what moves.
    fn frame(&mut self, _now: Duration, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Takes away what moves: the terminal is somebody else's now.
    fn stand_back(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Writes what is still held back; nothing is called afterwards.
    fn finish(&mut self, _now: Duration, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

enum Message {
    Event(Instant, Event),
    Called(Instant, Urn),
    /// The sender is dropped when the terminal is free.
    StandBack(Sender<()>),
    GoOn,
    Close,
}

/// A display whose renderer works on a thread of its own.
pub(super) struct Worker {
    queue: Sender<Message>,
    /// Set when the output is gone (a closed pipe, a full disk): the run goes on, nothing more is shown.
    gone: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// A process that is forked off has a copy of all this, and no thread to wait for.
    owner: OwnProcess,
}

impl Worker {
    /// Starts to draw. Where no thread can be had, nothing is shown.
    pub(super) fn start(renderer: Box<dyn Renderer>, out: Box<dyn Write + Send>) -> Self {
        let (queue, messages) = channel();
        let gone = Arc::new(AtomicBool::new(false));
        let seen_by_thread = Arc::clone(&gone);
        let opened = Instant::now();
        let thread = std::thread::Builder::new().name("maloko-display".to_owned()).spawn(move || {
            let drawn = draw(&messages, renderer, &mut io::BufWriter::new(out), opened);
            // Also when all went well: what comes after `close` is not shown.
            seen_by_thread.store(true, Ordering::Relaxed);
            drop(drawn);
        });
        if thread.is_err() {
            gone.store(true, Ordering::Relaxed);
        }
        Self { queue, gone, thread: Mutex::new(thread.ok()), owner: OwnProcess::here() }
    }
}

impl EventSink for Worker {
    fn emit(&self, event: Event) {
        if !self.gone.load(Ordering::Relaxed) {
            // It can only fail once the thread has ended, and then nothing is to be shown.
            let _ = self.queue.send(Message::Event(Instant::now(), event));
        }
    }

    fn call_began(&self, urn: &Urn, ago: Duration) {
        if !self.gone.load(Ordering::Relaxed) {
            let now = Instant::now();
            let _ = self.queue.send(Message::Called(now.checked_sub(ago).unwrap_or(now), urn.clone()));
        }
    }
}

impl Display for Worker {
    fn close(&self) {
        if !self.owner.is_here() {
            return;
        }
        // Kept locked: a run that ends while its process is left at once is closed by two, and each has to wait.
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            let _ = self.queue.send(Message::Close);
            let _ = thread.join();
        }
    }

    fn stand_back(&self) {
        let (free, waiting) = channel::<()>();
        if self.queue.send(Message::StandBack(free)).is_ok() {
            // Nothing is ever sent: the other end is dropped, when the terminal is free or the thread has ended.
            let _ = waiting.recv();
        }
    }

    fn go_on(&self) {
        // It can only fail once the thread has ended, and then nothing is to be shown.
        let _ = self.queue.send(Message::GoOn);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.close();
    }
}

/// The life of the drawing thread; ends early when the output does not take any more.
fn draw(
    messages: &Receiver<Message>,
    mut renderer: Box<dyn Renderer>,
    out: &mut dyn Write,
    opened: Instant,
) -> io::Result<()> {
    let interval = renderer.frame_interval();
    let mut next_frame = opened + interval.unwrap_or_default();
    // What happened while the terminal was somebody else's.
    let mut missed = VecDeque::new();
    loop {
        let message = match missed.pop_front().map_or_else(|| messages.try_recv(), Ok) {
            Ok(message) => Some(message),
            Err(TryRecvError::Disconnected) => Some(Message::Close),
            Err(TryRecvError::Empty) => {
                out.flush()?;
                wait(messages, interval.map(|_| next_frame))
            }
        };
        match message {
            Some(Message::Event(at, event)) => renderer.event(at.saturating_duration_since(opened), event, out)?,
            Some(Message::Called(at, urn)) => renderer.called(at.saturating_duration_since(opened), &urn),
            Some(Message::StandBack(free)) => {
                renderer.stand_back(out)?;
                out.flush()?;
                drop(free);
                missed.extend(until_going_on(messages));
                // Not at once: a debugger that goes on by one line is back at once.
                next_frame = Instant::now() + interval.unwrap_or_default();
            }
            Some(Message::GoOn) | None => {}
            Some(Message::Close) => {
                renderer.finish(opened.elapsed(), out)?;
                return out.flush();
            }
        }
        if let Some(interval) = interval {
            let now = Instant::now();
            // What has already happened comes first, unless there is no end to it.
            if now >= next_frame && (missed.is_empty() || now >= next_frame + interval) {
                renderer.frame(now.saturating_duration_since(opened), out)?;
                out.flush()?;
                next_frame = Instant::now() + interval;
            }
        }
    }
}

/// Waits until the terminal is free again; what happened meanwhile. The end of the display does not wait for it.
fn until_going_on(messages: &Receiver<Message>) -> Vec<Message> {
    let mut missed = Vec::new();
    loop {
        match messages.recv().unwrap_or(Message::Close) {
            Message::GoOn => return missed,
            Message::Close => {
                missed.push(Message::Close);
                return missed;
            }
            // There is one terminal, which is free already.
            Message::StandBack(_) => {}
            message => missed.push(message),
        }
    }
}

/// The next message, `None` when it is time for a frame.
fn wait(messages: &Receiver<Message>, next_frame: Option<Instant>) -> Option<Message> {
    let Some(next_frame) = next_frame else {
        return Some(messages.recv().unwrap_or(Message::Close));
    };
    match messages.recv_timeout(next_frame.saturating_duration_since(Instant::now())) {
        Ok(message) => Some(message),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Message::Close),
    }
}

/// The wall clock's time of a moment since `opened`, in whole seconds since 1970.
pub(super) fn unix_seconds(opened: SystemTime, since: Duration) -> u64 {
    (opened + since).duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
