//! The process of a program, as the engine's process has it: its start, its program, its end, and what comes of its death.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use maloko_core::event::Severity;
use maloko_core::message::Code;
use maloko_core::provider::{HostError, ProviderHost};
use maloko_core::{Engine, ProgramEnd};
use maloko_rpc::child::{Child, ChildCommand, Stream};
use maloko_rpc::{OrphanWatch, lock};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::{sleep, timeout};

use crate::connection::{self, Sender};
use crate::death::{self, LastWords};
use crate::messages::{Description, Failure, PartOf, Question, Reply, Run, Start, ToChild, ToParent, answer_of};
use crate::remote_host::{PART_OF, RemoteHost};
use crate::transport::End;

/// How long a process may take to end once its run is over, before it is interrupted, and after that, before it is killed.
const END_LIMIT: Duration = Duration::from_secs(5);
const KILLED_AFTER: Duration = Duration::from_secs(1);
/// How long the end of a process whose connection is gone is waited for.
const DEATH_LIMIT: Duration = Duration::from_secs(2);

/// How a program's process is started.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder that it starts in.
    pub directory: PathBuf,
    /// How long it may take to be there, and later on, how long nothing of it may be heard.
    pub patience: Duration,
}

/// See the module's text. One per run, made before the run's engine.
pub struct ProgramProcess {
    this: Weak<Self>,
    settings: Settings,
    host: Arc<RemoteHost>,
    engine: OnceLock<Weak<Engine>>,
    child: OnceLock<Arc<Child>>,
    sender: OnceLock<Sender>,
    program: Mutex<Waiting>,
    last_words: LastWords,
    last_heard: Mutex<Instant>,
    is_there: AtomicBool,
    is_over: AtomicBool,
    tasks: Handle,
    /// Ends, with all that is done there, when this is dropped.
    runtime: Option<Runtime>,
}

/// Who waits for the program's end.
#[derive(Default)]
struct Waiting {
    sender: Option<oneshot::Sender<ProgramEnd>>,
}

