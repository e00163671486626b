//! Named places in the life of the journal at which a run kills itself, for tests that need a real SIGKILL and not the
//! simulation's (docs/internals/reliability.md). Without the feature `kill-points` the question [`reach`] is nothing at all, and no build
//! that anybody uses knows the variable.

/// A place to be killed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillPoint {
    /// A provider is about to be called; nothing is journalled of it yet.
    BeforeIntent,
    /// In the middle of the write of a batch of records.
    WithinRecord,
    /// The first records are durable; the seal does not say yet that there is a journal.
    BeforeNote,
    /// The record that a provider is to be called is durable; it was not called yet.
    AfterIntent,
    /// A provider has answered; nothing is journalled of it yet.
    BeforeOutcome,
    /// The record of what a provider answered is durable; nobody knows it yet.
    AfterOutcome,
    /// The program has ended; the journal does not say yet which checkpoint takes its place.
    BeforeFold,
    /// The journal says which checkpoint takes its place; nothing of that is written yet.
    AfterFoldRecord,
    /// The seal names the old checkpoint and the new one.
    AfterFirstSeal,
    /// The new checkpoint has taken the place of the old one.
    AfterCheckpoint,
    /// The seal names the new checkpoint alone; the journal is there still.
    AfterSecondSeal,
    /// The journal is gone; the lock is still held.
    BeforeRelease,
    /// The lock is given back; the process goes on.
    AfterRelease,
    /// Something in the directory of a store is about to be made, written, renamed or removed.
    DiskChange,
}

#[cfg(feature = "kill-points")]
mod active {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::KillPoint;

    /// `NAME`, or `NAME:3` to be killed when it is reached for the third time.
    const VARIABLE: &str = "MALOKO_KILL_POINT";

    #[expect(clippy::disallowed_methods, reason = "asked for by the tests that kill a process")]
    static WANTED: LazyLock<Option<(String, u32)>> = LazyLock::new(|| {
        let text = std::env::var(VARIABLE).ok()?;
        let (name, times) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), times.parse().ok()?))
    });
    static REACHED: AtomicU32 = AtomicU32::new(0);

    /// Is it here that the process is to be killed? Counts.
    pub(crate) fn is_now(point: KillPoint) -> bool {
        WANTED.as_ref().is_some_and(|(name, times)| {
            *name == format!("{point:?}") && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == *times
        })
    }

    /// Ends the process as `kill -9` does.
    pub(crate) fn kill() -> ! {
        loop {
            // A process may always send itself a signal; there is nobody to tell if it may not.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }

    pub(crate) fn reach(point: KillPoint) {
        if is_now(point) {
            kill();
        }
    }
}

#[cfg(feature = "kill-points")]
pub(crate) use active::{is_now, kill, reach};

/// Nothing, without the feature.
#[cfg(not(feature = "kill-points"))]
pub(crate) const fn reach(_point: KillPoint) {}
