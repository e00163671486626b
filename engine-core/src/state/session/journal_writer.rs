//! Group commit: one worker writes all records that wait, with one flush, and then says that they are durable.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::select;
use tokio::sync::oneshot;

use crate::error::{Error, Result};

use crate::environment::platform::OwnProcess;
use crate::environment::{Clock, Environment, Worker};
use crate::fail_points;
use crate::state::backend::Lease;
use crate::state::journal::header::Header;
use crate::state::journal::lines::LineWriter;
use crate::state::seal::RunningSeal;
use crate::state::seal::run_note::RunNote;
use crate::state::secrets::Crypter;

use super::journal_queue::JournalQueue;
use super::journal_record::{Batch, Job, Record, Reply};

/// The number of the last record that is durable, for those who wait for several: records become durable in their order, so
/// one look answers for all that a flush has written.
pub(super) type Progress = Arc<AtomicU64>;

/// What a record takes beside its content, at most.
const FRAME: usize = 64;
/// What the first line takes, about.
const FIRST_LINE: usize = 1024;

/// The writing end of a journal. The worker, and with it the journal, begins with the first record.
pub(super) struct JournalWriter {
    state: Mutex<State>,
    progress: Progress,
    owner: OwnProcess,
}

enum State {
    Idle {
        lease: Arc<dyn Lease>,
        header: Box<Header>,
        seal: Option<RunningSeal>,
        crypter: Crypter,
        environment: Environment,
    },
    Running {
        queue: Arc<JournalQueue>,
        worker: Box<dyn Worker>,
        ended: oneshot::Receiver<()>,
    },
    Stopping {
        worker: Box<dyn Worker>,
    },
    Stopped,
}

impl JournalWriter {
    /// `seal` is told that there is a journal. `crypter` is the one of the records' secrets: its key authenticates the
    /// records.
    pub(super) fn new(
        lease: Arc<dyn Lease>,
        header: Header,
        seal: Option<RunningSeal>,
        crypter: Crypter,
        environment: Environment,
    ) -> Self {
        let state = Mutex::new(State::Idle { lease, header: Box::new(header), seal, crypter, environment });
        Self { state, progress: Progress::default(), owner: OwnProcess::here() }
    }

    /// How far the writing has come.
    pub(super) fn progress(&self) -> Progress {
        Arc::clone(&self.progress)
    }

