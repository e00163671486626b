//! Who works on a stack, as others are told it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::invisible::one_line;

/// One of several attempts at the same piece of work, such as a task of a queue that starts it again elsewhere when a worker
/// was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAttempt {
    /// The piece of work: a name that nothing else has.
    pub run: String,
    /// Which attempt at it; a later one has a higher number.
    #[serde(rename = "attempt")]
    pub number: u64,
}

impl RunAttempt {
    /// Is this a later attempt at the same?
    #[must_use]
    pub fn follows(&self, other: &Self) -> bool {
        self.run == other.run && self.number > other.number
    }
}

/// Who works on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process number.
    pub pid: u32,
    /// Login name; may be empty.
    pub user: String,
    /// Name of the machine; may be empty.
    pub host: String,
    /// Since when, RFC 3339.
    pub since: String,
    /// Is it maloko? Otherwise it is the `pulumi` command line.
    pub maloko: bool,
    /// The command that it runs; empty when that is not known.
    pub operation: String,
    /// Which attempt it is, where it said so.
    pub attempt: Option<RunAttempt>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = if self.maloko { "maloko" } else { "pulumi" };
        let user = if self.user.is_empty() { "somebody" } else { &self.user };
        let host = if self.host.is_empty() { "an unnamed machine" } else { &self.host };
        // Nobody asks for fractions of a second.
        let since = match self.since.parse::<jiff::Timestamp>() {
            Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
            Err(_) => self.since.clone(),
        };
        let doing = if self.operation.is_empty() { String::new() } else { format!("`{}`, ", self.operation) };
        let attempt =
            self.attempt.as_ref().map_or_else(String::new, |it| format!("attempt {} at '{}', ", it.number, it.run));
        let (pid, age) = (self.pid, self.age());
        let holder = format!("{tool} of {user} ({doing}{attempt}process {pid} on {host}, since {since}{age})");
        // Somebody else wrote the lock.
        f.write_str(&one_line(&holder))
    }
}

impl Holder {
    /// How long this holder may be silent before a newcomer takes its place: as long as it said, `patience`; or for two of its
    /// beats, where the newcomer is a later `attempt` at the same work. Whoever started that one has missed this holder already. One
    /// that lives shows it with its next beat; one that does not in time is shut out by the store.
    #[must_use]
    pub fn patience_of(&self, attempt: Option<&RunAttempt>, patience: Duration, beat: Duration) -> Duration {
        match (attempt, &self.attempt) {
            (Some(attempt), Some(former)) if attempt.follows(former) => (beat * 2).min(patience),
            _ => patience,
        }
    }

    /// How long ago it began, by this machine's clock: `, 4 minutes ago`. Empty where the clocks cannot agree.
    #[expect(clippy::disallowed_methods, reason = "only for people to read")]
    fn age(&self) -> String {
        let Ok(since) = self.since.parse::<jiff::Timestamp>() else { return String::new() };
        let seconds = jiff::Timestamp::now().as_second() - since.as_second();
        let (number, unit) = match seconds {
            ..0 => return String::new(),
            0..120 => (seconds, "second"),
            120..7200 => (seconds / 60, "minute"),
            7200..172_800 => (seconds / 3600, "hour"),
            _ => (seconds / 86_400, "day"),
        };
        let plural = if number == 1 { "" } else { "s" };
        format!(", {number} {unit}{plural} ago")
    }
}
