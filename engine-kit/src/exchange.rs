//! Procedures that do nothing by themselves: they ask their host for one thing after the other, and go on with its answers.
//! So any host can drive them: a language's testing kit, or the command line.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use maloko_core::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// A procedure.
pub(crate) type Flow<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a procedure asks for, and what its host answers. Clones are the same.
pub(crate) struct Exchange<R>(Arc<Mutex<Desk<R>>>);

struct Desk<R> {
    request: Option<R>,
    answer: Option<Json>,
    /// What is wrong with the last answer.
    malformed: Option<String>,
}

/// How far a procedure came.
pub(crate) enum Progress<R, T> {
    /// It asks for this.
    Asks(R),
    /// It came to its end.
    Ended(T),
}

impl<R> Clone for Exchange<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R> Default for Exchange<R> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Desk { request: None, answer: None, malformed: None })))
    }
}

impl<R> Exchange<R> {
    fn desk(&self) -> MutexGuard<'_, Desk<R>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the host. An answer that cannot be read is the host's mistake: the procedure never goes on, and
    /// [`Exchange::go_on`] says so.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, request: R) -> T {
        let mut request = Some(request);
        poll_fn(|_| {
            let mut desk = self.desk();
            if let Some(request) = request.take() {
                desk.request = Some(request);
                return Poll::Pending;
            }
            let Some(answer) = desk.answer.take() else { return Poll::Pending };
            match serde_json::from_value(answer) {
                Ok(answer) => Poll::Ready(answer),
                Err(error) => {
                    desk.malformed = Some(error.to_string());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Goes on with the answer to what was asked for before; at first, that is `null`. Fails for an answer that is none, and
    /// after the end. `what`: whose procedure it is, as messages say it.
    pub(crate) fn go_on<T: Send + 'static>(
        &self,
        flow: &mut Flow<T>,
        answer: Json,
        what: &str,
    ) -> Result<Progress<R, T>> {
        self.desk().answer = Some(answer);
        match flow.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(end) => {
                *flow = Box::pin(std::future::pending());
                Ok(Progress::Ended(end))
            }
            Poll::Pending => {
                let mut desk = self.desk();
                let wrong = desk.malformed.take();
                desk.request.take().map(Progress::Asks).ok_or_else(|| {
                    let wrong = wrong.unwrap_or_else(|| "it has ended".to_owned());
                    Error::Configuration(format!("{what} cannot go on with this answer: {wrong}").into())
                })
            }
        }
    }
}
