//! Stacks of tests on real clouds, which are kept on disk: what is said of what cannot be read.

/// A stack that cannot be read.
pub(crate) fn unreadable(test: &str, directory: &str, stack: &str, error: &str) -> String {
    format!(
        "what a run of the test '{test}' made is kept in {directory}, which cannot be read: {error}. The commands `maloko \
         stack` and `maloko state` work on it with `--cwd {directory} --stack {stack}`; what can be read after that is deleted \
         by the next sweep. Or look through it for what was made, delete that by hand, and remove the directory"
    )
}

/// A damaged journal that is kept beside the state: it may tell of what the state does not.
pub(crate) fn set_aside(journal: &str) -> String {
    format!("the journal {journal} was set aside: look through it for what was made, delete that, and remove the file")
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
