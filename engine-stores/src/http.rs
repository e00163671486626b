//! Requests for keys and credentials: bounded in time, made again while a service is busy, and without anything of a request in an error.

use std::fmt;
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value as Json;
use tokio::time::Instant;

use crate::backoff::{PATIENCE, doubling};

/// A request has this time at least, also as the last one.
const MIN_TIME: Duration = Duration::from_secs(1);
/// Keys and tokens are short. What is longer is no answer of such a service.
const MAX_ANSWER_LENGTH: usize = 1 << 20;

/// What a service answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    /// Was it done?
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The answer as JSON; `null` where it is none.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// The text at a place of the JSON.
    pub(crate) fn text_at(&self, pointer: &str) -> Option<String> {
        self.json().pointer(pointer)?.as_str().map(str::to_owned)
    }

    /// What an answer that is no JSON says, in a line.
    pub(crate) fn line(&self) -> String {
        let line: String = self.text.lines().next().unwrap_or_default().trim().chars().take(200).collect();
        if line.is_empty() { format!("HTTP {}", self.status) } else { format!("{line} (HTTP {})", self.status) }
    }

    /// How long the service asks to wait.
    fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }
}

/// Why a service gave no answer, without its address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    why: String,
    pub(crate) kind: Failing,
}

/// What will be when it is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    /// It may answer.
    Passing,
    /// Nobody trusts its certificate here.
    Untrusted,
    /// There is no such request: its address or a header is none.
    Unsendable,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl From<String> for NoAnswer {
    fn from(why: String) -> Self {
        Self { why, kind: Failing::Passing }
    }
}

/// Sends a request, and again while the service cannot be reached or `is_busy` says that it may be asked again, as long as the stores'
/// patience lasts. A service that does not answer is given up after that time, too. `Err`: it was not reached.
pub(crate) async fn ask<F>(request: impl Fn() -> F, is_busy: impl Fn(&Answer) -> bool) -> Result<Answer, NoAnswer>
where
    F: Future<Output = Result<reqwest::RequestBuilder, String>>,
{
    let begun = Instant::now();
    let mut pauses = doubling(Duration::from_millis(100), Duration::from_secs(2));
    loop {
        let pause = pauses.next().unwrap_or_default();
        let left = PATIENCE.saturating_sub(begun.elapsed()).max(MIN_TIME);
        let answered = send(request().await?.timeout(left)).await;
        let pause = match &answered {
            Ok(answer) if answer.is_success() || !is_busy(answer) => return answered,
            Ok(answer) => answer.retry_after().unwrap_or_default().max(pause),
            Err(none) if none.kind != Failing::Passing => return answered,
            Err(_) => pause,
        };
        if begun.elapsed() + pause > PATIENCE {
            return answered;
        }
        tokio::time::sleep(pause).await;
    }
}

/// A request with a body of JSON.
pub(crate) fn with_json(request: reqwest::RequestBuilder, body: &Json) -> reqwest::RequestBuilder {
    request.header("Content-Type", "application/json").body(body.to_string())
}

/// A request with a form.
pub(crate) fn with_form(request: reqwest::RequestBuilder, form: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    request.header("Content-Type", "application/x-www-form-urlencoded").body(body)
}

/// Does the answer say no more than that the service is busy?
pub(crate) fn is_busy(answer: &Answer) -> bool {
    matches!(answer.status, 408 | 429 | 500..)
}

async fn send(request: reqwest::RequestBuilder) -> Result<Answer, NoAnswer> {
    let mut response = request.send().await.map_err(|error| cause(&error))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| cause(&error))? {
        if bytes.len() + chunk.len() > MAX_ANSWER_LENGTH {
            return Err(format!("its answer has more than {MAX_ANSWER_LENGTH} bytes").into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Answer { status, headers, text: String::from_utf8_lossy(&bytes).into_owned() })
}

/// The innermost error: it says why, and knows nothing of addresses.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    innermost(error).to_string()
}

fn innermost<'e>(error: &'e (dyn std::error::Error + 'static)) -> &'e (dyn std::error::Error + 'static) {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}

fn cause(error: &reqwest::Error) -> NoAnswer {
    let cause = innermost(error);
    let kind = match cause.downcast_ref() {
        Some(rustls::Error::InvalidCertificate(_)) => Failing::Untrusted,
        _ if error.is_builder() => Failing::Unsendable,
        _ => Failing::Passing,
    };
    let why = if error.is_timeout() { "it did not answer in time".to_owned() } else { cause.to_string() };
    NoAnswer { why, kind }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