impl ProgramProcess {
    /// A process that is not started yet; `code` are the words of its language for code that a message advises.
    pub fn new(settings: Settings, code: fn(Code) -> &'static str) -> std::io::Result<Arc<Self>> {
        // One thread, as in Node: the engine needs a fraction of what the program does.
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("maloko-isolated").enable_all().build()?;
        let tasks = runtime.handle().clone();
        Ok(Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            settings,
            host: Arc::new(RemoteHost::new(tasks.clone(), code)),
            engine: OnceLock::new(),
            child: OnceLock::new(),
            sender: OnceLock::new(),
            program: Mutex::default(),
            last_words: LastWords::default(),
            last_heard: Mutex::new(Instant::now()),
            is_there: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            tasks,
            runtime: Some(runtime),
        }))
    }

    /// The live providers of the program.
    #[must_use]
    pub fn host(&self) -> Arc<dyn ProviderHost> {
        Arc::clone(&self.host) as Arc<dyn ProviderHost>
    }

    /// Starts the process and runs the program to its end. The process goes on, until [`ProgramProcess::end`].
    pub async fn run(&self, engine: &Arc<Engine>, mut start: Start) -> ProgramEnd {
        start.run = Run::of(engine.operation());
        let (ended, end) = oneshot::channel();
        lock(&self.program).sender = Some(ended);
        let _ = self.engine.set(Arc::downgrade(engine));
        if let Err(reason) = self.begin(start) {
            let reason = format!("the program's process cannot be started: {reason}");
            self.host.lose(&reason, "");
            return ProgramEnd { error: Some(reason), source: None };
        }
        let stopped = self.tasks.spawn({
            let (engine, sender) = (Arc::downgrade(engine), self.sender.get().cloned());
            async move {
                let Some(engine) = engine.upgrade() else { return };
                engine.stopped().await;
                if let Some(sender) = sender {
                    sender.send(&ToChild::Stopped);
                }
            }
        });
        let end = end.await;
        stopped.abort();
        end.unwrap_or_else(|_| ProgramEnd {
            error: Some("the program's process was given up".to_owned()),
            source: None,
        })
    }

    fn begin(&self, start: Start) -> Result<(), String> {
        let Settings { program, arguments, directory, .. } = self.settings.clone();
        let command = ChildCommand { program, arguments, directory, variables: Vec::new() };
        let (ours, theirs) = End::pair().map_err(|error| format!("there is no connection to be had: {error}"))?;
        let watch = OrphanWatch::begin().map_err(|error| format!("/bin/sh cannot be started beside it: {error}"))?;
        let printed = Weak::clone(&self.this);
        let listener = Arc::new(move |stream, line: &str| {
            if let Some(process) = printed.upgrade() {
                process.printed(stream, line);
            }
        });
        let _inside = self.tasks.enter();
        let child = Child::connected(&command, theirs, &Arc::new(Mutex::new(watch)), listener)?;
        let _ = self.child.set(Arc::new(child));
        let (taking, ending) = (Weak::clone(&self.this), Weak::clone(&self.this));
        let sender = connection::begin(
            ours,
            move |message, _: &Sender| {
                if let Some(process) = taking.upgrade() {
                    process.take(message);
                }
            },
            move |broken| {
                if let Some(process) = ending.upgrade() {
                    process.lost(broken);
                }
            },
        );
        let sender = sender.map_err(|error| format!("its connection cannot be read: {error}"))?;
        self.host.open(sender.clone());
        sender.send(&ToChild::Start(Box::new(start)));
        let _ = self.sender.set(sender);
        *lock(&self.last_heard) = Instant::now();
        self.tasks.spawn(watch_silence(Weak::clone(&self.this), self.settings.patience));
        Ok(())
    }

    fn engine(&self) -> Option<Arc<Engine>> {
        self.engine.get().and_then(Weak::upgrade)
    }

    fn printed(&self, stream: Stream, line: &str) {
        if stream == Stream::Err {
            self.last_words.note(line);
        }
        if let Some(engine) = self.engine()
            && !line.trim().is_empty()
        {
            engine.log("", Severity::Output, line, false);
        }
    }

    /// Takes what the process says, on the thread that reads.
    fn take(&self, message: ToParent) {
        *lock(&self.last_heard) = Instant::now();
        let Some(engine) = self.engine() else { return };
        match message {
            ToParent::Hello { version } => {
                self.is_there.store(true, Ordering::Relaxed);
                if version != env!("CARGO_PKG_VERSION") {
                    let ours = env!("CARGO_PKG_VERSION");
                    self.give_up(&format!("is of another maloko, {version}, and this one is {ours}"));
                }
            }
            ToParent::Request { number, method, body } => self.answer(engine, number, method, body.0),
            ToParent::Forgotten { .. } | ToParent::Pong => {}
            ToParent::Described { object, description } => {
                let description = description.map_err(Failure::error).and_then(Description::read);
                self.host.take_description(object, description);
            }
            ToParent::Replied { number, reply } => {
                self.host.take_reply(number, reply.map_err(Failure::error));
            }
            ToParent::Log { urn, severity, message, ephemeral } => engine.log(&urn, severity, &message, ephemeral),
            ToParent::Note(notice) => engine.note(notice),
            ToParent::RefuseDeletion { urn, reason } => engine.refuse_deletion(&urn, reason),
            ToParent::Cancel => engine.cancel(),
            ToParent::Ended { error, source } => {
                let source = source.map(|words| Arc::new(words) as HostError);
                self.program_ended(ProgramEnd { error, source });
            }
        }
    }

    fn answer(&self, engine: Arc<Engine>, number: u64, method: String, body: Vec<u8>) {
        let Some(sender) = self.sender.get().cloned() else { return };
        self.tasks.spawn(PART_OF.scope(PartOf { request: number, is_beside: false }, async move {
            let answer = answer_of(engine.rpc(&method, &body).await);
            sender.send(&ToChild::Answered { number, answer });
        }));
    }

    fn program_ended(&self, end: ProgramEnd) {
        if let Some(waiting) = lock(&self.program).sender.take() {
            // The run may have given it up.
            drop(waiting.send(end));
        }
    }

    /// The process must go: what it says cannot be relied on any more, or it says nothing.
    fn give_up(&self, why: &str) {
        if let Some(child) = self.child.get() {
            child.kill();
        }
        self.mourn(why);
    }

    /// The connection is gone, and so is the process, most likely.
    fn lost(&self, broken: Option<String>) {
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        let (Some(this), Some(child)) = (self.this.upgrade(), self.child.get().cloned()) else { return };
        self.tasks.spawn(async move {
            let how = match (broken, timeout(DEATH_LIMIT, child.ended()).await) {
                (None, Ok(status)) => death::ended(status),
                (Some(broken), Ok(_)) => format!("was given up: {broken}"),
                (broken, Err(_)) => {
                    child.kill();
                    drop(timeout(DEATH_LIMIT, child.ended()).await);
                    let why = broken.unwrap_or_else(|| {
                        "it closed its connection: the program, or what it has loaded, closed a descriptor that is not its own"
                            .to_owned()
                    });
                    format!("was given up: {why}")
                }
            };
            this.mourn(&how);
        });
    }

    /// Tells all that wait for the process what became of it; the first reason counts.
    fn mourn(&self, how: &str) {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        let before = if self.is_there.load(Ordering::Relaxed) { "" } else { " before it was ready" };
        let why = format!("the program's process {how}{before}");
        self.host.lose(&why, &self.last_words.line());
        let error = format!(
            "{why}{}\nWhat was done before is recorded, and what was under way is named by the next run, which takes up from it",
            self.last_words.line()
        );
        if lock(&self.program).sender.is_some() {
            self.program_ended(ProgramEnd { error: Some(error), source: None });
        } else if let Some(engine) = self.engine() {
            // The program has ended before, and its providers are what is missing now.
            engine.log("", Severity::Error, &error, false);
        }
    }

    /// A signal has cancelled the run: handlers of the program's own are called.
    pub fn interrupted(&self, signal: i32) {
        if let Some(sender) = self.sender.get() {
            sender.send(&ToChild::Interrupted(signal));
        }
    }

    /// The classes of the resources that the program made, as JSON; `None` when nobody answers.
    pub async fn resource_classes(&self) -> Option<String> {
        match timeout_on(&self.tasks, self.settings.patience, self.host.ask(Question::ResourceClasses)).await {
            Some(Ok(Reply::Text(text))) => Some(text),
            _ => None,
        }
    }

    /// Ends the process: it is told, interrupted when it does not end by itself, and killed with all that it started.
    pub async fn end(&self) {
        self.end_after(END_LIMIT).await;
    }

    /// The program did not end by itself: its process is interrupted, and killed with all that it started.
    pub async fn cut_off(&self) {
        self.end_after(Duration::ZERO).await;
    }

    async fn end_after(&self, patience: Duration) {
        let was_over = self.is_over.swap(true, Ordering::Relaxed);
        let Some(child) = self.child.get().cloned() else { return };
        let sender = self.sender.get().cloned();
        let ending = self.tasks.spawn(async move {
            if !was_over {
                if let Some(sender) = &sender {
                    sender.send(&ToChild::End);
                }
                drop(timeout(patience, child.ended()).await);
            }
            child.end_within(KILLED_AFTER).await;
        });
        drop(ending.await);
        if !was_over {
            self.host.lose("the program's process was ended with the run", "");
        }
        self.program_ended(ProgramEnd::default());
    }
}

