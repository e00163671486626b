//! The content of the lock files that Pulumi's command line and maloko both respect, for every store of Pulumi's layout.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::message;
use crate::message::Message;

use super::name::StackName;
use crate::holder::{Holder, RunAttempt};

/// Pulumi ignores what follows the moment.
#[derive(Serialize, Deserialize)]
struct Content {
    #[serde(default)]
    pid: u32,
    #[serde(default)]
    username: String,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    timestamp: String,
    /// The version of the maloko that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maloko: Option<String>,
    /// The command that it runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    operation: String,
    #[serde(flatten)]
    attempt: Option<RunAttempt>,
}

/// What the lock file of a maloko process holds.
pub fn encode(holder: &Holder) -> Result<Vec<u8>> {
    let holder = holder.clone();
    let content = Content {
        pid: holder.pid,
        username: holder.user,
        hostname: holder.host,
        timestamp: holder.since,
        maloko: Some(env!("CARGO_PKG_VERSION").to_owned()),
        operation: holder.operation,
        attempt: holder.attempt,
    };
    serde_json::to_vec(&content).map_err(|error| Error::BadState(format!("cannot write a lock: {error}").into()))
}

/// Who wrote a lock file. One that cannot be read is a lock all the same: somebody's, of an unknown time.
#[must_use]
pub fn decode(bytes: &[u8]) -> Holder {
    let content: Content = serde_json::from_slice(bytes).unwrap_or_else(|_| Content {
        pid: 0,
        username: String::new(),
        hostname: String::new(),
        timestamp: "an unknown time".into(),
        maloko: None,
        operation: String::new(),
        attempt: None,
    });
    Holder {
        pid: content.pid,
        user: content.username,
        host: content.hostname,
        since: content.timestamp,
        maloko: content.maloko.is_some(),
        operation: content.operation,
        attempt: content.attempt,
    }
}

/// The error for a stack that others work on. No holder at all: one on this machine that has not said yet who it is.
/// `advice` goes on after "until it is done".
#[must_use]
pub fn locked(stack: &StackName, holders: &[&Holder], advice: impl Into<Message>) -> Error {
    let who = match holders {
        [] => "by another maloko process on this machine that has just begun".to_owned(),
        some => by_whom(some),
    };
    // It begins with Pulumi's words, which scripts look for to try again later.
    let message = message![
        format!(
            "the stack is currently locked by {} lock(s): '{}' is locked {who}. Wait until it is done",
            holders.len().max(1),
            stack.stack()
        ),
        advice
    ];
    Error::InUse { message, holder: holders.first().map(|holder| Box::new((*holder).clone())) }
}

/// Lines of a message, one below the other.
#[must_use]
pub fn listed(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().fold(String::new(), |list, line| list + "\n  " + &line)
}

/// `by` those who hold a stack, for messages.
#[must_use]
pub fn by_whom(holders: &[&Holder]) -> String {
    match holders {
        [holder] => format!("by {holder}"),
        several => format!("by:{}", listed(several.iter().map(ToString::to_string))),
    }
}
