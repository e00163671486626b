//! The process of one plugin: its start, what it prints, its end.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::orphans::OrphanWatch;
use crate::port_line::port_in;
use crate::programs::runtime_command::PluginCommand;
use crate::settings::PluginSettings;

/// How long a plugin may take to end after it was interrupted.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How much of what a plugin prints is kept, in bytes: the last of it.
const KEPT: usize = 16 * 1024;
/// The longest first line that is read, in bytes.
const LONGEST_LINE: u64 = 64 * 1024;

/// See the module's text.
pub(crate) struct Process {
    child: Mutex<Option<Child>>,
    group: u32,
    printed: Arc<Printed>,
    orphans: Arc<Mutex<OrphanWatch>>,
    /// The program, for messages.
    pub(crate) program: String,
}

/// The last of what a plugin printed.
#[derive(Default)]
struct Printed(Mutex<VecDeque<u8>>);

impl Printed {
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    /// Starts a plugin and waits for its port. The error says what it did in place of that, with the last of what it printed.
    pub(crate) async fn start(
        command: &PluginCommand,
        settings: &PluginSettings,
        package: &str,
        engine_address: &str,
        orphans: &Arc<Mutex<OrphanWatch>>,
    ) -> Result<(Self, u16), String> {
        let program = command.program.display().to_string();
        let limit = settings.start_limit()?;
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .arg(engine_address)
            .current_dir(&settings.program_directory)
            .envs(variables(settings, package))
            .envs(command.variables.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("its program {program} cannot be started: {error}"))?;
        let group = child.id().unwrap_or_default();
        lock(orphans).began(group);
        let printed = Arc::<Printed>::default();
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(drain(stderr, Arc::clone(&printed)));
        }
        let stdout = child.stdout.take();
        let process = Self { child: Mutex::new(Some(child)), group, printed, orphans: Arc::clone(orphans), program };
        match timeout(limit, process.first_line(stdout)).await {
            Ok(Ok(port)) => Ok((process, port)),
            Ok(Err(reason)) => Err(process.give_up(&reason).await),
            Err(_) => {
                let reason = format!("it has not told its port within {} s", limit.as_secs());
                Err(process.give_up(&reason).await)
            }
        }
    }

    async fn first_line(&self, stdout: Option<impl AsyncRead + Unpin + Send + 'static>) -> Result<u16, String> {
        let Some(stdout) = stdout else { return Err("its output cannot be read".to_owned()) };
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).await;
        read.map_err(|error| format!("its output cannot be read: {error}"))?;
        if line.is_empty() {
            return Err(format!("it ended before it told its port{}", self.how_it_ended().await));
        }
        let port = port_in(&line)?;
        tokio::spawn(drain(reader, Arc::clone(&self.printed)));
        Ok(port)
    }

    async fn how_it_ended(&self) -> String {
        let child = lock(&self.child).take();
        let Some(mut child) = child else { return String::new() };
        let ended = timeout(END_LIMIT, child.wait()).await;
        *lock(&self.child) = Some(child);
        match ended {
            Ok(Ok(status)) => format!(" ({status})"),
            _ => String::new(),
        }
    }

    async fn give_up(&self, reason: &str) -> String {
        // Before it is interrupted: what it says of that is of no use.
        let said = self.last_words();
        self.end().await;
        format!("{reason}{said}")
    }

    /// What it printed last, for a message; empty when it printed nothing.
    pub(crate) fn last_words(&self) -> String {
        let text = self.printed.text();
        if text.is_empty() { String::new() } else { format!("\nIt printed:\n{text}") }
    }

    /// Interrupts it and what it started, and kills what is left after a while.
    pub(crate) async fn end(&self) {
        let child = lock(&self.child).take();
        let Some(mut child) = child else { return };
        if let Ok(None) = child.try_wait() {
            self.signal(Signal::INT);
            if timeout(END_LIMIT, child.wait()).await.is_err() {
                self.signal(Signal::KILL);
                drop(child.wait().await);
            }
        }
        // What it started and left behind.
        self.signal(Signal::KILL);
        lock(&self.orphans).ended(self.group);
    }

    fn signal(&self, signal: Signal) {
        let Some(group) = i32::try_from(self.group).ok().and_then(Pid::from_raw) else { return };
        // Nobody may be left.
        let _ = kill_process_group(group, signal);
    }
}

async fn drain(mut from: impl AsyncRead + Unpin, into: Arc<Printed>) {
    let mut buffer = [0; 8192];
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        into.add(&buffer[..count]);
    }
}

/// What the environment of a plugin has beside that of the run.
fn variables(settings: &PluginSettings, package: &str) -> Vec<(String, String)> {
    let config: serde_json::Map<String, serde_json::Value> =
        settings.config_of(package).map(|(key, value)| (key.to_owned(), value.into())).collect();
    let options = settings.runtime_options.iter();
    let options = options.map(|(name, value)| (format!("PULUMI_RUNTIME_{}", name.to_uppercase()), value.clone()));
    let given = [
        ("PULUMI_PROJECT".to_owned(), settings.project.clone()),
        ("PULUMI_CONFIG".to_owned(), serde_json::Value::Object(config).to_string()),
    ];
    given.into_iter().chain(options).collect()
}
