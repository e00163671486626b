//! A process of its own group: its start, what it prints, its end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child as Spawned, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::lock;
use crate::orphans::OrphanWatch;
use crate::port_line::port_in;

/// How long a process may take to end after it was interrupted.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How long its output is waited for once it has ended: what it left running may hold the pipe.
const OUTPUT_LIMIT: Duration = Duration::from_secs(1);
/// How much of what a process prints is kept, in bytes: the last of it.
const KEPT: usize = 16 * 1024;
/// The longest first line that is read, in bytes.
const MAX_FIRST_LINE_LENGTH: u64 = 64 * 1024;
/// The longest line that is handed on whole, in bytes.
const MAX_LINE_LENGTH: u64 = 16 << 20;

/// What is started, and how.
#[derive(Clone, Debug, Default)]
pub struct ChildCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder in which it works.
    pub directory: PathBuf,
    /// What its environment has beside that of this process, by name.
    pub variables: Vec<(String, String)>,
}

/// Where a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Is told each line that a process prints, without its end.
pub type Listener = Arc<dyn Fn(Stream, &str) + Send + Sync>;

/// See the module's text.
pub struct Child {
    spawned: Mutex<Option<Spawned>>,
    group: u32,
    printed: Arc<OutputTail>,
    readers: Mutex<Vec<JoinHandle<()>>>,
    listener: Option<Listener>,
    orphans: Arc<Mutex<OrphanWatch>>,
    /// The executable, for messages.
    pub program: String,
}

/// The last of what a process printed.
#[derive(Default)]
struct OutputTail(Mutex<VecDeque<u8>>);

impl OutputTail {
    fn add(&self, bytes: &[u8]) {
        let mut kept = lock(&self.0);
        kept.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let too_many = kept.len().saturating_sub(KEPT);
        kept.drain(..too_many);
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(lock(&self.0).make_contiguous()).trim().to_owned()
    }
}

impl Child {
    /// Starts a process and waits for its first line, the port on which it listens. The error says what it did in place of
    /// that, with the last of what it printed. `listener` hears what is printed from then on, and all of standard error.
    pub async fn serving(
        command: &ChildCommand,
        limit: Duration,
        orphans: &Arc<Mutex<OrphanWatch>>,
        listener: Option<Listener>,
    ) -> Result<(Self, u16), String> {
        let (child, stdout) = Self::spawn(command, Stdio::piped(), orphans, listener)?;
        match timeout(limit, child.first_line(stdout)).await {
            Ok(Ok(port)) => Ok((child, port)),
            Ok(Err(reason)) => Err(child.give_up(&reason).await),
            Err(_) => {
                let reason = format!("it has not told its port within {} s", limit.as_secs());
                Err(child.give_up(&reason).await)
            }
        }
    }

    /// Starts a process that tells no port, and has nothing to read; `listener` hears all that it prints.
    pub fn begin(
        command: &ChildCommand,
        orphans: &Arc<Mutex<OrphanWatch>>,
        listener: Option<Listener>,
    ) -> Result<Self, String> {
        let (child, stdout) = Self::spawn(command, Stdio::null(), orphans, listener)?;
        if let Some(stdout) = stdout {
            child.read(BufReader::new(stdout), Stream::Out);
        }
        Ok(child)
    }

    /// Starts a process whose standard input is `connection`; `listener` hears all that it prints.
    pub fn connected(
        command: &ChildCommand,
        connection: Stdio,
        orphans: &Arc<Mutex<OrphanWatch>>,
        listener: Listener,
    ) -> Result<Self, String> {
        let (child, stdout) = Self::spawn(command, connection, orphans, Some(listener))?;
        if let Some(stdout) = stdout {
            child.read(BufReader::new(stdout), Stream::Out);
        }
        Ok(child)
    }

    /// The number of its process, which is that of its group, too.
    pub fn number(&self) -> u32 {
        self.group
    }