/// Resolves with the answer, or with `None` after a time, on the timer of other tasks.
async fn timeout_on<T>(tasks: &Handle, limit: Duration, answer: impl Future<Output = T>) -> Option<T> {
    let late = tasks.spawn(sleep(limit));
    match futures::future::select(std::pin::pin!(answer), late).await {
        futures::future::Either::Left((answer, _)) => Some(answer),
        futures::future::Either::Right(_) => None,
    }
}

/// Gives a process up of which nothing is heard. A thread of its own answers there: no work of the program keeps it from that.
async fn watch_silence(process: Weak<ProgramProcess>, patience: Duration) {
    loop {
        sleep(patience / 4).await;
        let Some(process) = process.upgrade() else { return };
        if process.is_over.load(Ordering::Relaxed) {
            return;
        }
        let silent = lock(&process.last_heard).elapsed();
        if silent < patience / 4 {
            continue;
        }
        if let Some(sender) = process.sender.get() {
            sender.send(&ToChild::Ping);
        }
        if silent < patience {
            continue;
        }
        let state = process.child.get().and_then(|child| state_of(child.number()));
        if state == Some('t') {
            // A debugger has stopped it.
            continue;
        }
        let seconds = patience.as_secs_f64();
        let why = if process.is_there.load(Ordering::Relaxed) {
            let stopped = if state == Some('T') { ": somebody has stopped it (SIGSTOP)" } else { "" };
            format!("was given up, because nothing was heard of it for {seconds} s{stopped}")
        } else {
            format!("was given up, because it was not ready within {seconds} s")
        };
        process.give_up(&why);
        return;
    }
}

/// The state of a process as the system writes it, where it writes that.
fn state_of(process: u32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    text.rsplit_once(')')?.1.trim_start().chars().next()
}

impl Drop for ProgramProcess {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.get() {
            sender.close();
        }
        if let Some(runtime) = self.runtime.take() {
            // Whoever drops this may be on a thread of another runtime, which must not wait.
            runtime.shutdown_background();
        }
    }
}
