//! Time limits of provider calls: the option `customTimeouts`, and the configuration's `maloko:callLimit`.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::channel::oneshot;
use futures::future::{Either, select};

use crate::layer::HostLayer;
use crate::provider::{Answer, Method, ObjectId, ProviderCall, ProviderError, ProviderErrorKind, ProviderHost};
use crate::urn::Urn;

/// Takes the answer of a call, by its number, that came after the call was given up.
pub type TakeLate = Arc<dyn Fn(u64, Result<Answer, ProviderError>) + Send + Sync>;

/// So long a call that was told to end has, to say what it has done.
pub(in crate::driver) const LAST_WORD: Duration = Duration::from_secs(1);

/// Gives up calls that take longer than they may. Such a call is cancelled where the host can do that (an `async def` of
/// Python) and left to itself where it cannot.
pub(in crate::driver) struct TimeLimits {
    inner: Arc<dyn ProviderHost>,
    /// For calls of resources that have no limit of their own.
    limit: Option<Limit>,
    late: TakeLate,
    due: DueCalls,
}

impl TimeLimits {
    pub(in crate::driver) fn new(inner: Arc<dyn ProviderHost>, limit: Option<Limit>, late: TakeLate) -> Self {
        Self { inner, limit, late, due: DueCalls::default() }
    }

    /// The calls that have reached their limit and could not be given up: something holds what the host needs for that,
    /// such as an interpreter's lock.
    pub(in crate::driver) fn overdue(&self) -> Vec<(Urn, &'static str)> {
        self.due.overdue(self.inner.now())
    }

    async fn call_within(&self, limit: Limit, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let (name, number, urn) = (call.method.name(), call.number, call.urn.clone());
        let (done, answer) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        // From now on, and not from when the method may have begun already.
        let due = self.due.by(number, &urn, name, self.inner.now() + limit.time);
        let over = self.inner.wait(limit.time);
        let (inner, late) = (Arc::clone(&self.inner), Arc::clone(&self.late));
        // A task of its own: a method that is not async holds the thread that polls it.
        self.inner.spawn(Box::pin(async move {
            let call = pin!(inner.call(object, call));
            let Either::Left((answer, _)) = select(call, stopped).await else { return };
            if let Err(answer) = done.send(answer) {
                late(number, answer);
            }
        }));
        match select(answer, over).await {
            Either::Left((Ok(answer), _)) => answer,
            Either::Left((Err(_), _)) => Err(ProviderError::new(
                ProviderErrorKind::BadReturn,
                format!("{name} ended without an answer; this is a bug in maloko"),
            )),
            Either::Right(((), answer)) => {
                // Where code holds the interpreter this does not return, and the call is overdue.
                self.inner.cancel(&[number]);
                drop(due);
                let answer = match select(answer, self.inner.wait(LAST_WORD)).await {
                    Either::Left((Ok(answer), _)) => answer.ok(),
                    _ => None,
                };
                // Nobody listens when the call has just ended.
                let _ = stop.send(());
                after_the_limit(answer, name, &urn, limit)
            }
        }
    }
}

#[async_trait]
impl HostLayer for TimeLimits {
    fn inner(&self) -> &dyn ProviderHost {
        &*self.inner
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let own = Duration::try_from_secs_f64(call.method.timeout()).ok().filter(|limit| !limit.is_zero());
        let limit = own.map(|time| Limit { time, from: "the option 'customTimeouts'" }).or(self.limit);
        match limit.filter(|_| !matches!(call.method, Method::Close)) {
            Some(limit) => self.call_within(limit, object, call).await,
            None => self.inner.call(object, call).await,
        }
    }
}

/// How long a call may take, and where that was said.
#[derive(Clone, Copy)]
pub(in crate::driver) struct Limit {
    pub(in crate::driver) time: Duration,
    pub(in crate::driver) from: &'static str,
}

/// The calls that have a limit, with the time at which they are to be given up.
#[derive(Default)]
pub(in crate::driver) struct DueCalls(Mutex<BTreeMap<u64, (Instant, Urn, &'static str)>>);

impl DueCalls {
    /// Notes a call until what this gives is dropped.
    fn by(&self, number: u64, urn: &Urn, method: &'static str, time: Instant) -> Due<'_> {
        self.lock().insert(number, (time, urn.clone(), method));
        Due(self, number)
    }

    /// The calls that should have been given up by now and were not.
    pub(in crate::driver) fn overdue(&self, now: Instant) -> Vec<(Urn, &'static str)> {
        self.lock().values().filter(|(due, ..)| *due < now).map(|(_, urn, method)| (urn.clone(), *method)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, (Instant, Urn, &'static str)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Due<'a>(&'a DueCalls, u64);

impl Drop for Due<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

/// The outcome of a call that exceeded its limit; `answer` is what it returned after it was told to end.
fn after_the_limit(answer: Option<Answer>, name: &str, urn: &Urn, limit: Limit) -> Result<Answer, ProviderError> {
    let (id, properties, read_first) = match answer {
        None => return Err(ProviderError::new(ProviderErrorKind::TimedOut, given_up_text(name, urn, limit))),
        Some(Answer::Created { id, outputs, read_first }) if !id.is_empty() => (id, outputs, read_first),
        Some(Answer::Updated { outputs, read_first }) => (String::new(), outputs, read_first),
        Some(answer) => return Ok(answer),
    };
    // The object is known; the next run updates it, for it may not be what was wanted.
    let text = format!(
        "{name} of '{}' took longer than the {:?} that {} gives it, and was told to end; what it returned is recorded",
        urn.name(),
        limit.time,
        limit.from
    );
    let reasons = vec![text.clone()];
    Err(ProviderError::new(
        ProviderErrorKind::NotInitialized { id, properties, reasons, inputs: None, read_first },
        text,
    ))
}

fn given_up_text(name: &str, urn: &Urn, Limit { time: limit, from }: Limit) -> String {
    let what = match name {
        "read" => "the object was not looked at",
        "configure" | "check" | "diff" => "nothing was done to the object",
        _ => "what it has done is not known, and the next run names it",
    };
    format!(
        "{name} of '{}' took longer than the {limit:?} that {from} gives it, and was given up: {what}. \
         Give it more time, or none to let it take as long as it likes",
        urn.name()
    )
}

#[cfg(test)]
#[path = "time_limits_tests.rs"]
mod tests;