    /// Ends it, and what it started, at once.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn spawn(
        command: &ChildCommand,
        stdin: Stdio,
        orphans: &Arc<Mutex<OrphanWatch>>,
        listener: Option<Listener>,
    ) -> Result<(Self, Option<ChildStdout>), String> {
        let program = command.program.display().to_string();
        let mut spawned = Command::new(&command.program)
            .args(&command.arguments)
            .current_dir(&command.directory)
            .envs(command.variables.iter().map(|(name, value)| (name, value)))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("its program {program} cannot be started: {error}"))?;
        let group = spawned.id().unwrap_or_default();
        lock(orphans).began(group);
        let (stdout, stderr) = (spawned.stdout.take(), spawned.stderr.take());
        let child = Self {
            spawned: Mutex::new(Some(spawned)),
            group,
            printed: Arc::default(),
            readers: Mutex::default(),
            listener,
            orphans: Arc::clone(orphans),
            program,
        };
        if let Some(stderr) = stderr {
            child.read(BufReader::new(stderr), Stream::Err);
        }
        Ok((child, stdout))
    }

    fn read(&self, from: impl AsyncBufRead + Unpin + Send + 'static, stream: Stream) {
        let (printed, listener) = (Arc::clone(&self.printed), self.listener.clone());
        lock(&self.readers).push(tokio::spawn(async move {
            match listener {
                Some(listener) => hand_on(from, &printed, |line| listener(stream, line)).await,
                None => drain(from, &printed).await,
            }
        }));
    }

    async fn first_line(&self, stdout: Option<ChildStdout>) -> Result<u16, String> {
        let Some(stdout) = stdout else { return Err("its output cannot be read".to_owned()) };
        // The reader goes on with the rest: what came together with the first line must not be lost.
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        let read = (&mut reader).take(MAX_FIRST_LINE_LENGTH).read_until(b'\n', &mut line).await;
        read.map_err(|error| format!("its output cannot be read: {error}"))?;
        if line.is_empty() {
            return Err(format!("it ended before it told its port{}", self.how_it_ended().await));
        }
        let port = port_in(&line)?;
        self.read(reader, Stream::Out);
        Ok(port)
    }

    async fn how_it_ended(&self) -> String {
        match timeout(END_LIMIT, self.ended()).await {
            Ok(Some(status)) => format!(" ({status})"),
            _ => String::new(),
        }
    }

    /// Waits for its end and for the last that it printed; `None` where it was waited for before.
    pub async fn ended(&self) -> Option<ExitStatus> {
        let mut spawned = AwaitedProcess { child: self, spawned: lock(&self.spawned).take() };
        let status = spawned.spawned.as_mut()?.wait().await.ok();
        self.all_read().await;
        status
    }

    async fn all_read(&self) {
        let readers = std::mem::take(&mut *lock(&self.readers));
        drop(timeout(OUTPUT_LIMIT, futures::future::join_all(readers)).await);
    }

    async fn give_up(&self, reason: &str) -> String {
        // Before it is interrupted: what it says of that is of no use.
        let said = self.last_words();
        self.end().await;
        format!("{reason}{said}")
    }

    /// What it printed last, for a message; empty when it printed nothing.
    pub fn last_words(&self) -> String {
        let text = self.printed.text();
        if text.is_empty() { String::new() } else { format!("\nIt printed:\n{text}") }
    }

    /// Asks it, and what it started, to end.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Interrupts it and what it started, and kills what is left after a while.
    pub async fn end(&self) {
        self.end_within(END_LIMIT).await;
    }

    /// As [`Child::end`], with a limit of one's own.
    pub async fn end_within(&self, limit: Duration) {
        let spawned = lock(&self.spawned).take();
        if let Some(mut spawned) = spawned
            && let Ok(None) = spawned.try_wait()
        {
            self.signal(Signal::INT);
            if timeout(limit, spawned.wait()).await.is_err() {
                self.signal(Signal::KILL);
                drop(spawned.wait().await);
            }
        }
        self.end_group();
        self.all_read().await;
    }

    /// Ends what it started and left behind.
    fn end_group(&self) {
        self.signal(Signal::KILL);
        lock(&self.orphans).ended(self.group);
    }

    fn signal(&self, signal: Signal) {
        let Some(group) = i32::try_from(self.group).ok().and_then(Pid::from_raw) else { return };
        // Nobody may be left.
        let _ = kill_process_group(group, signal);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Whoever gives it up without waiting for its end: nothing of it may stay.
        if lock(&self.spawned).is_some() {
            self.end_group();
        }
    }
}

/// A process that is being waited for; it goes back to its place when the waiting is given up.
struct AwaitedProcess<'a> {
    child: &'a Child,
    spawned: Option<Spawned>,
}

impl Drop for AwaitedProcess<'_> {
    fn drop(&mut self) {
        *lock(&self.child.spawned) = self.spawned.take();
    }
}

async fn drain(mut from: impl AsyncRead + Unpin, into: &OutputTail) {
    let mut buffer = [0; 8192];
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        into.add(&buffer[..count]);
    }
}

/// Hands on line by line what is printed, also a last line that has no end.
async fn hand_on(mut from: impl AsyncBufRead + Unpin, into: &OutputTail, to: impl Fn(&str)) {
    let mut line = Vec::new();
    while let Ok(count) = (&mut from).take(MAX_LINE_LENGTH).read_until(b'\n', &mut line).await {
        if count == 0 {
            return;
        }
        into.add(&line);
        let text = String::from_utf8_lossy(&line);
        to(text.trim_end_matches(['\n', '\r']));
        line.clear();
    }
}
