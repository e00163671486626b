//! Why a command did not do what was asked, for a program that goes on by it: the kind of failure, a line of text, who holds
//! the stack, which one is missing, and whether a provider says that it may pass.

use maloko_core::error::Reason;
use maloko_core::holder::Holder;
use maloko_core::provider::Transience;
use serde::Serialize;

use crate::failure::Failure;

/// Why a command did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The kind of failure.
    pub reason: Reason,
    /// The first line of its message, without secrets; may be empty.
    pub text: String,
    /// Who works on the stack, where that is the reason.
    pub holder: Option<Box<Holder>>,
    /// Where the provider that failed says so: it may pass.
    pub transience: Option<Transience>,
    /// The stack that the program refers to and that does not exist, where that is the reason: `project/stack`.
    pub needs: Option<String>,
}

/// How it is told to a program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WhyJson<'a> {
    reason: &'static str,
    text: &'a str,
    holder: Option<HolderJson<'a>>,
    transient: bool,
    /// Seconds.
    retry_after: Option<f64>,
    needs: Option<&'a str>,
}

/// Who holds a stack; what is not known is empty.
#[derive(Serialize)]
struct HolderJson<'a> {
    user: &'a str,
    host: &'a str,
    pid: u32,
    since: &'a str,
    operation: &'a str,
    run: Option<&'a str>,
    attempt: Option<u64>,
}

impl Why {
    /// A reason, with the first line of its message.
    pub(crate) fn new(reason: Reason, told: &str) -> Self {
        let text = told.lines().next().unwrap_or_default().to_owned();
        Self { reason, text, holder: None, transience: None, needs: None }
    }

    /// As JSON: `{ reason, text, holder: { user, host, pid, since, operation, run, attempt } | null, transient, retryAfter: SECONDS |
    /// null, needs }`.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let holder = self.holder.as_deref().map(|holder| HolderJson {
            user: &holder.user,
            host: &holder.host,
            pid: holder.pid,
            since: &holder.since,
            operation: &holder.operation,
            run: holder.attempt.as_ref().map(|it| it.run.as_str()),
            attempt: holder.attempt.as_ref().map(|it| it.number),
        });
        // Text and numbers can always be written.
        serde_json::to_value(WhyJson {
            reason: self.reason.name(),
            text: &self.text,
            holder,
            transient: self.transience.is_some(),
            retry_after: self.transience.and_then(|it| it.retry_after).map(|time| time.as_secs_f64()),
            needs: self.needs.as_deref(),
        })
        .unwrap_or_default()
    }
}

impl From<&Failure> for Why {
    fn from(failure: &Failure) -> Self {
        Self { holder: failure.holder.clone(), ..Self::new(failure.reason, &failure.message) }
    }
}

#[cfg(test)]
#[path = "why_tests.rs"]
mod tests;
