//! Group commit: one thread writes all records that wait, with one flush, and then says that they are durable.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::error::{Error, Result};

use super::backend::Lease;
use super::journal::{Header, LineWriter};
use super::platform::OwnProcess;
use super::surroundings::Clock;

/// Where the outcome of a write goes; an error is its text, because many wait for one write.
pub(super) type Reply = oneshot::Sender<std::result::Result<(), Arc<str>>>;

struct Job {
    content: Vec<u8>,
    reply: Reply,
}

/// The writing end of a journal. The thread, and with it the journal, begins with the first record.
pub(super) struct JournalWriter {
    state: Mutex<State>,
    owner: OwnProcess,
}

enum State {
    Idle { lease: Arc<dyn Lease>, header: Box<Header>, clock: Arc<dyn Clock> },
    Running { sender: Sender<Job>, thread: JoinHandle<()>, ended: oneshot::Receiver<()> },
    Stopping { thread: JoinHandle<()> },
    Stopped,
}

impl JournalWriter {
    pub(super) fn new(lease: Arc<dyn Lease>, header: Header, clock: Arc<dyn Clock>) -> Self {
        let state = Mutex::new(State::Idle { lease, header: Box::new(header), clock });
        Self { state, owner: OwnProcess::here() }
    }

    /// Hands a record over; the answer comes when it is durable or cannot be. Records keep the order of these calls.
    pub(super) fn send(&self, content: Vec<u8>, reply: Reply) {
        if !self.owner.is_here() {
            let _ = reply.send(Err("a process that was forked off a run cannot record anything".into()));
            return;
        }
        let mut state = self.lock();
        if let State::Idle { lease, header, clock } = &*state {
            let (sender, receiver) = channel();
            let mut header = (**header).clone();
            header.begun = clock.now().to_string();
            let worker = Worker { lease: Arc::clone(lease), header, lines: None, durable: 0 };
            let (end, ended) = oneshot::channel();
            let run = move || {
                worker.run(&receiver);
                // It is fine if nobody waits.
                let _ = end.send(());
            };
            match std::thread::Builder::new().name("maloko-journal".into()).spawn(run) {
                Ok(thread) => *state = State::Running { sender, thread, ended },
                Err(error) => {
                    let _ =
                        reply.send(Err(format!("the thread that writes the journal cannot be made: {error}").into()));
                    return;
                }
            }
        }
        match &*state {
            State::Running { sender, .. } => {
                // The thread ends only when the sender is gone; if it died all the same, the reply is dropped, which
                // the waiting side takes for a failure.
                let _ = sender.send(Job { content, reply });
            }
            State::Idle { .. } | State::Stopping { .. } | State::Stopped => {
                let _ = reply.send(Err("the operation is over; nothing can be recorded any more".into()));
            }
        }
    }

    /// Was anything sent?
    pub(super) fn is_used(&self) -> bool {
        matches!(*self.lock(), State::Running { .. } | State::Stopping { .. })
    }

    /// Takes no more, and waits until all that was sent is written.
    pub(super) async fn close(&self) {
        if !self.owner.is_here() {
            return;
        }
        let ended = {
            let mut state = self.lock();
            match std::mem::replace(&mut *state, State::Stopped) {
                State::Running { sender, thread, ended } => {
                    drop(sender);
                    *state = State::Stopping { thread };
                    Some(ended)
                }
                State::Stopping { thread } => {
                    *state = State::Stopping { thread };
                    None
                }
                State::Idle { .. } | State::Stopped => None,
            }
        };
        if let Some(ended) = ended {
            // A panic in there has dropped the replies, which is how those who wait learn of it.
            let _ = ended.await;
        }
    }

    /// Like [`JournalWriter::close`], for those who cannot await.
    pub(super) fn stop(&self) {
        if !self.owner.is_here() {
            return;
        }
        let state = std::mem::replace(&mut *self.lock(), State::Stopped);
        let thread = match state {
            State::Running { sender, thread, .. } => {
                drop(sender);
                thread
            }
            State::Stopping { thread } => thread,
            State::Idle { .. } | State::Stopped => return,
        };
        let _ = thread.join();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The error that those who wait for a record get.
pub(super) fn not_recorded(cause: &str) -> Error {
    Error::BadState(format!(
        "what happened could not be recorded in the journal, so nothing new is begun: {cause}. What was recorded before \
         is safe"
    ))
}

struct Worker {
    lease: Arc<dyn Lease>,
    header: Header,
    lines: Option<LineWriter>,
    /// The number of the last record that is on disk.
    durable: u64,
}

impl Worker {
    fn run(mut self, jobs: &Receiver<Job>) {
        let mut failed: Option<Arc<str>> = None;
        while let Ok(first) = jobs.recv() {
            let batch: Vec<Job> = std::iter::once(first).chain(jobs.try_iter()).collect();
            if failed.is_none() {
                // After a failed write nobody knows what is in the file, so nothing may follow it.
                failed = self.write(&batch).err().map(|error| error.to_string().into());
            }
            for job in batch {
                let outcome = failed.as_ref().map_or(Ok(()), |cause| Err(Arc::clone(cause)));
                // Nobody has to wait.
                let _ = job.reply.send(outcome);
            }
        }
    }

    fn write(&mut self, batch: &[Job]) -> Result<()> {
        let mut bytes = Vec::with_capacity(batch.iter().map(|job| job.content.len() + 64).sum::<usize>() + 512);
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => none.insert(LineWriter::begin(&self.header, &mut bytes)?),
        };
        for job in batch {
            lines.record(self.durable, &job.content, &mut bytes);
        }
        futures::executor::block_on(self.lease.append(&bytes))?;
        self.durable = lines.sequence();
        Ok(())
    }
}
