//! What of a run takes time, for those who watch it: the page's timeline, traces, the slowest calls at the end.
//!
//! Events say what happens to resources; activities say what the run does meanwhile. A run that nobody watches does no more
//! than look whether somebody does.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::provider::{ProviderError, TraceContext};
use crate::urn::Urn;

/// What sort of activity it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityKind {
    /// A method of a provider, live or of a plugin.
    Call,
    /// A call waits for `--parallel`, or for the limits of its provider class.
    Permit,
    /// A record of the journal is being made durable.
    Disk,
    /// A step waits for what has to be done before it, such as the deletion of what depends on its object.
    Dependency,
    /// A hook, a transform or an alias function of the program.
    Callback,
    /// A plugin starts, is configured or is asked for something else than a resource; or policy packs are asked.
    Plugin,
}

/// Something that takes time.
#[derive(Clone, Debug)]
pub struct Activity {
    /// Its sort.
    pub kind: ActivityKind,
    /// The method (`create`), or what is waited for, in words.
    pub name: Cow<'static, str>,
    /// The resource on whose behalf it is.
    pub urn: Option<Urn>,
    /// Of a call: 1, or more after failed ones of that method for that resource in this run.
    pub attempt: u32,
}

impl Activity {
    /// A first attempt.
    #[must_use]
    pub fn new(kind: ActivityKind, name: impl Into<Cow<'static, str>>, urn: Option<Urn>) -> Self {
        Self { kind, name: name.into(), urn, attempt: 1 }
    }
}

/// How an activity ended.
#[derive(Clone, Copy, Debug)]
pub enum ActivityEnd<'a> {
    /// It was done.
    Done,
    /// It failed, with this.
    Failed(&'a ProviderError),
    /// Nobody waits for it any more.
    GivenUp,
}

/// Watches activities. Called from any thread, never under a lock of the engine; it must not block.
pub trait ActivityWatcher: Send + Sync {
    /// An activity begins. `number` is its own in the run. What this gives for a call is handed to the provider's host, so
    /// that what the provider's code traces itself becomes a child of the call.
    fn began(&self, number: u64, activity: &Activity) -> Option<TraceContext>;

    /// The activity of that number is over.
    fn ended(&self, number: u64, end: ActivityEnd<'_>);
}

/// The watchers of one run's activities.
#[derive(Clone, Default)]
pub struct Activities(Option<Arc<WatchedActivities>>);

struct WatchedActivities {
    watchers: Vec<Arc<dyn ActivityWatcher>>,
    next: AtomicU64,
    /// How often the call of a method for a resource has failed, one time after the other.
    failures: Mutex<HashMap<(Urn, Cow<'static, str>), u32>>,
    /// Has any call failed? Most runs are spared the look into that table.
    any_failed: AtomicBool,
}

impl WatchedActivities {
    fn failures(&self) -> MutexGuard<'_, HashMap<(Urn, Cow<'static, str>), u32>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Activities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watchers = self.0.as_ref().map_or(0, |watched| watched.watchers.len());
        f.debug_struct("Activities").field("watchers", &watchers).finish_non_exhaustive()
    }
}

impl Activities {
    /// Activities that these watch; none: nobody does.
    #[must_use]
    pub fn watched_by(watchers: Vec<Arc<dyn ActivityWatcher>>) -> Self {
        if watchers.is_empty() {
            return Self(None);
        }
        let (next, failures, any_failed) = (AtomicU64::new(1), Mutex::default(), AtomicBool::new(false));
        Self(Some(Arc::new(WatchedActivities { watchers, next, failures, any_failed })))
    }

    /// Does anybody watch?
    #[must_use]
    pub fn are_watched(&self) -> bool {
        self.0.is_some()
    }

    /// An activity begins, if anybody watches; it is over when [`Ongoing::end`] says how, or given up when that is dropped.
    #[must_use]
    pub fn begin(&self, activity: impl FnOnce() -> Activity) -> Option<Ongoing> {
        let watched = self.0.as_ref()?;
        let mut activity = activity();
        let number = watched.next.fetch_add(1, Ordering::Relaxed);
        let call = match (&activity.urn, activity.kind) {
            (Some(urn), ActivityKind::Call) => Some((urn.clone(), activity.name.clone())),
            _ => None,
        };
        if let Some(call) = &call
            && watched.any_failed.load(Ordering::Acquire)
        {
            activity.attempt += watched.failures().get(call).copied().unwrap_or(0);
        }
        let mut trace = None;
        for watcher in &watched.watchers {
            trace = watcher.began(number, &activity).or(trace);
        }
        Some(Ongoing { watched: Arc::clone(watched), number, call, trace, over: false })
    }
}

/// An activity that goes on.
pub struct Ongoing {
    watched: Arc<WatchedActivities>,
    number: u64,
    call: Option<(Urn, Cow<'static, str>)>,
    trace: Option<TraceContext>,
    over: bool,
}

impl Ongoing {
    /// Where in a trace what happens inside belongs, if a watcher traces it.
    #[must_use]
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace.clone()
    }

    /// It is over; `error` is why it failed.
    pub fn end(mut self, error: Option<&ProviderError>) {
        self.over = true;
        self.tell(error.map_or(ActivityEnd::Done, ActivityEnd::Failed));
    }

    fn tell(&mut self, end: ActivityEnd<'_>) {
        let is_done = matches!(end, ActivityEnd::Done);
        if let Some(call) = self.call.take()
            && (!is_done || self.watched.any_failed.load(Ordering::Acquire))
        {
            let mut failures = self.watched.failures();
            if is_done {
                failures.remove(&call);
            } else {
                *failures.entry(call).or_default() += 1;
                self.watched.any_failed.store(true, Ordering::Release);
            }
        }
        for watcher in &self.watched.watchers {
            watcher.ended(self.number, end);
        }
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        if !self.over {
            self.tell(ActivityEnd::GivenUp);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
