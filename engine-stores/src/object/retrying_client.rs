//! Marks the requests that are safe to repeat when a connection breaks. The library repeats a request only if its error says
//! that the request never arrived, so this client reports that error for every request that may be made twice.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService};

/// A request with one of these is refused the second time, and its sender finds out itself whether it came about.
const CONDITIONS: [&str; 3] = ["if-match", "if-none-match", "x-goog-if-generation-match"];
/// How often a server is looked for that was never reached: its address is probably wrong.
const FIRST_ATTEMPTS: u32 = 3;

/// A way to a server.
#[derive(Debug)]
pub(crate) struct RetryingClient<S> {
    service: S,
    /// Was there ever an answer? Then the server is worth looking for when it is lost.
    reached: AtomicBool,
    failures: AtomicU32,
}

impl<S: HttpService> RetryingClient<S> {
    pub(crate) fn new(service: S) -> Self {
        Self { service, reached: AtomicBool::new(false), failures: AtomicU32::new(0) }
    }

    /// The whole answer: one that breaks off is as good as none.
    async fn answer(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = self.service.call(request).await?.into_parts();
        self.reached.store(true, Ordering::Relaxed);
        Ok(HttpResponse::from_parts(parts, body.bytes().await?.into()))
    }
}

#[async_trait]
impl<S: HttpService> HttpService for RetryingClient<S> {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_repeatable = !CONDITIONS.iter().any(|name| request.headers().contains_key(*name));
        let error = match self.answer(request).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let failed = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.reached.load(Ordering::Relaxed) && failed >= FIRST_ATTEMPTS {
            return Err(HttpError::new(HttpErrorKind::Unknown, error));
        }
        let is_lost =
            matches!(error.kind(), HttpErrorKind::Timeout | HttpErrorKind::Interrupted | HttpErrorKind::Unknown);
        Err(if is_lost && is_repeatable { HttpError::new(HttpErrorKind::Request, error) } else { error })
    }
}

#[cfg(test)]
#[path = "retrying_client_tests.rs"]
mod tests;
