//! Time limits of provider calls: the option `customTimeouts` (design: "Where maloko differs").

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};

use crate::event::Severity;
use crate::plan::Step;
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::row::Row;
use crate::state::RowNumber;
use crate::urn::Urn;

use super::Engine;
use super::served::Served;

/// What to do with an answer that comes after its call was given up.
pub(super) type Late = Box<dyn FnOnce(Arc<Engine>, Result<Answer, ProviderError>) -> BoxFuture<'static, ()> + Send>;

impl Engine {
    /// Calls a provider, for no longer than the method may take. A call that takes longer is cancelled where the host
    /// can do that (an `async def` of Python) and left to itself where it cannot; then its answer goes to `late`, if
    /// there is one while the run still goes on.
    pub(super) async fn call_limited(
        &self,
        served: &Served,
        urn: &Urn,
        method: Method,
        late: impl FnOnce() -> Option<Late>,
    ) -> Result<Answer, ProviderError> {
        self.watch_calls();
        let limit = Duration::try_from_secs_f64(method.timeout()).ok().filter(|limit| !limit.is_zero());
        match (limit, self.this.upgrade()) {
            (Some(limit), Some(engine)) => Box::pin(self.call_within(limit, engine, served, urn, method, late())).await,
            _ => self.providers.call(served, urn, method).await,
        }
    }

    async fn call_within(
        &self,
        limit: Duration,
        engine: Arc<Engine>,
        served: &Served,
        urn: &Urn,
        method: Method,
        late: Option<Late>,
    ) -> Result<Answer, ProviderError> {
        let (name, number) = (method.name(), self.providers.next_number());
        let (done, answer) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let (served, callee) = (served.clone(), urn.clone());
        // A task of its own: a method that is not async holds the thread that polls it.
        self.host.spawn(Box::pin(async move {
            let call = pin!(engine.providers.call_numbered(number, &served, &callee, method));
            let Either::Left((answer, _)) = select(call, stopped).await else { return };
            if let (Err(answer), Some(late)) = (done.send(answer), late) {
                late(Arc::clone(&engine), answer).await;
            }
        }));
        match select(answer, self.host.wait(limit)).await {
            Either::Left((Ok(answer), _)) => answer,
            Either::Left((Err(_), _)) => Err(ProviderError::new(
                ProviderErrorKind::BadReturn,
                format!("{name} ended without an answer; this is a fault of maloko"),
            )),
            Either::Right(((), answer)) => {
                drop(answer);
                self.host.cancel(&[number]);
                // Nobody listens when the call has just ended.
                let _ = stop.send(());
                Err(ProviderError::new(ProviderErrorKind::TimedOut, given_up_text(name, urn, limit)))
            }
        }
    }

    /// What becomes of a late answer of a create or update: the row that it would have led to.
    pub(super) fn late_change(step: &Step, row: &Arc<Row>, operation: u32) -> Late {
        let (step, row) = (step.clone(), Arc::clone(row));
        Box::new(move |engine, answer| {
            Box::pin(async move {
                let text = match engine.settle(&step, Arc::unwrap_or_clone(row), answer, operation).await {
                    Ok((row, _)) => format!("it ended after its time limit: the object has the id '{}'", row.id),
                    Err(error) => format!("it ended after its time limit: {error}"),
                };
                engine.diagnose(Some(&step.urn), Severity::Warning, text);
            })
        })
    }

    /// What becomes of a late answer of a delete.
    pub(super) fn late_deletion(step: &Step, number: RowNumber, operation: u32) -> Late {
        let step = step.clone();
        Box::new(move |engine, answer| {
            Box::pin(async move {
                let Some((_, row)) = step.old.clone() else { return };
                let mut changes = vec![engine.book().end(operation)];
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

fn given_up_text(name: &str, urn: &Urn, limit: Duration) -> String {
    let what = match name {
        "read" => "the object was not looked at",
        _ => "what it has done is not known, and the next run names it",
    };
    format!(
        "{name} of '{}' took longer than the {limit:?} that the option 'customTimeouts' gives it, and was given up: {what}. \
         Give it more time, or none to let it take as long as it likes",
        urn.name()
    )
}
