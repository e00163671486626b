//! Time limits of provider calls: the option `customTimeouts` (design: "Where maloko differs").

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};

use crate::event::Severity;
use crate::plan::Step;
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::Urn;

use crate::driver::Engine;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::steps::execute::Settled;

/// What to do with an answer that comes after its call was given up.
pub(in crate::driver) type Late =
    Box<dyn FnOnce(Arc<Engine>, Result<Answer, ProviderError>) -> BoxFuture<'static, ()> + Send>;

/// So long a call that was told to end has, to say what it has done.
pub(in crate::driver) const LAST_WORD: Duration = Duration::from_secs(1);

impl Engine {
    /// Calls a provider, for no longer than the method may take. A call that takes longer is cancelled where the host
    /// can do that (an `async def` of Python) and left to itself where it cannot; then its answer goes to `late`, if
    /// there is one while the run still goes on.
    pub(in crate::driver) async fn call_limited(
        &self,
        resolved: &ResolvedProvider,
        urn: &Urn,
        method: Method,
        late: impl FnOnce() -> Option<Late>,
    ) -> Result<Answer, ProviderError> {
        let own = Duration::try_from_secs_f64(method.timeout()).ok().filter(|limit| !limit.is_zero());
        let limit = own.map(|limit| Limit { time: limit, from: "the option 'customTimeouts'" }).or(self.call_limit);
        match (limit, self.this.upgrade()) {
            (Some(limit), Some(engine)) => {
                Box::pin(self.call_within(limit, engine, resolved, urn, method, late())).await
            }
            _ => self.providers.call(resolved, urn, method).await,
        }
    }

    async fn call_within(
        &self,
        limit: Limit,
        engine: Arc<Engine>,
        resolved: &ResolvedProvider,
        urn: &Urn,
        method: Method,
        late: Option<Late>,
    ) -> Result<Answer, ProviderError> {
        let (name, number) = (method.name(), self.providers.next_number());
        let (done, answer) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let (resolved, callee) = (resolved.clone(), urn.clone());
        // From now on, and not from when the method may have begun already.
        let due = self.due.by(number, urn, name, self.host.now() + limit.time);
        let over = self.host.wait(limit.time);
        // A task of its own: a method that is not async holds the thread that polls it.
        self.host.spawn(Box::pin(async move {
            let call = pin!(engine.providers.call_numbered(number, &resolved, &callee, method));
            let Either::Left((answer, _)) = select(call, stopped).await else { return };
            if let (Err(answer), Some(late)) = (done.send(answer), late) {
                late(Arc::clone(&engine), answer).await;
            }
        }));
        match select(answer, over).await {
            Either::Left((Ok(answer), _)) => answer,
            Either::Left((Err(_), _)) => Err(ProviderError::new(
                ProviderErrorKind::BadReturn,
                format!("{name} ended without an answer; this is a fault of maloko"),
            )),
            Either::Right(((), answer)) => {
                // Where code holds the interpreter this does not return, and the call is overdue.
                self.host.cancel(&[number]);
                drop(due);
                let answer = match select(answer, self.host.wait(LAST_WORD)).await {
                    Either::Left((Ok(answer), _)) => answer.ok(),
                    _ => None,
                };
                // Nobody listens when the call has just ended.
                let _ = stop.send(());
                after_the_limit(answer, name, urn, limit)
            }
        }
    }

    /// What becomes of a late answer of a create or update: the row that it would have led to.
    pub(in crate::driver) fn late_change(step: &Step, row: &Arc<ResourceState>, operation: u32) -> Late {
        let (step, row) = (step.clone(), Arc::clone(row));
        Box::new(move |engine, answer| {
            Box::pin(async move {
                let settled = match engine.settle(&step, Arc::unwrap_or_clone(row), answer, operation).await {
                    Ok(Settled { row, written, .. }) => engine.durable(written, Some(&row)).await.map(|()| row),
                    Err(error) => Err(error),
                };
                let text = match settled {
                    Ok(row) => format!("it ended after its time limit: the object has the id '{}'", row.id),
                    Err(error) => format!("it ended after its time limit: {error}"),
                };
                engine.diagnose(Some(&step.urn), Severity::Warning, text);
            })
        })
    }

    /// What becomes of a late answer of a delete.
    pub(in crate::driver) fn late_deletion(step: &Step, number: ResourceNumber, operation: u32) -> Late {
        let step = step.clone();
        Box::new(move |engine, answer| {
            Box::pin(async move {
                let Some((_, row)) = step.old.clone() else { return };
                let mut changes = vec![engine.run_state().end(operation)];
                let text = match answer {
                    Ok(_) => {
                        changes.push(engine.book_deletion(&step, number, &row));
                        "delete ended after its time limit: the object is gone".to_owned()
                    }
                    Err(error) => format!("delete ended after its time limit: {error}"),
                };
                // A failure to write is the run's failure already.
                let _ = engine.record(&changes).await;
                engine.diagnose(Some(&step.urn), Severity::Warning, text);
            })
        })
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

/// What comes of a call that took longer than it may, with what it answered when it was told to end.
fn after_the_limit(answer: Option<Answer>, name: &str, urn: &Urn, limit: Limit) -> Result<Answer, ProviderError> {
    let (id, properties) = match answer {
        None => return Err(ProviderError::new(ProviderErrorKind::TimedOut, given_up_text(name, urn, limit))),
        Some(Answer::Created { id, outputs }) if !id.is_empty() => (id, outputs),
        Some(Answer::Updated { outputs }) => (String::new(), outputs),
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
    Err(ProviderError::new(ProviderErrorKind::NotInitialized { id, properties, reasons }, text))
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
