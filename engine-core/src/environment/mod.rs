//! Everything that an engine takes from the machine it runs on, passed in so that a simulation can own it: time,
//! randomness, the disk, work beside its own, and who it is.
#![expect(clippy::disallowed_methods, reason = "what is passed in to everybody else is taken from the machine here")]

pub(crate) mod derived_keys;
pub(crate) mod disk;
pub mod files;
mod key_services;
mod known_keys;
pub(crate) mod platform;
pub(crate) mod side_by_side;
mod steady;
pub mod timer;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};

use crate::error::{Error, Result};
use crate::holder::{Holder, RunAttempt};

pub use self::disk::SystemFiles;
pub use self::files::{FileKind, Files, LockedFile, OpenFile, OpenMode, Stamp};
pub use self::key_services::{KeyServices, STACK_KEY_LEN, UnwrappedKey};
pub use self::known_keys::KnownKeys;
pub use self::platform::OwnProcess;
pub use self::steady::SteadyReader;

/// [`Environment::linger`] of a machine: longer than a program takes from one resource to the next, and shorter than
/// anybody notices.
const LINGER: Duration = Duration::from_millis(3);

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time of day. It may jump, also backwards: only for people to read.
    fn now(&self) -> Timestamp;

    /// Time that passed since some moment of its own, and never goes back: for everything that is measured.
    fn elapsed(&self) -> Duration;

    /// Resolves after a time.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// Gives random bytes that nobody can guess.
pub trait Entropy: Send + Sync {
    /// Fills all of `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<()>;
}

/// Does work beside that of the caller.
pub trait Workers: Send + Sync {
    /// Begins a piece of work. It may block where it runs; in a simulation nothing does.
    fn start(&self, name: &str, work: BoxFuture<'static, ()>) -> io::Result<Box<dyn Worker>>;
}

/// A piece of work that was begun.
pub trait Worker: Send {
    /// Waits, without giving way to anybody, until the work is done; in a simulation it does not wait.
    fn join(self: Box<Self>);
}

/// Who works, as others are told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Process number.
    pub pid: u32,
    /// Login name; may be empty.
    pub user: String,
    /// Name of the machine; may be empty.
    pub host: String,
    /// Which attempt this is, where something else than a person starts the command again when it was cut off.
    pub attempt: Option<RunAttempt>,
}

/// The machine that state code runs on.
#[derive(Clone)]
pub struct Environment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The randomness.
    pub entropy: Arc<dyn Entropy>,
    /// The disk.
    pub files: Arc<dyn Files>,
    /// The threads.
    pub workers: Arc<dyn Workers>,
    /// This process.
    pub identity: Arc<Identity>,
    /// So long the journal waits, before it writes records for which nobody waits, for one that can share their flush.
    /// Zero: not at all.
    pub linger: Duration,
    /// The keys that this process has derived before, where it opens the same stacks more than once.
    pub known_keys: Option<KnownKeys>,
    /// Those that keep the keys of stacks, where they can be reached.
    pub key_services: Option<Arc<dyn KeyServices>>,
    /// Says that nobody wants the outcome of the command any more: what has not begun does not begin.
    pub abandonment: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Environment {
    /// Those of this machine.
    #[must_use]
    pub fn system() -> Self {
        let (user, host) = (platform::user_name(), platform::host_name());
        let identity = Identity { pid: std::process::id(), user, host, attempt: None };
        Self {
            clock: Arc::new(SystemClock(Instant::now())),
            entropy: Arc::new(SystemEntropy(SystemRandom::new())),
            files: Arc::new(SystemFiles),
            workers: Arc::new(SystemWorkers),
            identity: Arc::new(identity),
            linger: LINGER,
            known_keys: None,
            key_services: None,
            abandonment: None,
        }
    }

    /// Does nobody want the outcome of the command any more?
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.abandonment.as_ref().is_some_and(|abandoned| abandoned())
    }

    /// This process, which begins an operation now.
    #[must_use]
    pub fn as_holder(&self, operation: &str) -> Holder {
        let Identity { pid, user, host, attempt } = &*self.identity;
        Holder {
            pid: *pid,
            user: user.clone(),
            host: host.clone(),
            since: self.clock.now().to_string(),
            maloko: true,
            operation: operation.to_owned(),
            attempt: attempt.clone(),
        }
    }

    /// A random identifier.
    pub fn new_uuid(&self) -> Result<uuid::Uuid> {
        let mut bytes = [0; 16];
        self.entropy.fill(&mut bytes)?;
        Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

struct SystemClock(Instant);

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        timer::wait(time)
    }
}

struct SystemEntropy(SystemRandom);

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        self.0.fill(bytes).map_err(|_| {
            Error::Secrets("the system's random number generator does not answer; nothing was done".into())
        })
    }
}

/// One thread for each piece of work: there are few, and they may block.
struct SystemWorkers;

impl Workers for SystemWorkers {
    fn start(&self, name: &str, work: BoxFuture<'static, ()>) -> io::Result<Box<dyn Worker>> {
        let thread = std::thread::Builder::new().name(name.to_owned());
        Ok(Box::new(Thread(thread.spawn(move || futures::executor::block_on(work))?)))
    }
}

struct Thread(std::thread::JoinHandle<()>);

impl Worker for Thread {
    fn join(self: Box<Self>) {
        // A panic in there has dropped what others wait for, which is how they learn of it.
        let _ = self.0.join();
    }
}
