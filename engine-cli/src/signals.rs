//! Ctrl-C and SIGTERM, for the command line only.
//!
//! The handlers are set after the language host has set its own, so that no exception of the host (a
//! `KeyboardInterrupt`) lands in the middle of a create.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Notes signals without doing anything about them, and without a thread: for the time in which another process of
/// this command works.
pub(crate) struct Noted {
    flag: Arc<AtomicBool>,
    registrations: Vec<signal_hook::SigId>,
}

impl Noted {
    /// Begins to note signals.
    pub(crate) fn begin() -> std::io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let registrations = [SIGINT, SIGTERM]
            .into_iter()
            .map(|signal| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .collect::<Result<_, _>>()?;
        Ok(Self { flag, registrations })
    }

    /// Was there a signal?
    #[must_use]
    pub(crate) fn any(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        for registration in &self.registrations {
            signal_hook::low_level::unregister(*registration);
        }
    }
}

/// A thread that waits for signals.
pub(crate) struct Watch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Calls `first` at the first signal and `second` at the second one.
    pub(crate) fn begin(
        first: impl Fn() + Send + 'static,
        second: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let handle = signals.handle();
        let thread = std::thread::Builder::new().name("maloko-signals".to_owned()).spawn(move || {
            for (number, _) in signals.forever().enumerate() {
                if number == 0 {
                    first();
                } else {
                    second();
                }
            }
        })?;
        Ok(Self { handle, thread: Some(thread) })
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

/// Leaves the process at once: no destructors, no interpreter, no waiting for threads.
pub(crate) fn leave(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}