    /// Hands a record over; the answer comes when it is durable or cannot be. Records keep the order of these calls. Gives the
    /// record's number.
    /// `patient`: nobody waits for it.
    pub(super) fn send(&self, record: Record, patient: bool, reply: Reply) -> u64 {
        if !self.owner.is_here() {
            let _ = reply.send(Err("a process that was forked off a run cannot record anything".into()));
            return u64::MAX;
        }
        let mut state = self.lock();
        if let State::Idle { lease, header, seal, crypter, environment } = &*state {
            let queue = Arc::<JournalQueue>::default();
            let mut header = (**header).clone();
            header.begun = environment.clock.now().to_string();
            let (lease, crypter) = (Arc::clone(lease), crypter.clone());
            let writer = Writer {
                lease,
                header,
                seal: seal.clone(),
                crypter,
                clock: Arc::clone(&environment.clock),
                linger: environment.linger,
                lines: None,
                durable: 0,
                progress: Arc::clone(&self.progress),
                open: HashMap::new(),
            };
            let (end, ended) = oneshot::channel();
            let jobs = Jobs(Arc::clone(&queue));
            let run = async move {
                writer.run(jobs).await;
                // It is fine if nobody waits.
                let _ = end.send(());
            };
            match environment.workers.start("maloko-journal", Box::pin(run)) {
                Ok(worker) => *state = State::Running { queue, worker, ended },
                Err(error) => {
                    let _ =
                        reply.send(Err(format!("the thread that writes the journal cannot be made: {error}").into()));
                    return u64::MAX;
                }
            }
        }
        match &*state {
            State::Running { queue, .. } => queue.push(|number| Job { record, patient, number, reply }),
            State::Idle { .. } | State::Stopping { .. } | State::Stopped => {
                let _ = reply.send(Err("the operation is over; nothing can be recorded any more".into()));
                u64::MAX
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
                State::Running { queue, worker, ended } => {
                    queue.close();
                    *state = State::Stopping { worker };
                    Some(ended)
                }
                State::Stopping { worker } => {
                    *state = State::Stopping { worker };
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
        let worker = match state {
            State::Running { queue, worker, .. } => {
                queue.close();
                worker
            }
            State::Stopping { worker } => worker,
            State::Idle { .. } | State::Stopped => return,
        };
        worker.join();
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
    ).into())
}

struct Writer {
    lease: Arc<dyn Lease>,
    header: Header,
    /// Until it says that there is a journal.
    seal: Option<RunningSeal>,
    crypter: Crypter,
    clock: Arc<dyn Clock>,
    linger: Duration,
    lines: Option<LineWriter>,
    /// The number of the last record that is on disk.
    durable: u64,
    progress: Progress,
    /// The calls under way, with the room that is kept for their outcomes, in bytes.
    open: HashMap<u32, u64>,
}

impl Writer {
    async fn run(mut self, jobs: Jobs) {
        let mut failed: Option<Arc<str>> = None;
        while let Some(mut batch) = jobs.0.take().await {
            self.wait_for_company(&mut batch, &jobs.0).await;
            self.record(batch, &mut failed).await;
        }
    }

    /// Writes records with one flush, and tells those who wait for them.
    async fn record(&mut self, jobs: Vec<Job>, failed: &mut Option<Arc<str>>) {
        let mut batch = Batch::of(jobs, &self.crypter);
        if failed.is_none() {
            self.make_room(&mut batch).await;
        }
        if failed.is_none() && !batch.records.is_empty() {
            // A failed write may leave half a record, so nothing may follow it.
            *failed = self.write(&batch).await.err().map(|error| error.to_string().into());
        }
        // Those that were refused have their answer already; who looks here looks there as well.
        if failed.is_none()
            && let Some(last) = batch.records.last()
        {
            self.progress.store(last.number, Ordering::Release);
        }
        batch.reply(failed.as_ref());
    }

    /// Records for which nobody waits are written with the next one for which somebody does, if that comes soon: the
    /// outcome of a call, and the intent of the call that the program makes on its strength.
    async fn wait_for_company(&self, batch: &mut Vec<Job>, queue: &JournalQueue) {
        if self.linger.is_zero() || !batch.iter().all(|job| job.patient) {
            return;
        }
        select(pin!(queue.urgent()), self.clock.wait(self.linger)).await;
        batch.extend(queue.take_now());
    }

    /// Keeps room for what the calls under way will come to, before one more is begun: so a disk that fills up in the
    /// meantime takes no outcome away. Where there is no room, the calls of the batch are refused, and the outcomes in it
    /// are written into the room that was kept for them.
    async fn make_room(&mut self, batch: &mut Batch) {
        let Err(error) = self.lease.reserve(self.room_for(batch)).await else { return };
        let cause: Arc<str> = match error {
            Error::Locked(why) => String::from(why).into(),
            error => {
                format!("there is no room for what another call would come to, so it is not begun: {error}").into()
            }
        };
        batch.refuse_calls(&cause);
        // If this fails too, the write that follows will say so.
        let _ = self.lease.reserve(self.room_for(batch)).await;
    }

    /// The room for the batch itself, and for the outcomes of the calls that are under way after it, in bytes.
    fn room_for(&self, batch: &Batch) -> u64 {
        let first = if self.lines.is_none() { FIRST_LINE } else { 0 };
        let records = &batch.records;
        let ended: u64 = records.iter().flat_map(|it| &it.ends).filter_map(|operation| self.open.get(operation)).sum();
        let begun: u64 = records.iter().map(|it| it.outcome_room() * it.begins.len() as u64).sum();
        let texts: usize = records.iter().map(|it| it.len() + FRAME).sum();
        (self.open.values().sum::<u64>() + begun).saturating_sub(ended) + (first + texts) as u64
    }

    async fn write(&mut self, batch: &Batch) -> Result<()> {
        let texts: usize = batch.records.iter().map(|it| it.len() + FRAME).sum();
        let mut bytes = Vec::with_capacity(texts + FIRST_LINE);
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => none.insert(LineWriter::begin(&self.header, self.crypter.seal_key()?, &mut bytes)?),
        };
        for record in &batch.records {
            lines.record(self.durable, batch.text_of(record), &mut bytes);
        }
        self.lease.append(&bytes).await?;
        if let Some(seal) = self.seal.take() {
            fail_points::kill("kill::before-note");
            let noted = seal.encode(Some(RunNote::of(&self.header)), self.crypter.seal_key()?)?;
            self.lease.write_seal(&noted).await?;
        }
        self.durable = lines.sequence();
        for record in &batch.records {
            self.open.extend(record.begins.iter().map(|operation| (*operation, record.outcome_room())));
            for operation in &record.ends {
                self.open.remove(operation);
            }
        }
        Ok(())
    }
}

/// The worker's end of the queue. When it goes, also by a panic, so do the records, and those who wait for them learn of it.
struct Jobs(Arc<JournalQueue>);

impl Drop for Jobs {
    fn drop(&mut self) {
        self.0.close();
        drop(self.0.take_now());
    }
}
