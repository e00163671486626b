//! Which attempt at a piece of work a command is, as a queue that starts it again says it: `MALOKO_ATTEMPT=RUN:NUMBER`.

use std::ffi::OsString;

use maloko_core::holder::RunAttempt;

use crate::failure::{Failure, Result};

/// The variable.
pub(crate) const VARIABLE: &str = "MALOKO_ATTEMPT";

/// What the variable's value says; `None` where it has none.
pub(crate) fn of(value: Option<OsString>) -> Result<Option<RunAttempt>> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let value = value.to_string_lossy();
    let parsed = value.rsplit_once(':').filter(|(run, _)| !run.is_empty());
    match parsed.and_then(|(run, number)| number.parse().ok().map(|number| (run, number))) {
        Some((run, number)) => Ok(Some(RunAttempt { run: run.to_owned(), number })),
        None => Err(Failure::configuration(format!(
            "{VARIABLE}={value} does not say which attempt this is: write RUN:NUMBER, with a name that no other run has and \
             a number that rises with each attempt"
        ))),
    }
}

#[cfg(test)]
#[path = "attempt_tests.rs"]
mod tests;
